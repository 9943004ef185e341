"""Messages that are not JSON themselves: a schema's id and then its bytes, as converters with a registry write them.

Confluent's wire format is a zero byte, the id in four bytes, and the value, which is Avro's, or JSON where the schema
is JSON Schema, or Protobuf's behind the indexes of its message; Karapace's and Apicurio's converters write the same.
Apicurio's older default has an id of eight bytes: no registry gives an id 0, so that four zeros are the upper half of
such a one. An id may also stand in a header, with the indexes. Records of Avro container files have their schema with
them.

Vendors: Confluent, "Wire format" of its Schema Registry, and HeaderSchemaIdSerializer; Apicurio Registry,
"Configuring Kafka serializers/deserializers" (``apicurio.value.globalId``); Karapace, README.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from transforms import json_values
from transforms.families.connect.avro import AvroSchema
from transforms.families.connect.json_schema import connect_schema
from transforms.families.connect.protobuf import ProtobufSchema
from transforms.families.connect.scalars import Unusable
from transforms.families.kafka_records import KafkaMessage, bare_message, kafka_message, take_name
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord
from transforms.records import avro_containers

AVRO: Final = "AVRO"
JSON: Final = "JSON"
PROTOBUF: Final = "PROTOBUF"

NO_SCHEMA: Final = "no_schema"
MALFORMED: Final = "malformed_avro"
MALFORMED_PROTOBUF: Final = "malformed_protobuf"

_MAGIC: Final = b"\x00"
_GUID: Final = b"\x01"
_CONFLUENT: Final = "__{}_schema_id"
_APICURIO: Final = {"apicurio.{}.globalId": "globalId", "apicurio.{}.contentId": "contentId"}


_Usable: TypeAlias = AvroSchema | ProtobufSchema | dict[str, Any] | None


class Located(NamedTuple):
    """A part of a message in the wire format: the schema's id, and the bytes that it is for.

    ``id`` is a number, ``globalId/7`` or ``contentId/7`` where Apicurio's header says which it is, or ``guid/…``.
    ``indexes``: which message of a schema in Protobuf it is, where the header says that, too.
    """

    id: str
    body: bytes
    indexes: bytes | None = None


def located(
    data: bytes | None, part: str, headers: Sequence[tuple[str, bytes | None]] | None = None
) -> Located | None:
    """Key or value (``part``) in the wire format; None where it is not in it."""
    if data is None:
        return None
    for name, value in headers or ():
        if value is not None and (named := _id_in_header(name, value, part)) is not None:
            return Located(named[0], data, named[1])
    if data[:1] != _MAGIC:
        return None
    for end in (5, 9):
        number = int.from_bytes(data[1:end], "big")
        if number and len(data) >= end:
            return Located(str(number), data[end:])
    return None


def _id_in_header(name: str, value: bytes, part: str) -> tuple[str, bytes | None] | None:
    """The id, and the bytes behind it if there are any."""
    if name == _CONFLUENT.format(part):
        if value[:1] == _MAGIC and len(value) >= 5:
            return str(int.from_bytes(value[1:5], "big")), value[5:] or None
        if value[:1] == _GUID and len(value) >= 17:
            return f"guid/{uuid.UUID(bytes=value[1:17])}", value[17:] or None
    for known, kind in _APICURIO.items():
        if name == known.format(part) and len(value) == 8:
            return f"{kind}/{int.from_bytes(value, 'big')}", None
    return None


def schema_ids(feed: Feed, record: BronzeRecord) -> Iterator[str]:
    """The ids of the schemas that a record has been written with."""
    for part in _parts_of(kafka_message(record, feed), record):
        if part is not None:
            yield part.id
    for name, value in record.headers or ():
        # The other key of a key change.
        if name.startswith("__debezium.") and (found := located(value, "key")) is not None:
            yield found.id


def _parts_of(message: KafkaMessage, record: BronzeRecord) -> tuple[Located | None, Located | None]:
    """Value and key of a message, where they are in the wire format."""
    value, key = message.as_sent
    return located(value, "value", record.headers), located(key, "key", record.headers)


def container_length(schema: str) -> avro_containers.LengthAt:
    """What tells how long the records of a container are."""
    return AvroSchema(schema).length_at


class MessageReader:
    """From a record of bronze to its message, of which key and value are JSON documents afterwards.

    It keeps the schemas that it has gone through. Nothing raises: what cannot be read is a fault of the message.
    """

    __slots__ = ("_feed", "_of_containers", "_registered")

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._registered: dict[str, _Usable | Fault] = {}
        self._of_containers: dict[str, AvroSchema | Fault] = {}

    def read(self, record: BronzeRecord) -> KafkaMessage:
        """The message."""
        of_container = avro_containers.schema_of(record.header)
        if of_container is not None:
            return self._of_container(record, of_container)
        message = kafka_message(record, self._feed)
        value, key = _parts_of(message, record)
        if value is not None:
            self._take(message, value)
        if key is not None and self._feed.schemas is not None:
            self._take_key(message, key)
        return message

    def _of_container(self, record: BronzeRecord, text: str) -> KafkaMessage:
        message = bare_message(record)
        take_name(message, record)
        schema = self._of_containers.get(text)
        if schema is None:
            # One schema is in all records of a file; whoever writes others does not fill the memory.
            schema = self._of_containers[text] = _usable(
                "the container's schema", lambda: AvroSchema(text)
            )
            if len(self._of_containers) > _MOST:
                self._of_containers = {text: schema}
        if isinstance(schema, Fault):
            message.refusal = schema
            return message
        payload = record.payload or b""
        try:
            message.take_document(schema.read(payload))
        except MalformedJson as why:
            # What a person gives in place of a record is JSON.
            if not payload.startswith(b"{"):
                message.refusal = Fault(MALFORMED, f"a record of an Avro container: {why}")
        return message

    def _take(self, message: KafkaMessage, part: Located) -> None:
        if self._feed.schemas is None:
            if part.body.startswith(b"{") and part.body is message.as_sent[0]:
                # JSON whose schema a header names: it can be read without.
                return
            message.refusal = Fault(
                NO_SCHEMA,
                "the record is in the wire format of a schema registry (Avro or Protobuf by Confluent's converters,"
                f" for one): schema id {part.id}. The feed does not say where its schemas are: add"
                " `schemas: {registry: http://host:8081}`, or `schemas: {folder: ./schemas}`, to the feed file",
            )
            return
        try:
            message.take_document(self._document(part))
        except MalformedJson as why:
            message.refusal = self._malformed("value", part, why)
        except _NoSchema as why:
            message.refusal = why.fault

    def _take_key(self, message: KafkaMessage, part: Located) -> None:
        try:
            message.take_key_document(self._document(part))
        except MalformedJson as why:
            message.key_refusal = self._malformed("key", part, why)
        except _NoSchema as why:
            message.key_refusal = why.fault

    def _malformed(self, what: str, part: Located, why: MalformedJson) -> Fault:
        is_protobuf = isinstance(self._registered.get(part.id), ProtobufSchema)
        reason = MALFORMED_PROTOBUF if is_protobuf else MALFORMED
        return Fault(reason, f"the {what}, by schema id {part.id}: {why}")

    def _document(self, part: Located) -> object:
        """The JSON document of a key or a value."""
        known = self._registered.get(part.id, _UNREAD)
        if known is _UNREAD:
            if len(self._registered) > _MOST_REGISTERED:
                self._registered.clear()
            known = self._registered[part.id] = self._schema(part.id)
        if isinstance(known, Fault):
            raise _NoSchema(known)
        if isinstance(known, AvroSchema):
            return known.read(part.body)
        if isinstance(known, ProtobufSchema):
            return known.read(part.body, part.indexes)
        document = json_values.read(part.body)
        return document if known is None else {"schema": known, "payload": document}

    def _schema(self, name: str) -> _Usable | Fault:
        """The schema of an id: Avro's, Protobuf's, or Kafka Connect's for the JSON behind it; None for JSON alone."""
        schemas = self._feed.schemas
        assert schemas is not None  # asked before
        found = schemas.known.get(name)
        if found is None:
            return Fault(
                NO_SCHEMA,
                f"{schemas.place} has no schema with the id {name}, which the record names. Register it there with"
                " this id, or name the registry that the record was written with; then run again",
            )
        if found.kind == JSON:
            return connect_schema(found.text)
        of = f"schema id {name} of {schemas.place}"
        if found.kind == PROTOBUF:
            return _usable(of, lambda: ProtobufSchema(found.text))
        if found.kind == AVRO:
            return _usable(of, lambda: AvroSchema(found.text, found.references))
        return Fault(
            NO_SCHEMA, f"{of} is {shown(found.kind)}: Avro, JSON Schema and Protobuf are read"
        )


_UNREAD: Final = Fault("", "")
_MOST: Final = 100
_MOST_REGISTERED: Final = 10_000
"""Maximum number of schemas that are kept, ids that are of none included: they come from outside."""


class _NoSchema(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.detail)


_S = TypeVar("_S")


def _usable(of: str, read: Callable[[], _S]) -> _S | Fault:
    try:
        return read()
    except Unusable as why:
        return Fault(NO_SCHEMA, f"{of} cannot be used: {why}")
