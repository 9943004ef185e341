"""Messages taken apart into envelope fields, schema, key and table, however wrapped; and files cut into them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from transforms import json_values
from transforms.families.connect import schemas
from transforms.families.connect.avro import without_unions
from transforms.families.connect.wire import MessageReader, container_length
from transforms.families.kafka_records import KafkaMessage
from transforms.families.whole_numbers import microseconds, whole
from transforms.families.wrappings import split_dump
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson, as_text, part
from transforms.record import DEFAULT_LIMITS, BronzeRecord, Limits, Record
from transforms.records import avro_containers


class Vocabulary:
    """What a format's words mean.

    ``operations``: from what ``op`` says, in small letters, to what the source did. ``nothing``: the texts that mean
    "no value here". Null always means that; where ``{}`` is among the texts, the empty object does, too.
    """

    __slots__ = ("_nothing", "_operations", "_takes_empty", "known")

    def __init__(self, *, operations: Mapping[str, str], nothing: tuple[str, ...]) -> None:
        self._operations = dict(operations)
        # Some write a word as JSON, with its quotes.
        self._nothing = frozenset((*nothing, *(f'"{word}"' for word in nothing)))
        self._takes_empty = "{}" in nothing
        self.known = ", ".join(operations)

    def operation(self, op: Any) -> str | None:
        """What the source did; None where ``op`` is unknown."""
        known = self._operations.get(op) if type(op) is str else None
        if known is not None:
            return known
        text = as_text(op)
        return None if text is None else self._operations.get(text.strip(" ").lower())

    def means_nothing(self, value: Any) -> bool:
        """Whether a JSON value, or a text that is none, stands for nothing."""
        if type(value) is str:
            return value.strip(" ") in self._nothing
        return value is None or (value == {} and self._takes_empty)


# A schema that was read before is not read again, which halves the work: most of a message is its schema.


_BEGINS: Final = b'{"schema":'
"""So Kafka Connect's JsonConverter begins, without blanks: then nothing is read before the payload."""
_BETWEEN: Final = b',"payload":'
_ENDS: Final = b"}"
_ROOM: Final = 16 << 20
"""Maximum size of the schemas that are kept, in bytes: they come from outside, and then all are forgotten."""
_EACH: Final = 1 << 10
"""What the smallest schema is counted as."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadSchema:
    """Connect's schema: one object for all messages that have the same text of it."""

    document: Any

    @property
    def fields(self) -> list[Any] | None:
        """The fields that it lists."""
        return schemas.fields_of(self.document)

    @property
    def row_fields(self) -> list[Any] | None:
        """What the schema of an envelope says of a row."""
        return schemas.row_fields(self.document)


class DocumentReader:
    """Reads documents, and keeps the schemas that it has read."""

    __slots__ = ("_kept", "_schemas")

    def __init__(self) -> None:
        # By all that stands before the payload.
        self._schemas: dict[bytes, ReadSchema] = {}
        self._kept = 0

    def read(self, text: str) -> Any:
        """The document, as ``json_values`` gives it.

        Raises:
            MalformedJson: It is no JSON document that can be trusted.
        """
        raw = text.encode("utf-8", "surrogatepass")
        schema, payload = self.parts(raw)
        if schema is not None:
            with suppress(MalformedJson):
                return {"schema": schema.document, "payload": json_values.read(payload)}
        return json_values.read(raw)

    def parts(self, raw: bytes) -> tuple[ReadSchema | None, bytes]:
        """The schema of a document, and the bytes of its payload; without a schema those of the whole document.

        The payload is not read here. Where it is one JSON document, the whole is this schema and this payload.
        """
        at = raw.find(_BETWEEN) if raw.startswith(_BEGINS) and raw.endswith(_ENDS) else -1
        if at >= 0:
            begin = raw[:at]
            known = self._schemas.get(begin) or self._read_schema(begin, begin[len(_BEGINS) :])
            if known is not None:
                return known, raw[at + len(_BETWEEN) : -len(_ENDS)]
        if b'"payload"' in raw:
            with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                return self._parts_of(raw, _wrapped(raw))
        return None, raw

    def _parts_of(self, raw: bytes, wrapped: _Wrapped) -> tuple[ReadSchema | None, bytes]:
        """The parts in another spelling, or order."""
        schema, payload = bytes(wrapped.schema), bytes(wrapped.payload)
        outer = raw.replace(payload, b"0", 1).replace(schema, b"0", 1)
        if not json_values.is_as_read(outer, len(_Wrapped.__struct_fields__)):
            return None, raw
        known = self._schemas.get(schema) or self._read_schema(schema, schema)
        return known, raw if known is None else payload

    def _read_schema(self, spelled: bytes, text: bytes) -> ReadSchema | None:
        try:
            # What is cut within the schema is no JSON.
            _ANY.decode(text)
            known = ReadSchema(json_values.read(text))
        except (msgspec.MsgspecError, MalformedJson, RecursionError):
            return None
        self._kept += max(len(spelled), _EACH)
        if self._kept > _ROOM:
            self._schemas.clear()
            self._kept = max(len(spelled), _EACH)
        self._schemas[spelled] = known
        return known


