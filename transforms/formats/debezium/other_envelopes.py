"""Envelopes that stand in others, or lack a part, made into Debezium's own: CloudEvents, Materialize's; and bare rows.

*CloudEvents* (Debezium's CloudEventsConverter, Debezium Server): ``data`` has the images, with or without their schema,
and the attributes ``iodebezium…`` have ``op`` and the fields of ``source``, in small letters, without underscores. In
the binary mode the attributes are headers (``ce_…``, of Pub/Sub ``ce-…``), and the value is the data. Where ``data`` is
a whole envelope, that is taken.

*Materialize* (``ENVELOPE DEBEZIUM``) sends ``before`` and ``after`` alone: they tell the operation, the topic tells the
table, and the offset the order.

Vendors: Debezium documentation, "CloudEvents"; CloudEvents 1.0, JSON event format and Kafka protocol binding;
Materialize documentation, "CREATE SINK: Kafka".
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Any, Final

from transforms import json_values
from transforms.families.connect.envelopes import Envelope, is_key_schema
from transforms.feed.feed import Feed
from transforms.formats.debezium.unwrapped import Fields, Unwrapped, Unwrapper, source_of_topic
from transforms.json_values import MalformedJson, as_text, part

_EXTENSION: Final = "iodebezium"
_PREFIXES: Final = ("ce_", "ce-")
_SOURCE_FIELDS: Final = {
    name.replace("_", "").lower(): name
    for name in (
        *("version", "connector", "name", "ts_ms", "ts_us", "ts_ns", "snapshot", "db", "sequence"),
        *("schema", "table", "collection", "txId", "lsn", "xmin", "server_id", "gtid", "file"),
        *("pos", "row", "thread", "query", "change_lsn", "commit_lsn", "event_serial_no", "scn"),
        *("commit_scn", "lcr_position", "redo_thread", "rs_id", "ssn", "ord", "keyspace"),
    )
}
"""What fields of a source are called in the attributes of a CloudEvent."""


class Adapter:
    """Makes an envelope of whatever stands in its place, by what a feed declares."""

    __slots__ = ("_unwrap",)

    def __init__(self, feed: Feed) -> None:
        self._unwrap = Unwrapper(feed)

    def __call__(self, document: Fields | None, envelope: Envelope) -> Fields | None:
        """The envelope; None for a message that is one, or none of these."""
        if document is None:
            return self._unwrap(None, envelope)
        attributes = _attributes(document, envelope)
        if attributes is not None:
            return _of_cloud_event(document, attributes)
        if document.keys() in _IMAGES_ALONE:
            return _of_images(document, envelope)
        return self._unwrap(document, envelope)

    def of_row(self, row: Fields, schema: Any, envelope: Envelope) -> Unwrapped | None:
        """The envelope of an object that holds no other; None where it has to be judged, or is no row."""
        if "specversion" in row or row.keys() in _IMAGES_ALONE or is_key_schema(schema):
            return None
        if schema is None and "payload" in row:
            # It may be a schema and a payload that say nothing.
            return None
        return self._unwrap.of_row(row, envelope)


def _attributes(document: Fields, envelope: Envelope) -> Fields | None:
    """The attributes of a CloudEvent; None for any other message."""
    if "specversion" in document:
        return document if "type" in document else None
    headers = envelope.message.headers
    if not headers:
        return None
    found = {
        name[len(_PREFIXES[0]) :]: envelope.message.header(name)
        for name, _ in headers
        if type(name) is str and name.startswith(_PREFIXES)
    }
    return found if "specversion" in found else None


def _of_cloud_event(document: Fields, attributes: Fields) -> Fields | None:
    data = _data(document) if document is attributes else document
    if type(data) is not dict:
        return None
    body = data["payload"] if data.keys() == {"schema", "payload"} else data
    operation = attributes.get(f"{_EXTENSION}op")
    if operation is None or type(body) is not dict or "op" in body:
        return data
    source = {
        _SOURCE_FIELDS[name.removeprefix(_EXTENSION)]: value
        for name, value in attributes.items()
        if name.startswith(_EXTENSION) and name.removeprefix(_EXTENSION) in _SOURCE_FIELDS
    }
    if source.get("sequence") is None:
        source["sequence"] = _sequence_in(as_text(attributes.get("id")) or "")
    whole = {"before": body.get("before"), "after": body.get("after")}
    whole |= {"op": operation, "source": source}
    return {"schema": data["schema"], "payload": whole} if body is not data else whole


def _data(event: Fields) -> Any:
    """What a CloudEvent in the structured mode is about: a document, or one in a text or in base64."""
    data = event.get("data")
    if data is None and type(event.get("data_base64")) is str:
        try:
            data = binascii.a2b_base64(event["data_base64"])
        except ValueError:
            return None
    if isinstance(data, str | bytes):
        try:
            return json_values.read(data)
        except MalformedJson:
            return None
    return data


def _sequence_in(id_of_event: str) -> str | None:
    """Postgres's ``sequence``, which older releases have in the id alone: ``name:s;lsn:100;txId:5;sequence:[…]``."""
    found = (one for one in id_of_event.split(";") if one.startswith("sequence:"))
    return next((one.removeprefix("sequence:") for one in found), None)


_IMAGES_ALONE: Final = ({"before", "after"}, {"before", "after", "transaction"})


def _of_images(document: Fields, envelope: Envelope) -> Mapping[str, Any] | None:
    before, after = (part(document, name) for name in ("before", "after"))
    if before is None and after is None:
        return None
    operation = "d" if after is None else "c" if before is None else "u"
    images = {"before": before, "after": after}
    return {**images, "op": operation, "source": source_of_topic(envelope)}
