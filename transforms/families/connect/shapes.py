"""Reads envelopes of Connect's JSON by their shapes: the first of a shape says what is to be known of all.

A record's own path (``EnvelopeReader``, ``ImageReader``) stays the definition. Here an envelope is read in which
nothing has to be judged: it has the fields of an envelope alone, each of its type, and every name once. A row that was
taken out of its envelope is read where it holds no objects. What is by a schema (Avro's, Protobuf's) is read by its own
reader first, which is most of the work, and goes on as JSON does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import msgspec

from transforms import json_values
from transforms.event import SnapshotRow, Transaction
from transforms.families.connect.envelopes import (
    NO_KEY,
    UNKNOWN_KEY,
    DocumentReader,
    Envelope,
    Key,
    ReadSchema,
    Vocabulary,
    read_source,
)
from transforms.families.connect.events import LogEntry
from transforms.families.connect.images import ImageReader, Images, ReadTexts, unsaid_columns
from transforms.families.connect.schemas import row_fields
from transforms.families.connect.values import Placeholders
from transforms.families.connect.wire import MessageReader
from transforms.families.kafka_records import is_line_of_dump, plain_message
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord
from transforms.records import avro_containers
from transforms.shape import Shape, Shaped


class Told(NamedTuple):
    """What a format says of an envelope.

    ``decides``: all that its event depends on, but for what ``EnvelopeShapes`` knows itself.
    """

    entry: LogEntry
    decides: tuple[Hashable, ...] = ()
    transaction: Transaction | None = None
    snapshot: SnapshotRow | None = None


Tell: TypeAlias = Callable[[Envelope, bool], Told | None]
"""What a format says, and whether there are objects in images; None where the record has to be decoded by itself.