class _Wrapped(msgspec.Struct, forbid_unknown_fields=True):
    schema: msgspec.Raw
    payload: msgspec.Raw


_wrapped = msgspec.json.Decoder(_Wrapped).decode
_ANY: Final = msgspec.json.Decoder(msgspec.Raw)


# What an envelope's ``source`` says: which table an event is of, and where it stands in the source's log.
# Vendor: Debezium documentation, ``source`` of the connectors for MySQL (file, pos, row) and PostgreSQL (schema, lsn).


_DIGITS: Final = "0123456789"


class Source(NamedTuple):
    """An envelope's source; ``fields`` are all that it says.

    ``catalog``, ``schema``, ``name``: the table. ``log``: the number of the log file, the position in it, and the row
    of the event at that position; None where the file has no number.
    """

    fields: Mapping[str, Any]
    catalog: str | None = None
    schema: str | None = None
    name: str | None = None
    log: tuple[int, ...] | None = None

    def text(self, field: str) -> str | None:
        """A field as text."""
        return as_text(self.fields.get(field))


UNKNOWN_SOURCE: Final = Source({})


def read_source(fields: Any) -> Source:
    """The source; one that is no object says nothing.

    The table is the one that it names: a schema's name says less, for topics are routed and renamed.
    """
    if type(fields) is not dict:
        return UNKNOWN_SOURCE
    get = fields.get
    named = get("db"), get("schema"), get("keyspace"), get("table"), get("collection")
    try:
        names = _names_in(*named)
    except TypeError:
        # An object is no key of what is kept.
        names = _names_in(*map(as_text, named))
    return Source(fields, *names, _log_of(fields))


@lru_cache(maxsize=1024, typed=True)
def _names_in(
    db: Any, schema: Any, keyspace: Any, table: Any, collection: Any
) -> tuple[str | None, str | None, str | None]:
    """Catalog, schema and table."""
    database, schema, keyspace = _name_of(db), _name_of(schema), _name_of(keyspace)
    name = _name_of(table)
    if keyspace is not None and schema is None:
        # Cassandra, which has no databases, and Vitess.
        return None, keyspace, name
    catalog = None if schema is None else database
    return catalog, database if schema is None else schema, name or _name_of(collection)


def _log_of(fields: Mapping[str, Any]) -> tuple[int, ...] | None:
    file, position = fields.get("file"), whole(fields.get("pos"))
    if position is None or type(file) is not str:
        return None
    file = file.rstrip()
    number = whole(file[len(file.rstrip(_DIGITS)) :])
    return None if number is None else (number, position, whole(fields.get("row")) or 0)


def _name_of(part: Any) -> str | None:
    text = as_text(part)
    return text if text and text.strip(" ") else None


ROUTER_FIELD: Final = "__dbz__physicalTableIdentifier"
"""The name of a table, which Debezium's ByLogicalTableRouter writes beside the key's columns."""

_WRAPPED: Final = frozenset({"schema", "payload"})


class Key(NamedTuple):
    """What a message's key says.

    ``values``: the columns' JSON values; None where the key is unknown, or is no object. ``fields``: what its schema
    lists. ``is_none``: the message is known to have no key. ``fault``: it begins as an object and cannot be trusted.
    """

    values: Mapping[str, Any] | None = None
    fields: list[Any] | None = None
    is_none: bool = False
    fault: Fault | None = None


UNKNOWN_KEY: Final = Key()
NO_KEY: Final = Key(is_none=True)


def key_of_message(
    message: KafkaMessage, header: str | None, reader: DocumentReader, vocabulary: Vocabulary
) -> Key:
    """The key of a record, or else the document of it that stood before the value's in a file (``header``)."""
    if message.is_keyless:
        return NO_KEY
    if message.key_refusal is not None:
        return Key(fault=message.key_refusal)
    try:
        return _key_of_document(message.read_key(reader.read), vocabulary)
    except MalformedJson as why:
        text = message.key
        if text is not None:
            return _key_of_text(text, why, vocabulary)
    if header is None:
        return UNKNOWN_KEY
    try:
        return _key_of_document(reader.read(header), vocabulary)
    except MalformedJson as why:
        return _key_of_text(header, why, vocabulary)


def key_of_parts(schema: Any, payload: Any, vocabulary: Vocabulary) -> Key:
    """The key that stands in one object with the value."""
    if vocabulary.means_nothing(payload):
        return Key(None, schemas.fields_of(schema), is_none=True)
    values = payload if type(payload) is dict else None
    return Key(values, schemas.fields_of(schema))


