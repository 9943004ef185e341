"""Kafka records, however they came: read from a topic, or from a dump of one as JSON lines.

A dump has one JSON object a line with ``partition`` and ``offset``, the key and the value: under ``key`` and ``value``,
or ``key`` and ``payload`` (kcat's ``-J``); ``ts`` or ``timestamp`` in milliseconds; ``topic`` and ``headers`` or not.
Key and value are texts, JSON documents that stand in the line as they are, or JSON objects in base64. Offset and time
may stand in an object ``metadata``, or be missing: a line without an offset is still a record if it has ``value`` and
no field outside ``_FIELDS``. What clouds and consoles wrap messages in is taken off first (``wrappings``), and a value
that was encoded twice, so that it is a text of JSON in JSON, is read twice. Any other line is a bare value, without a
key. Where a sink of Kafka Connect wrote the
object, its name says the topic, the partition and the offset of its first record
(``orders+0+0000000042.json``), and each record stands one behind the record before it.

Vendors: edenhill/kcat, json.c (``-J``); redpanda-data/redpanda, rpk topic consume (a null value is left out);
Aiven-Open/cloud-storage-connectors-for-apache-kafka, JSON lines (no partition, ``value`` alone by default); Lenses,
"Message Envelope" (``metadata``); Confluent's REST proxy, embedded format ``binary`` (base64); Confluent's "Amazon S3
Sink Connector" (names of objects).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from transforms import json_values
from transforms.families import wrappings
from transforms.families.whole_numbers import microseconds, whole
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson, as_text, part
from transforms.moments import microseconds_of
from transforms.record import BronzeRecord
from transforms.records import avro_containers


@dataclass(slots=True)
class KafkaMessage:
    """What one record says of itself; ``read`` and ``text`` give its value, ``read_key`` and ``key`` its key.

    ``topic``, ``partition``, ``offset`` say where it stood and ``sent_at`` when it was written, in microseconds since
    1970 (UTC); each is None where it is unknown, as for a bare value.
    ``is_null``: a record whose value is known to be null. ``is_keyless``: one that is known to have no key; a bare
    value's key is unknown. ``is_utf8``: False where a value is there and is no UTF-8; it has no text then.
    ``defect``: why the record could not be cut out whole. ``headers``: pairs of a name and a value. ``refusal``,
    ``key_refusal``: why its value, or its key, cannot be read by the schema that it names.
    """

    _value: Json
    _key: Json
    _raw_key: bytes | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    sent_at: int | None = None
    is_null: bool = False
    is_keyless: bool = False
    is_utf8: bool = True
    defect: str | None = None
    headers: Sequence[tuple[Any, Any]] = ()
    refusal: Fault | None = None
    key_refusal: Fault | None = None
    _raw_value: bytes | None = None

    @property
    def text(self) -> str | None:
        """The value as text; None where it is null or no UTF-8.

        A JSON document that stands in a dump's line is given as its JSON text.
        """
        return self._value.text()

    def read(self, reader: Callable[[str], Any] = json_values.read) -> Any:
        """The value's JSON document, as ``json_values`` gives it: what was read once is not read again.

        Raises:
            MalformedJson: The value is no JSON document, is null or no UTF-8.
        """
        return self._value.read(reader)

    @property
    def key(self) -> str | None:
        """The key as text; None where there is none, or it is no UTF-8."""
        return self._key.text()

    @property
    def key_bytes(self) -> bytes | None:
        """The key as it is; None where there is none."""
        if self._raw_key is None and (text := self._key.text()) is not None:
            self._raw_key = text.encode()
        return self._raw_key

    @property
    def as_sent(self) -> tuple[bytes | None, bytes | None]:
        """Value and key as bytes: of a topic's record, or where a dump has them in base64; None for any other."""
        return self._raw_value, self._raw_key

    def take_document(self, document: Any) -> None:
        """Have a document in the value's place, where the bytes are no JSON."""
        self._value, self.is_utf8 = Json(None, document), True

    def take_key_document(self, document: Any) -> None:
        """Have a document in the key's place."""
        self._key = Json(None, document)

    def read_key(self, reader: Callable[[str], Any] = json_values.read) -> Any:
        """The key's JSON document.

        Raises:
            MalformedJson: The key is no JSON document, is null or no UTF-8.
        """
        return self._key.read(reader)

    def header(self, name: str) -> str | None:
        """The record's last header of a name, as text; None without one."""
        found = None
        for one, value in self.headers:
            if one == name:
                found = _utf8(value) if isinstance(value, bytes) else as_text(value)
        return found

    @property
    def fault(self) -> Fault | None:
        """Why nothing can be read in the value: the record is damaged, or no UTF-8."""
        if self.defect is not None:
            return Fault("damaged_record", shown(self.defect))
        if self.refusal is not None:
            return self.refusal
        return None if self.is_utf8 else Fault("invalid_utf8", "the record is not valid UTF-8")

    def object(self) -> tuple[dict[str, Any], Fault | None]:
        """The JSON object that the value is, empty where it is none; and why the record cannot be taken, if it cannot.

        A damaged record cannot, whatever is read in what is left of it.
        """
        fault = self.fault
        if self.is_null:
            return {}, fault or Fault("missing_field", "the record has no value")
        try:
            document = self.read()
        except MalformedJson as why:
            return {}, fault or Fault("malformed_json", shown(why))
        if type(document) is not dict:
            detail = f"the record is no JSON object: {shown(as_text(document))}"
            return {}, fault or Fault("malformed_json", detail)
        return document, fault