It sets ``is_snapshot``.
"""

_OPERATIONS: Final = frozenset({"read", "insert", "update", "delete", "replace"})
_MOST_SHAPES: Final = 4_096
_WRAPPED: Final = frozenset({"schema", "payload"})
_OF_OTHER_FORMS: Final = ("ce_", "ce-", "__op")
"""How the names of headers begin that say what a value does not."""
_SEPARATOR: Final = None
_NO_FIELDS: Final[Mapping[str, Any]] = {"before": {}, "after": {}, "transaction": None}


_Image: TypeAlias = dict[str, Any] | str | msgspec.UnsetType | None


class OutOfEnvelope(Protocol):
    """A row that was taken out of its envelope, put back into one; ``added``: the names of what is no column of it."""

    @property
    def body(self) -> Mapping[str, Any]:
        """The envelope's fields."""

    @property
    def added(self) -> frozenset[str]:
        """The names in the row that are no columns."""

    def schema_of_envelope(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Connect's schema of such an envelope, from that of the row."""


PutBack: TypeAlias = Callable[[Mapping[str, Any], Any, Envelope], OutOfEnvelope | None]
"""The envelope of an object that holds no other, beside its schema; None where the record has to be decoded by itself.

It says of the envelope that it was a row, as the format's reader does.
"""


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    source: dict[str, Any]
    op: str
    before: _Image = msgspec.UNSET
    after: _Image = msgspec.UNSET
    ts_ms: int | str | msgspec.UnsetType | None = msgspec.UNSET
    ts_us: int | msgspec.UnsetType | None = msgspec.UNSET
    ts_ns: int | msgspec.UnsetType | None = msgspec.UNSET
    transaction: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET


_body = msgspec.json.Decoder(_Body, float_hook=json_values.fraction).decode
_columns = msgspec.json.Decoder(dict[str, Any], float_hook=json_values.fraction).decode


class _Read(NamedTuple):
    envelope: Envelope
    raw: bytes
    row_schema: ReadSchema | None
    key_schema: ReadSchema | None
    has_objects: bool
    row: OutOfEnvelope | None = None
    is_json: bool = True

    @property
    def added(self) -> frozenset[str] | None:
        """What was added to a row; None of an envelope."""
        return None if self.row is None else self.row.added

    @property
    def row_fields(self) -> list[Any] | None:
        """What the schema says of the row's columns."""
        if self.row_schema is None or self.row is None:
            return None if self.row_schema is None else self.row_schema.row_fields
        schema = self.row_schema.document
        return row_fields(self.row.schema_of_envelope(schema)) if type(schema) is dict else None


class _Described(NamedTuple):
    schema: ReadSchema
    payload: dict[str, Any]


class _Known(NamedTuple):
    shape: Shape
    before: ReadTexts
    after: ReadTexts
    placeholders: Placeholders


class EnvelopeShapes:
    """The shapes of the envelopes of a feed; for one process to keep. What it raises stands for None.

    ``put_back``: for a format that reads rows without envelopes, too.
    """

    def __init__(
        self,
        feed: Feed,
        vocabulary: Vocabulary,
        images: ImageReader,
        tell: Tell,
        put_back: PutBack | None = None,
    ) -> None:
        self._feed, self._vocabulary, self._images, self._tell = feed, vocabulary, images, tell
        self._put_back = put_back
        self._documents, self._messages = DocumentReader(), MessageReader(feed)
        self._by_id: dict[int, ReadSchema] = {}
        self._known: dict[Hashable, _Known | None] = {}

    def __call__(self, record: BronzeRecord) -> Shaped | None:
        """The record by its shape; None where that cannot be seen at once."""
        read = self._read(record)
        told = None if read is None else self._tell(read.envelope, read.has_objects)
        if read is None or told is None:
            return None
        known = self._shape(read, told)
        if known is None:
            return None
        envelope, raw = read.envelope, read.raw
        # A stand-in for a value that was not sent may be written with backslashes.
        is_suspect = read.is_json and raw.count(b"\\") > _backslashes(envelope.source.fields)
        is_suspect = is_suspect or known.placeholders.may_be_written_in(raw)
        log = envelope.source.log
        return Shaped(
            known.shape,
            known.before(envelope.body["before"], with_placeholders=is_suspect),
            known.after(envelope.body["after"], with_placeholders=is_suspect),
            told.entry.log_position,
            told.entry.identity,
            log[0] if log is not None and not envelope.is_snapshot else None,
            envelope.event_at,
            envelope.extracted_at,
            told.transaction,
            told.snapshot,
        )

    def _read(self, record: BronzeRecord) -> _Read | None:
        message = plain_message(record, self._feed)
        is_json = message is not None and message.value.lstrip()[:1] == b"{"
        if not is_json and (self._feed.schemas is not None or _is_of_container(record)):
            return self._read_document(record)
        if message is None:
            return None
        schema, raw = self._documents.parts(message.value)
        envelope = Envelope(message.about, record)
        has_objects, row = False, None
        try:
            body = _body(raw)
        except msgspec.ValidationError:
            row = self._row_in(raw, schema, envelope, is_bare=message.is_bare)
            if not _take_row(envelope, row):
                return None
        else:
            if not self._take_body(envelope, body):
                return None
            before, after = envelope.body["before"], envelope.body["after"]
            names = _names_of(body) + len(before) + len(after)
            has_objects = not json_values.is_as_read(raw, names)
            if has_objects and not (
                json_values.is_as_read(raw, names + _deeper(body, before, after))
                # In Avro's own JSON an image stands within an object.
                and min(len(before) or 2, len(after) or 2) > 1
            ):
                return None
        key_schema = self._take_key(envelope, message.key)
        if message.key is not None and envelope.key is UNKNOWN_KEY:
            return None
        return self._of(envelope, _Read(envelope, raw, schema, key_schema, has_objects, row))

    def _read_document(self, record: BronzeRecord) -> _Read | None:
        """Read a message that is by a schema of a registry, or of a container: in it no name can stand twice."""
        for name, _ in record.headers or ():
            if name.startswith(_OF_OTHER_FORMS):
                return None
        message = self._messages.read(record)
        if message.fault is not None or message.key_refusal is not None or message.is_null:
            return None
        envelope = Envelope(message, record)
        value, key = self._of_schema(message.read()), None
        if value is None:
            return None
        row = None
        try:
            body = msgspec.convert(value.payload, _Body)
        except msgspec.ValidationError:
            document = value.schema.document
            row = self._put_back and self._put_back(value.payload, document, envelope)
            if not _take_row(envelope, row):
                return None
        else:
            if not self._take_body(envelope, body):
                return None
        if message.is_keyless:
            envelope.key = NO_KEY
        elif not _is_of_container(record):
            key = self._of_schema(message.read_key(self._documents.read))
            if key is None or _holds_objects(key.payload):
                return None
            envelope.key = Key(key.payload, key.schema.fields)
        has_objects = _holds_objects(envelope.body["before"], envelope.body["after"])
        key_schema = None if key is None else key.schema
        octets = message.as_sent[0] or record.payload or b""
        read = _Read(envelope, octets, value.schema, key_schema, has_objects, row, is_json=False)
        return self._of(envelope, read)

    def _of_schema(self, document: Any) -> _Described | None:
        """A document's object, and its schema, which is one object for all messages that are by it."""
        if type(document) is not dict or document.keys() != _WRAPPED:
            return None
        schema, payload = document["schema"], document["payload"]
        if type(schema) is not dict or type(payload) is not dict or not payload:
            return None
        known = self._by_id.get(id(schema))
        if known is None:
            if len(self._by_id) >= _MOST_SHAPES:
                self._by_id.clear()
            # It holds the schema, so that no other one has this id.
            known = self._by_id[id(schema)] = ReadSchema(schema)
        return _Described(known, payload)

    def _of(self, envelope: Envelope, read: _Read) -> _Read | None:
        """What was read, where it is a change of a row or a row of a snapshot."""
        body = envelope.body
        operation = self._vocabulary.operation(body["op"])
        if operation not in _OPERATIONS or not (body["after"] or operation == "delete"):
            return None
        envelope.operation, envelope.source = operation, read_source(body["source"])
        return read

    def _row_in(
        self, raw: bytes, schema: ReadSchema | None, envelope: Envelope, *, is_bare: bool
    ) -> OutOfEnvelope | None:
        """A row without an envelope; None of an object that is none, or that holds others."""
        if self._put_back is None:
            return None
        row = _columns(raw)
        if not json_values.is_as_read(raw, len(row)) or (is_bare and is_line_of_dump(row)):
            return None
        return self._put_back(row, None if schema is None else schema.document, envelope)

    def _take_body(self, envelope: Envelope, body: _Body) -> bool:
        """Take the fields of an envelope; False where an image is none."""
        before, after = self._image(body.before), self._image(body.after)
        if before is None or after is None:
            return False
        envelope.body = {
            "op": body.op,
            "source": body.source,
            "before": before,
            "after": after,
            "ts_ms": body.ts_ms,
            "transaction": body.transaction,
        }
        return True

    def _image(self, given: _Image) -> Mapping[str, Any] | None:
        """An image, empty where there is none; None for a text that is no word for nothing."""
        if type(given) is str:
            return {} if self._vocabulary.means_nothing(given) else None
        return given or {}  # type: ignore[return-value]

    def _take_key(self, envelope: Envelope, key: bytes | None) -> ReadSchema | None:
        """Read the message's key; it stays unknown where it has to be judged. Returns its schema."""
        if key is None:
            envelope.key = NO_KEY if envelope.message.is_keyless else UNKNOWN_KEY
            return None
        schema, raw = self._documents.parts(key)
        values = _columns(raw)
        is_plain = values and json_values.is_as_read(raw, len(values))
        if is_plain and (schema is not None or not values.keys() <= _WRAPPED):
            envelope.key = Key(values, None if schema is None else schema.fields)
        return schema

    def _shape(self, read: _Read, told: Told) -> _Known | None:
        """What is known of all records that are like this one."""
        envelope, row_schema, key_schema = read.envelope, read.row_schema, read.key_schema
        body, key, position = envelope.body, envelope.key, told.entry.log_position
        described = (
            (row_schema, key_schema, key.is_none, key.values is None, envelope.operation),
            (envelope.is_snapshot, len(position), told.entry.varying, told.decides),
            (envelope.source[1:4], read.added),
            (*(key.values or ()), _SEPARATOR, *body["before"], _SEPARATOR, *body["after"]),
        )
        known = self._known.get(described)
        if known is None and described not in self._known:
            if len(self._known) >= _MOST_SHAPES:
                # A stream may have rows of any columns.
                self._known.clear()
            known = self._known[described] = self._new(read)
        return known

    def _new(self, read: _Read) -> _Known | None:
        envelope = read.envelope
        before, after = envelope.body["before"], envelope.body["after"]
        rows = self._images.rows_of(envelope.source[1:4], read.row_fields)
        if unsaid_columns(envelope.key.values or {}, Images(before, after), rows):
            # A column's value stands in the key.
            return None
        return _Known(
            Shape((*before,), (*after,)),
            rows.texts_of(before),
            rows.texts_of(after),
            rows.placeholders,
        )


def _is_of_container(record: BronzeRecord) -> bool:
    return avro_containers.schema_of(record.header) is not None


def _take_row(envelope: Envelope, row: OutOfEnvelope | None) -> bool:
    """Take the envelope of a row that came without one; False where there is none."""
    if row is not None:
        envelope.body = {**_NO_FIELDS, **row.body}
    return row is not None


def _holds_objects(*images: Mapping[str, Any]) -> bool:
    return any(type(value) is dict for image in images for value in image.values())


def _names_of(body: _Body) -> int:
    """How many names an envelope has, but for its images, where no value is an object."""
    found = 2 + len(body.source)
    for one in (body.before, body.after, body.ts_ms, body.ts_us, body.ts_ns, body.transaction):
        found += one is not msgspec.UNSET
    return found + (len(body.transaction) if body.transaction else 0)


def _deeper(body: _Body, before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """How many names there are in values that are objects."""
    inner = (body.source, before, after, body.transaction or {})
    return sum(json_values.names_in([*one.values()]) for one in inner)


def _backslashes(source: Mapping[str, Any]) -> int:
    """How many backslashes a source has at least: Postgres's ``sequence`` is JSON in a text."""
    sequence = source.get("sequence")
    return sequence.count('"') if type(sequence) is str else 0