def _key_of_document(document: Any, vocabulary: Vocabulary) -> Key:
    if type(document) is not dict:
        return NO_KEY if vocabulary.means_nothing(document) else UNKNOWN_KEY
    # A column may be called payload, too.
    is_wrapped = document.keys() <= _WRAPPED and (
        document.get("payload") is not None or len(document) == len(_WRAPPED)
    )
    if is_wrapped:
        return key_of_parts(document.get("schema"), document.get("payload"), vocabulary)
    return NO_KEY if vocabulary.means_nothing(document) else Key(document)


def _key_of_text(text: str, why: MalformedJson, vocabulary: Vocabulary) -> Key:
    if vocabulary.means_nothing(text):
        return NO_KEY
    # Keys of other kinds than JSON's objects are not read, and need not be JSON.
    if not text.lstrip().startswith("{"):
        return UNKNOWN_KEY
    return Key(fault=Fault("malformed_key", f"the key begins as a JSON object and is none: {why}"))


TOMBSTONE: Final = "tombstone"
"""The value is null, or says so in a word: Kafka's mark on compacted topics that the key is deleted."""
LONE_KEY: Final = "key"
"""In a file, a key's document without a value after it."""


@dataclass(slots=True)
class Envelope:
    """What a message says.

    ``body``: the envelope's fields, none where the message is no object; ``source``: what it says of the event's table
    and log position. ``operation``: what the source did, None where ``op`` is unknown. ``row_fields``: what Connect's
    schema says of the row's columns, None without one. ``fault``: why the message is no JSON object. ``note``: what a
    message is called that says nothing of any row: ``TOMBSTONE``, ``LONE_KEY``, or a word of the format's own.
    ``lone_key_of``: the table of a lone key. ``is_snapshot``: whether the format takes its row for one that a snapshot
    read. ``is_unwrapped``: the message was a row, or a null, without an envelope; ``tells_deletes``: it is known how
    such a stream tells deletes. ``is_in_part``: what the new image of an update lacks was not mentioned.
    ``is_merged``: so it is with an insert. ``expires``: it has a value that the source will drop by itself.
    """

    message: KafkaMessage
    record: BronzeRecord
    body: Mapping[str, Any] = field(default_factory=dict)
    source: Source = UNKNOWN_SOURCE
    operation: str | None = None
    row_fields: list[Any] | None = None
    key: Key = UNKNOWN_KEY
    fault: Fault | None = None
    note: str | None = None
    lone_key_of: str | None = None
    is_snapshot: bool = False
    is_unwrapped: bool = False
    tells_deletes: bool = False
    is_in_part: bool = False
    is_merged: bool = False
    expires: bool = False

    @property
    def event_at(self) -> int | None:
        """When the source made the change."""
        return microseconds(self.source.fields.get("ts_ms")) or None

    @property
    def extracted_at(self) -> int | None:
        """When the connector read it."""
        return microseconds(self.body.get("ts_ms")) or None


Adapt: TypeAlias = Callable[["Mapping[str, Any] | None", Envelope], "Mapping[str, Any] | None"]
"""Makes an envelope of a JSON object that is none, or of a null (None); None for what is not of its kind."""

_ENVELOPE_FIELDS: Final = frozenset({"op", "source"})
"""Fields that every envelope has and no message key has."""

_TEXT: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_ESCAPED: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