class Json:
    """A text that may be JSON, or JSON that was read already; each is made of the other when somebody asks."""

    __slots__ = ("_document", "_is_read", "_text")

    def __init__(self, text: str | None, document: Any = None) -> None:
        self._text = text
        self._document = document
        self._is_read = document is not None

    def text(self) -> str | None:
        """The text; a document is written as JSON the first time."""
        if self._text is None and self._is_read:
            self._text = json_values.written(self._document)
        return self._text

    def read(self, reader: Callable[[str], Any]) -> Any:
        """The document; a text is read the first time.

        Raises:
            MalformedJson: It is no JSON document, or there is no text.
        """
        if not self._is_read:
            if self._text is None:
                raise MalformedJson("there is no text")
            document = reader(self._text)
            if type(document) is str and document.lstrip().startswith("{"):
                # It was encoded twice; a text that only begins so is a text.
                with suppress(MalformedJson):
                    document = reader(document)
            self._document, self._is_read = document, True
        return self._document


class PlainMessage(NamedTuple):
    """A message of which it shows at once where its value and its key are; ``about`` says the rest, and reads nothing.

    ``key``: None where there is none, or nothing is known of it. It may stand in the record's header. ``is_bare``: a
    value of a file, of which only an envelope is known to be no line of a dump.
    """

    about: KafkaMessage
    value: bytes
    key: bytes | None
    is_bare: bool = False


def plain_message(record: BronzeRecord, feed: Feed) -> PlainMessage | None:
    """The message that ``kafka_message`` gives, where nothing in it has to be judged; None for any other."""
    payload = record.payload
    if payload is None or record.defect is not None:
        return None
    if feed.reads_topics:
        for name, _ in record.headers or ():
            if name.startswith(_TELLING):
                return None
        about = KafkaMessage(_UNREAD, _UNREAD, offset=record.byte_offset)
        about.is_keyless = record.key is None
        about.topic, about.partition = _partition_of(record.object)
        return PlainMessage(about, payload, record.key)
    if b'"offset"' in payload:
        with suppress(msgspec.MsgspecError):
            return _plain_line(payload, _line(payload))
    about = KafkaMessage(_UNREAD, _UNREAD)
    take_name(about, record)
    if avro_containers.schema_of(record.header) is not None:
        return None
    key = None if record.header is None else record.header.encode()
    return PlainMessage(about, payload, key, is_bare=True)


