"""Keys that Debezium's messages hold beside their values: in nulls after deletes, and in the headers of key changes.

A key change comes as a delete of the old key and an insert of the new one. A header of each holds the other key
(``__debezium.newkey``, ``__debezium.oldkey``), as the worker's ``header.converter`` writes it: as JSON, as Avro, or, by
Kafka Connect's default, as the text ``Struct{id=4711}``.

Vendors: Debezium documentation, connector for PostgreSQL, "Update events" and "Primary key updates"; Apache Kafka,
``org.apache.kafka.connect.data.Struct``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from transforms import json_values
from transforms.event import Event
from transforms.families.connect.envelopes import TOMBSTONE
from transforms.families.connect.wire import MessageReader
from transforms.families.kafka_records import KafkaMessage
from transforms.feed.feed import Feed
from transforms.formats.debezium.decode import decoder
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord
from transforms.source_format import KeyBeside, KeyIs

HEADERS: Final[Mapping[str, KeyIs]] = {"__debezium.oldkey": "old", "__debezium.newkey": "new"}
"""The headers of a key change, and what the key in them is to the record's own."""


def keys_beside(feed: Feed) -> Callable[[BronzeRecord], Sequence[KeyBeside]]:
    """Reads the keys of a feed's messages: each as the event that deletes it, told by the decoder of their own keys."""
    decode, messages = decoder(feed, {}), MessageReader(feed)
    of_nulls = decoder(replace(feed, unwrapped="tombstone"), {})

    def of_record(record: BronzeRecord) -> Sequence[KeyBeside]:
        event = _first(decode(record))
        if event.operation == TOMBSTONE:
            return [KeyBeside("own", _first(of_nulls(record)), event, None)]
        message, found = messages.read(record), list[KeyBeside]()
        for name, value in message.headers:
            if name in HEADERS and value is not None:
                deleted = _first(of_nulls(_null_of(feed, record, message, value)))
                deleted.catalog, deleted.schema, deleted.name = (
                    *(event.catalog, event.schema),
                    event.name,
                )
                deleted.stream_schema = event.stream_schema
                found.append(KeyBeside(HEADERS[name], deleted, event, _text_of(value)))
        return found

    return of_record


def _first(events: Any) -> Event:
    found: Event = next(iter(events))
    return found


def _null_of(feed: Feed, record: BronzeRecord, message: KafkaMessage, value: Any) -> BronzeRecord:
    """The record that would follow the delete of a key in a header."""
    text = value if type(value) is str else _utf8(value) if type(value) is bytes else None
    struct = None if text is None else _of_struct(text, message)
    if struct is not None:
        value = json_values.written(struct)
    if feed.reads_topics:
        if type(value) is not bytes:
            value = (value if type(value) is str else json_values.written(value)).encode()
        return replace(record, payload=None, key=value, headers=None)
    if type(value) is bytes:
        value = base64.b64encode(value).decode() if text is None else text
    place = {"topic": message.topic, "partition": message.partition or 0}
    line = {**place, "offset": message.offset or 0, "key": value, "value": None}
    return replace(record, payload=json_values.written(line).encode(), header=None)


def _of_struct(text: str, message: KafkaMessage) -> dict[str, str] | None:
    """The values of a text that Kafka Connect makes of a key; None for any other, and where it may say several."""
    if not (text.startswith("Struct{") and text.endswith("}")):
        return None
    try:
        own = message.read_key()
    except MalformedJson:
        return None
    if (
        type(own) is dict
        and own.keys() <= {"schema", "payload"}
        and type(own.get("payload")) is dict
    ):
        own = own["payload"]
    if type(own) is not dict or not own:
        return None
    said = text[len("Struct{") : -1]
    pattern = ",".join(f"{re.escape(name)}=(.*)" for name in own)
    greedy = re.fullmatch(pattern, said, re.DOTALL)
    lazy = re.fullmatch(pattern.replace("(.*)", "(.*?)"), said, re.DOTALL)
    if greedy is None or lazy is None or greedy.groups() != lazy.groups():
        return None
    return dict(zip(own, greedy.groups(), strict=True))


def _utf8(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _text_of(value: Any) -> bytes:
    """A header as bytes, in which a text can be looked for."""
    if type(value) is bytes:
        return value
    return (value if type(value) is str else json_values.written(value)).encode()