class EnvelopeReader:
    """From a record's bytes to its envelope, however it is written and wrapped.

    It keeps the schemas that it has read. ``adapt``: makes an envelope where none is. ``finish``: puts columns in the
    place of what its images and its key have instead.
    """

    __slots__ = ("_adapt", "_documents", "_finish", "_messages", "_vocabulary")

    def __init__(
        self,
        feed: Feed,
        vocabulary: Vocabulary,
        adapt: Adapt | None = None,
        finish: Callable[[Envelope], None] | None = None,
    ) -> None:
        self._finish = finish
        self._messages = MessageReader(feed)
        self._vocabulary = vocabulary
        self._adapt = adapt
        self._documents = DocumentReader()

    def read(self, record: BronzeRecord) -> Envelope:
        """The record's message in its parts."""
        message = self._messages.read(record)
        envelope = Envelope(message, record, fault=message.fault)
        if envelope.fault is None and message.is_null:
            envelope.note = TOMBSTONE
        elif envelope.fault is None:
            self._read_value(envelope)
        if envelope.note == TOMBSTONE and self._adapt is not None:
            adapted = self._adapt(None, envelope)
            if adapted is not None:
                envelope.note = None
                self._read_object(envelope, adapted)
        if self._finish is not None:
            self._finish(envelope)
        return envelope

    def _read_value(self, envelope: Envelope) -> None:
        try:
            document = self._document(envelope.message)
        except MalformedJson as why:
            if self._vocabulary.means_nothing(envelope.message.text):
                envelope.note = TOMBSTONE
                return
            no_document = "not one JSON document, or a name stands twice in one object"
            envelope.fault = Fault("malformed_json", f"{no_document}: {why}")
            return
        document = without_unions(document)
        if type(document) is dict:
            adapted = None if self._adapt is None else self._adapt(document, envelope)
            self._read_object(envelope, document if adapted is None else adapted)
        else:
            self._take(envelope, document)

    def _document(self, message: KafkaMessage) -> Any:
        """The value's JSON; the vendor's own samples have line breaks within texts, which JSON does not allow."""
        try:
            return message.read(self._documents.read)
        except MalformedJson:
            text = message.text or ""
            repaired = _TEXT.sub(lambda found: found[0].translate(_ESCAPED), text)
            if repaired == text:
                raise
        return self._documents.read(repaired)

    def _read_object(self, envelope: Envelope, document: Mapping[str, Any]) -> None:
        """Read a JSON object in any of its three forms.

        Key and value are numbered in one object (Arcion's first generation), or a payload stands beside its schema, or
        the object is the envelope itself.
        """
        if "payload_2" in document:
            if self._take(envelope, document["payload_2"], may_be_nothing=False):
                key = (document.get("schema_1"), document.get("payload_1"))
                envelope.key = key_of_parts(*key, self._vocabulary)
                envelope.row_fields = schemas.row_fields(document.get("schema_2"))
            return
        is_wrapped = "payload" in document and "op" not in document
        if self._take(envelope, document["payload"] if is_wrapped else document):
            schema = document.get("schema")
            envelope.row_fields = schemas.row_fields(schema)
            if is_wrapped and envelope.body.keys().isdisjoint(_ENVELOPE_FIELDS):
                envelope.lone_key_of = _table_of_key(schema)
            if envelope.lone_key_of is not None:
                envelope.note = LONE_KEY
                envelope.key = key_of_parts(schema, envelope.body, self._vocabulary)
                return
            header = envelope.record.header
            if avro_containers.schema_of(header) is not None:
                header = None
            envelope.key = key_of_message(
                envelope.message, header, self._documents, self._vocabulary
            )

    def _take(self, envelope: Envelope, body: Any, *, may_be_nothing: bool = True) -> bool:
        """Take what stands in the envelope's place; False where it is none."""
        if may_be_nothing and self._vocabulary.means_nothing(body):
            envelope.note = TOMBSTONE
        elif type(body) is dict:
            envelope.body = body
            envelope.operation = self._vocabulary.operation(body.get("op"))
            envelope.source = read_source(body.get("source"))
            return True
        else:
            envelope.fault = Fault("malformed_json", "the message is no JSON object")
        return False


def _table_of_key(schema: Any) -> str | None:
    """The table whose key a schema is for: Connect calls it <connector>.<database>.<table>.Key. None: of no key."""
    name = part(schema, "name")
    if type(name) is not str or not name.endswith("Key"):
        return None
    return ".".join(name.split(".")[-2:-1])


def is_key_schema(schema: Any) -> bool:
    """Whether Connect's schema is of a key."""
    return _table_of_key(schema) is not None


# Files.


def split_files(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """JSON documents in whatever layout; a key's document goes along with the value's that follows it.

    So do the vendors' pages write a message: the key's schema and payload, then the value's. The key becomes the
    record's ``header``; one that nothing follows is a record of its own. Avro container files are cut, too.
    """
    if data.startswith(avro_containers.MAGIC):
        yield from avro_containers.split(data, container_length, limits)
        return
    key: Record | None = None
    for record in split_dump(data, feed, object_name, limits):
        if is_key_document(record):
            if key is not None:
                yield key
            key = record
            continue
        if key is None or record.defect is not None:
            if key is not None:
                yield key
            yield record
        else:
            header = key.payload.decode("utf-8", "replace")
            yield Record(record.line, record.byte_offset, record.payload, header)
        key = None
    if key is not None:
        yield key


def is_key_document(record: Record) -> bool:
    """Whether a record is the document of a key: schema and payload, and no envelope in that."""
    text = record.payload
    # Decoding costs, and nearly all records are values.
    if record.defect is not None or b'"payload"' not in text or b'"source"' in text:
        return False
    try:
        document = json.loads(text, strict=False)
    except ValueError:
        return False
    if not isinstance(document, dict) or document.keys() != {"schema", "payload"}:
        return False
    payload = document["payload"]
    is_key = _table_of_key(document["schema"]) is not None
    return is_key and isinstance(payload, dict) and "op" not in payload