_TELLING: Final = ("ce_", "ce-", "__op", "__key_", "__value_", "apicurio.")
"""How the names of headers begin that say something of their message."""


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a dump, as kcat and most others write it."""

    partition: int
    offset: int
    topic: str | msgspec.UnsetType = msgspec.UNSET
    key: msgspec.Raw = msgspec.Raw()
    value: msgspec.Raw = msgspec.Raw()
    payload: msgspec.Raw = msgspec.Raw()
    ts: int | msgspec.UnsetType = msgspec.UNSET
    timestamp: int | msgspec.UnsetType = msgspec.UNSET
    tstype: str | msgspec.UnsetType = msgspec.UNSET
    broker: int | msgspec.UnsetType = msgspec.UNSET


_line = msgspec.json.Decoder(_Line).decode
_text = msgspec.json.Decoder(str).decode


def _plain_line(raw: bytes, line: _Line) -> PlainMessage | None:
    value, key = bytes(line.value or line.payload), bytes(line.key)
    if not (value and 0 <= line.partition < 1 << 31 and whole(line.offset) is not None):
        return None
    optional = (line.topic, line.ts, line.timestamp, line.tstype, line.broker)
    names = 2 + len(optional) - optional.count(msgspec.UNSET)
    outer = raw
    for one in (value, key):
        if one:
            # What stands in it is read by itself.
            outer, names = outer.replace(one, b"0", 1), names + 1
    if (line.value and line.payload) or not json_values.is_as_read(outer, names):
        return None
    about = KafkaMessage(_UNREAD, _UNREAD, partition=line.partition, offset=line.offset)
    about.topic = None if line.topic is msgspec.UNSET else line.topic
    about.is_keyless = key in (b"", b"null")
    parts = [_text(one).encode() if one[:1] == b'"' else one for one in (value, key)]
    return PlainMessage(about, parts[0], None if about.is_keyless else parts[1])


@lru_cache(maxsize=1024)
def _partition_of(name: str) -> tuple[str, int | None]:
    """The topic and the partition that a record's object is called by."""
    topic, _, number = name.rpartition("/")
    return topic, _partition(number)


_FIELDS: Final = frozenset(
    {
        *("topic", "partition", "offset", "key", "value", "headers", "metadata"),
        *("timestamp", "timestampType", "timestamp_type", "ts", "tstype"),
        *("leaderEpoch", "leader_epoch"),
    }
)
"""All field names that a dumped record can have; without an offset, a line with any other field is a bare value."""

_NAMED_BY_SINK: Final = re.compile(
    r"(?:^|/)(?P<topic>[A-Za-z0-9._-]{1,249})\+(?P<partition>[0-9]{1,9})\+(?P<offset>[0-9]{1,18})\.[^/]*\Z"
)
"""What a sink calls an object: topic, partition and the offset of its first record."""

_BASE64_OF_OBJECT: Final = re.compile(r"e[w-z0-9+/][A-Za-z0-9+/]*={0,2}")

_SHORTEST: Final = 8
"""The characters of a zero byte, an id and one byte in base64."""


_UNREAD: Final = Json(None)


def kafka_message(record: BronzeRecord, feed: Feed) -> KafkaMessage:
    """The message in a record of bronze: never fails, whatever stands there."""
    return _of_topic(record) if feed.reads_topics else message_of_dump(record)


def bare_message(record: BronzeRecord) -> KafkaMessage:
    """The message of a format that never comes from Kafka: the record is its value, and nothing else is known."""
    text = _utf8(record.payload)
    found = KafkaMessage(Json(text), Json(None), defect=record.defect)
    found.is_null = record.payload is None
    found.is_utf8 = found.is_null or text is not None
    return found


def object_in(record: BronzeRecord) -> tuple[dict[str, Any], Fault | None]:
    """The JSON object that such a record is, as ``KafkaMessage.object`` gives it: mostly without another copy of it."""
    if record.defect is None:
        with suppress(MalformedJson):
            document = json_values.read(record.payload or b"")
            if type(document) is dict:
                return document, None
    return bare_message(record).object()


def _of_topic(record: BronzeRecord) -> KafkaMessage:
    """The message that was read from a topic: its object is the topic's name and the partition's number."""
    found = bare_message(record)
    found._key, found._raw_key = Json(_utf8(record.key)), record.key
    found._raw_value = record.payload
    found.is_keyless = record.key is None
    found.topic, found.partition = _partition_of(record.object)
    found.offset = record.byte_offset
    found.sent_at = record.landed_at
    found.headers = record.headers or ()
    return found


def is_line_of_dump(document: Mapping[str, Any]) -> bool:
    """Whether an object in a file is a record of a dump, and no value that stands there by itself."""
    return _dumped(wrappings.unwrapped(document), None) is not None


