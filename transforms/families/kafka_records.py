"""Kafka records, however they came: read from a topic, or from a dump of one as JSON lines.

A dump has one JSON object a line with ``partition`` and ``offset``, the key and the value: under ``key`` and ``value``,
or ``key`` and ``payload`` (kcat's ``-J``); ``ts`` or ``timestamp`` in milliseconds; ``topic`` and ``headers`` or not.
Key and value are texts, JSON documents that stand in the line as they are, or JSON objects in base64. Where and when it
was may stand in an object ``metadata``, or be missing: a line that has ``value``, and nothing that a record has not, is
a record, too. Any other line is a bare value, without a key.

Vendors: edenhill/kcat, json.c (``-J``); redpanda-data/redpanda, rpk topic consume (a null value is left out);
Aiven-Open/cloud-storage-connectors-for-apache-kafka, JSON lines (no partition, ``value`` alone by default); Lenses,
"Message Envelope" (``metadata``); Confluent's REST proxy, embedded format ``binary`` (base64).

Not here: what a message means (``connect``, ``formats``), and reading topics (``assets``).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from transforms import json_values
from transforms.feed import Feed
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord

_FIELDS: Final = frozenset(
    {
        *("topic", "partition", "offset", "key", "value", "headers", "metadata"),
        *("timestamp", "timestampType", "timestamp_type", "ts", "tstype"),
        *("leaderEpoch", "leader_epoch"),
    }
)
"""What a record may have."""

_BASE64_OF_OBJECT: Final = re.compile(r"e[w-z0-9+/][A-Za-z0-9+/]*={0,2}")
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,19}\s*", re.ASCII)
_YEARS_1_TO_9999: Final = (-62_135_596_800_000, 253_402_300_799_999)
"""In milliseconds since 1970."""


class KafkaMessage:
    """What one record says of itself; ``read`` and ``text`` give its value.

    ``key`` is the key's text, None where there is none or it is no UTF-8; ``key_bytes`` the key as it is.
    ``topic``, ``partition``, ``offset`` say where it stood and ``sent_at`` when it was written, in microseconds since
    1970 (UTC); each is None where nobody says so, as for a bare value.
    ``is_null``: a record whose value is known to be null. ``is_keyless``: one that is known to have no key; a bare
    value's key is unknown. ``is_utf8``: False where a value is there and is no UTF-8; it has no text then.
    """

    __slots__ = (
        "_document",
        "_is_read",
        "_text",
        "is_keyless",
        "is_null",
        "is_utf8",
        "key",
        "key_bytes",
        "offset",
        "partition",
        "sent_at",
        "topic",
    )

    def __init__(self, text: str | None) -> None:
        self._text = text
        self._document: Any = None
        self._is_read = False
        self.key: str | None = None
        self.key_bytes: bytes | None = None
        self.topic: str | None = None
        self.partition: int | None = None
        self.offset: int | None = None
        self.sent_at: int | None = None
        self.is_null = False
        self.is_keyless = False
        self.is_utf8 = True

    @property
    def text(self) -> str | None:
        """The value as text; None where it is null or no UTF-8. A document that stands in a dump is written anew."""
        if self._text is None and self._is_read:
            self._text = json_values.written(self._document)
        return self._text

    def read(self) -> Any:
        """The value's JSON document, as ``json_values`` gives it: what was read once is not read again.

        Raises:
            MalformedJson: The value is no JSON document, or is null.
        """
        if not self._is_read:
            if self._text is None:
                raise MalformedJson("there is no value")
            self._document = json_values.read(self._text)
            self._is_read = True
        return self._document

    def _has_read(self, document: Any) -> None:
        self._document = document
        self._is_read = True


def message(record: BronzeRecord, feed: Feed) -> KafkaMessage:
    """The message in a record of bronze: never fails, whatever stands there."""
    return of_topic(record) if feed.reads_topics else of_dump(record)


def of_topic(record: BronzeRecord) -> KafkaMessage:
    """The message that was read from a topic: its object is the topic's name and the partition's number."""
    said = KafkaMessage(_utf8(record.payload))
    said.is_null = record.payload is None
    said.is_utf8 = said.is_null or said.text is not None
    said.key = _utf8(record.key)
    said.key_bytes = record.key
    said.is_keyless = record.key is None
    said.topic, _, number = record.object.rpartition("/")
    said.partition = _number(number, bits=32)
    said.offset = record.byte_offset
    said.sent_at = record.landed_at
    return said


def of_dump(record: BronzeRecord) -> KafkaMessage:
    """The message that a line of a dump says; of one that is no record, nothing but the value is known."""
    text = _utf8(record.payload)
    said = KafkaMessage(text)
    if text is None:
        said.is_utf8 = record.payload is None
        return said
    try:
        line = said.read()
    except MalformedJson:
        return said
    return _dumped(line) or said if type(line) is dict else said


def _dumped(line: Mapping[str, Any]) -> KafkaMessage | None:
    """The message of a line that is a record; None for any other line."""
    about = line.get("metadata")
    if type(about) is not dict:
        about = {}
    partition = _number(_first(line.get("partition"), about.get("partition")), bits=32)
    offset = _number(_first(line.get("offset"), about.get("offset")), bits=64)
    key, value = line.get("key"), _first(line.get("value"), line.get("payload"))
    has_place = partition is not None and offset is not None
    is_record = (
        (key is not None or value is not None) and "value" in line and line.keys() <= _FIELDS
    )
    if not has_place and not is_record:
        return None
    said = _with_value(value)
    said.key = _text_of(key)
    said.key_bytes = None if said.key is None else said.key.encode()
    said.is_keyless = key is None and (has_place or "key" in line)
    topic = _first(line.get("topic"), about.get("topic"))
    said.topic = topic if type(topic) is str else None
    said.partition, said.offset = partition, offset
    said.sent_at = _moment(_first(line.get("timestamp"), line.get("ts"), about.get("timestamp")))
    return said


def _with_value(value: Any) -> KafkaMessage:
    if type(value) is str:
        return KafkaMessage(_out_of_base64(value))
    said = KafkaMessage(None)
    if value is None:
        said.is_null = True
    else:
        said._has_read(value)
    return said


def _text_of(value: Any) -> str | None:
    """A key as it was: an object that is in base64 out of it, a document as it is written."""
    if value is None:
        return None
    return _out_of_base64(value) if type(value) is str else json_values.written(value)


def _out_of_base64(text: str) -> str:
    """The JSON object that is in base64; any other text as it is."""
    if text[:1] != "e" or not _BASE64_OF_OBJECT.fullmatch(text):
        return text
    try:
        inside = binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True).decode()
    except ValueError:
        return text
    return inside if inside[0] == "{" and inside.rstrip()[-1] == "}" else text


def _utf8(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _number(value: Any, *, bits: int) -> int | None:
    """A whole number that fits; some tools write them as texts."""
    if type(value) is str:
        value = int(value) if _WHOLE.fullmatch(value) else None
    fits = type(value) is int and -(1 << bits - 1) <= value < 1 << bits - 1
    return value if fits else None


def _moment(value: Any) -> int | None:
    """Milliseconds since 1970, or a time as ISO 8601 writes it, in microseconds; UTC where it names no zone."""
    milliseconds = _number(value, bits=64)
    if milliseconds is not None:
        first, last = _YEARS_1_TO_9999
        return milliseconds * 1000 if first <= milliseconds <= last else None
    if type(value) is not str:
        return None
    try:
        time = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
