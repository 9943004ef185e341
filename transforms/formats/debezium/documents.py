"""MongoDB's documents: texts of extended JSON in the place of images, and descriptions of updates.

``before`` and ``after`` are the document as a text, the message's key is ``{"id": "<_id as a text>"}``. The columns of
a row are the document's first level, each value as JSON or a text has it: an ObjectId or a number is its digits, a
date a time in UTC, a UUID (binary of subtype 4) its text, other binary values base64. What lies deeper stays JSON,
with its values in the same way. A table may declare one column that has the document as it came (``document``).

An update has the whole document only with the connector's ``capture.mode: change_streams_update_full``, which is the
default. Else ``updateDescription`` says which fields were set (``updatedFields``, a text) and removed
(``removedFields``): a part of a row, as long as it names fields of the first level. A path within a field (``a.b``) and
``truncatedArrays`` change a part of a value, which no column can take.

Vendors: Debezium documentation, connector for MongoDB, "Change event keys", "Change event values"; MongoDB
specification, "Extended JSON", v2, and v1 as older releases write it (``{"$binary": …, "$type": …}``).
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any, Final

from transforms import json_values
from transforms.column_types.times import moment_text
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.values import bytes_of
from transforms.families.whole_numbers import whole
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson, Number, as_text, part

_ID: Final = "_id"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_UUID: Final = ("04", "4", 4)
_REMEDY: Final = (
    "no column can take a part of a value: set the connector's capture.mode to change_streams_update_full, and take a"
    " new snapshot"
)


class Documents:
    """Puts columns in the place of documents, by what a feed declares of its tables."""

    __slots__ = ("_whole",)

    def __init__(self, feed: Feed) -> None:
        self._whole: dict[str, tuple[str, frozenset[str]]] = {}
        for name, table in feed.tables.items():
            if table.document is not None:
                known = (table.document, frozenset({*table.source_columns, *table.renamed}))
                for one in (name, *table.was):
                    self._whole[one.rpartition(".")[2]] = known

    def unwrap(self, envelope: Envelope) -> bool:
        """Put columns in the place of an envelope's documents; whether its new image is a part of a row.

        What cannot be read or applied is the envelope's fault.
        """
        if (envelope.source.text("connector") or "").lower() != "mongodb":
            return False
        whole_as = self._whole.get(envelope.source.name or "")
        body, is_partial = dict(envelope.body), False
        for side in ("before", "after"):
            if type(body.get(side)) is str:
                body[side] = _columns(body[side], whole_as) or body[side]
        described = body.get("updateDescription")
        if envelope.operation == "update" and body.get("after") is None and described is not None:
            is_partial = True
            body["after"], fault = _of_update(described, whole_as)
            envelope.fault = envelope.fault or fault
        envelope.body, envelope.row_fields = body, None
        key = envelope.key
        if key.values is not None and key.values.keys() == {"id"}:
            envelope.key = key._replace(values={_ID: _of_key(key.values["id"])}, fields=None)
        return is_partial


def _columns(text: str, whole_as: tuple[str, frozenset[str]] | None) -> dict[str, Any] | None:
    """The columns of a document; None where the text is none."""
    try:
        document = json_values.read(text)
    except MalformedJson:
        return None
    if type(document) is not dict:
        return None
    columns = {name: plain(value) for name, value in document.items()}
    if whole_as is None:
        return columns
    column, known = whole_as
    return {**{name: value for name, value in columns.items() if name in known}, column: text}


def _of_update(
    described: Any, whole_as: tuple[str, frozenset[str]] | None
) -> tuple[dict[str, Any] | None, Fault | None]:
    """The columns that an update mentions; or why they cannot take it."""
    updated, removed = part(described, "updatedFields"), part(described, "removedFields")
    if type(updated) is str:
        try:
            updated = json_values.read(updated)
        except MalformedJson as why:
            return None, Fault("malformed_image", f"updatedFields is no document: {why}")
    fields = updated if type(updated) is dict else {}
    gone = [one for one in removed if type(one) is str] if type(removed) is list else []
    cut = part(described, "truncatedArrays")
    shortened = [as_text(part(one, "field")) or "?" for one in cut] if type(cut) is list else []
    parts = [*(one for one in (*fields, *gone) if "." in one), *shortened]
    if parts:
        named = shown(", ".join(parts))
        return None, Fault("part_of_a_value", f"the update changes a part of {named}; {_REMEDY}")
    if whole_as is not None:
        detail = f"the update says {shown(', '.join((*fields, *gone)))} alone, and the table has whole documents"
        return None, Fault("part_of_a_value", f"{detail}; {_REMEDY}")
    columns = {name: plain(value) for name, value in fields.items()}
    return {**columns, **dict.fromkeys(gone)}, None


def _of_key(value: Any) -> Any:
    """An ``_id``, which is a text of extended JSON; of older releases a text alone."""
    if type(value) is not str:
        return plain(value)
    try:
        return plain(json_values.read(value))
    except MalformedJson:
        return value


def plain(value: Any) -> Any:
    """A value of extended JSON as JSON has it."""
    if type(value) is list:
        return [plain(one) for one in value]
    if type(value) is not dict:
        return value
    name = next(iter(value), "")
    if name in _READERS:
        read = _READERS[name](value[name], value)
        return value if read is None else read
    return {one: plain(inside) for one, inside in value.items()}


def _number(text: Any, _: Mapping[str, Any]) -> Any:
    if type(text) is not str or (written := _NUMBER.fullmatch(text)) is None:
        # NaN and Infinity are no numbers of JSON.
        return text
    is_whole = written[1] is None and written[2] is None and text != "-0"
    return int(text) if is_whole and len(text) <= json_values.LONGEST_NUMBER else Number(text)


def _date(value: Any, _: Mapping[str, Any]) -> Any:
    milliseconds = whole(part(value, "$numberLong") if type(value) is dict else value)
    if milliseconds is None:
        return value if type(value) is str else None
    return moment_text(milliseconds, 1_000)


def _timestamp(value: Any, _: Mapping[str, Any]) -> Any:
    seconds = whole(part(value, "t"))
    return None if seconds is None else moment_text(seconds, 1)


def _binary(value: Any, beside: Mapping[str, Any]) -> Any:
    text, kind = value, beside.get("$type")
    if type(value) is dict:
        text, kind = value.get("base64"), value.get("subType")
    octets = bytes_of(text) if type(text) is str else None
    if octets is None:
        return None
    return str(uuid.UUID(bytes=octets)) if kind in _UUID and len(octets) == 16 else text


def _text(value: Any, _: Mapping[str, Any]) -> Any:
    return value if type(value) is str else None


_READERS: Final = {
    **dict.fromkeys(("$oid", "$uuid", "$symbol", "$code"), _text),
    **dict.fromkeys(("$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"), _number),
    "$date": _date,
    "$timestamp": _timestamp,
    "$binary": _binary,
}
"""By the first name of an object of extended JSON, how what it stands for is read; None leaves it as it is."""