def message_of_dump(record: BronzeRecord) -> KafkaMessage:
    """The message that a line of a dump says; of one that is no record, nothing but the value is known."""
    found = bare_message(record)
    take_name(found, record)
    return _dumped(wrappings.unwrapped(found.object()[0]), record.defect) or found


def take_name(found: KafkaMessage, record: BronzeRecord) -> None:
    """Take topic, partition and offset from what a sink has called the object."""
    named = _NAMED_BY_SINK.search(record.object)
    if named is not None:
        found.topic = named["topic"]
        found.partition = _partition(named["partition"])
        found.offset = int(named["offset"]) + record.line - 1


def _dumped(line: Mapping[str, Any], defect: str | None) -> KafkaMessage | None:
    """The message of a line that is a record; None for any other line."""
    about = line.get("metadata")
    partition = _partition(_first(line, "partition", about))
    offset = whole(_first(line, "offset", about))
    key, value = line.get("key"), line.get("value")
    if value is None:
        value = line.get("payload")
    has_place = partition is not None and offset is not None
    is_record = (
        (key is not None or value is not None) and "value" in line and line.keys() <= _FIELDS
    )
    if not has_place and not is_record:
        return None
    found = KafkaMessage(_dumped_part(value), _dumped_part(key), defect=defect)
    found._raw_value, found._raw_key = _in_wire_format(value), _in_wire_format(key)
    found.is_null = value is None
    found.is_utf8 = type(value) is not bytes
    found.is_keyless = key is None and (has_place or "key" in line)
    found.topic = as_text(_first(line, "topic", about))
    found.partition, found.offset = partition, offset
    found.headers = [*_pairs(line.get("headers"))]
    written_at = line.get("ts") if line.get("timestamp") is None else line["timestamp"]
    found.sent_at = _moment(part(about, "timestamp") if written_at is None else written_at)
    return found


def _pairs(headers: Any) -> Iterator[tuple[Any, Any]]:
    """The headers of a dumped record: names and values in turn (kcat), pairs, objects of both, or one object."""
    if type(headers) is dict:
        yield from headers.items()
    elif type(headers) is list and headers and type(headers[0]) is str:
        yield from zip(headers[::2], headers[1::2], strict=False)
    elif type(headers) is list:
        for one in headers:
            if type(one) is dict and len(one) == 1:
                yield from ((name, wrappings.octets_of(value)) for name, value in one.items())
            elif type(one) is dict:
                yield one.get("key", one.get("name")), one.get("value")
            elif type(one) is list and len(one) == 2:
                yield one[0], one[1]


def _dumped_part(part: Any) -> Json:
    """A key or value as it was: a text, or a document that stands in the line; bytes that are no UTF-8 have none."""
    if type(part) is bytes:
        return Json(None)
    return Json(_out_of_base64(part)) if type(part) is str else Json(None, part)


def _out_of_base64(text: str) -> str:
    if text[:1] != "e" or not _BASE64_OF_OBJECT.fullmatch(text):
        return text
    try:
        inside = binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True).decode()
    except ValueError:
        return text
    return inside if inside[0] == "{" and inside.rstrip()[-1] == "}" else text


def _in_wire_format(part: Any) -> bytes | None:
    """The bytes of a part that begin with a zero byte and a schema's id, which a dump can only have in base64."""
    if type(part) is bytes:
        return part if part[:1] == b"\x00" else None
    if type(part) is not str or part[:1] != "A" or len(part) < _SHORTEST:
        return None
    try:
        found = binascii.a2b_base64(part, strict_mode=True)
    except ValueError:
        return None
    return found if found[:1] == b"\x00" else None


def _utf8(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _first(line: Mapping[str, Any], name: str, about: object) -> Any:
    value = line.get(name)
    return part(about, name) if value is None else value


def _partition(value: Any) -> int | None:
    number = whole(value)
    return number if number is not None and -(1 << 31) <= number < 1 << 31 else None


def _moment(value: Any) -> int | None:
    """Milliseconds since 1970, or a time as ISO 8601 writes it, in microseconds; UTC where it names no zone."""
    if whole(value) is not None:
        return microseconds(value)
    if type(value) is not str:
        return None
    try:
        time = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return microseconds_of(time if time.tzinfo else time.replace(tzinfo=UTC))
