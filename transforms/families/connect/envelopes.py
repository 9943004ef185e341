"""A message read into its parts: the envelope, its schema, its key, the table, and why it may be none.

Not here: what the parts mean (``images``, ``places``, ``events``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from transforms.families.connect import keys, schemas, sources
from transforms.families.connect.documents import DocumentReader
from transforms.families.connect.keys import Key
from transforms.families.connect.values.times import since_1970
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_records import KafkaMessage
from transforms.families.whole_numbers import whole
from transforms.fault import Fault
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord

Adapt: TypeAlias = Callable[[Mapping[str, Any], BronzeRecord], "Mapping[str, Any] | None"]
"""From a message that is no envelope to one; None for a message that is none of its kind."""

_VALUE: Final = frozenset({"op", "source"})
"""What a value has, and a key has not."""
_NO_FIELDS: Final[Mapping[str, Any]] = {}
_TEXT: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_ESCAPED: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


class Envelope:
    """What a message says.

    ``body``: the envelope's fields, none where the message is no object; ``source``: what it says of the event's table
    and place. ``operation``: what the source did, None where ``op`` is unknown. ``row_fields``: what Connect's schema
    says of the row's columns, None without one. ``is_tombstone``: only the key is there, for a topic that keeps one
    message per key. ``is_lone_key``: it is a key without its value. ``fault``: why it is no JSON object.
    ``note``: what the format calls a message that says nothing of any row. ``is_snapshot``: whether the format takes
    its row for one that a snapshot read.
    """

    __slots__ = (
        *(
            "body",
            "catalog",
            "fault",
            "is_lone_key",
            "is_snapshot",
            "is_tombstone",
            "key",
            "message",
        ),
        *("note", "operation", "record", "row_fields", "source"),
    )

    def __init__(self, message: KafkaMessage, record: BronzeRecord) -> None:
        self.message = message
        self.record = record
        self.body = _NO_FIELDS
        self.source = sources.UNKNOWN
        self.operation: str | None = None
        self.row_fields: list[Any] | None = None
        self.key: Key = keys.UNKNOWN
        self.is_tombstone = False
        self.is_lone_key = False
        self.fault: Fault | None = None
        self.note: str | None = None
        self.is_snapshot = False

    @property
    def event_at(self) -> int | None:
        """When the source made the change."""
        return since_1970(whole(self.source.fields.get("ts_ms")))

    @property
    def extracted_at(self) -> int | None:
        """When the connector read it."""
        return since_1970(whole(self.body.get("ts_ms")))


class EnvelopeReader:
    """Reads a feed's messages; it keeps the schemas that it has read.

    ``adapt`` makes an envelope of a message that has none.
    """

    __slots__ = ("_adapt", "_documents", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary, adapt: Adapt | None = None) -> None:
        self._vocabulary = vocabulary
        self._adapt = adapt
        self._documents = DocumentReader()

    def read(self, record: BronzeRecord, message: KafkaMessage) -> Envelope:
        """The message in its parts."""
        said = Envelope(message, record)
        if record.defect is not None:
            said.fault = Fault("damaged_record", record.defect)
        elif not message.is_utf8:
            said.fault = Fault("invalid_utf8", "the value is not valid UTF-8")
        elif message.is_null:
            said.is_tombstone = True
        else:
            self._read_value(said)
        return said

    def _read_value(self, said: Envelope) -> None:
        try:
            document = self._document(said.message)
        except MalformedJson as why:
            said.is_tombstone = self._vocabulary.says_nothing(said.message.text)
            if not said.is_tombstone:
                no_document = "not one JSON document, or a name stands twice in one object"
                said.fault = Fault("malformed_json", f"{no_document}: {why}")
            return
        if type(document) is dict:
            adapted = None if self._adapt is None else self._adapt(document, said.record)
            self._read_object(said, document if adapted is None else adapted)
        else:
            self._take(said, document)

    def _document(self, message: KafkaMessage) -> Any:
        """The value's JSON; the vendor's own samples have line breaks within texts, which JSON does not allow."""
        try:
            return message.read(self._documents.read)
        except MalformedJson:
            text = message.text or ""
            mended = _TEXT.sub(lambda found: found[0].translate(_ESCAPED), text)
            if mended == text:
                raise
        return self._documents.read(mended)

    def _read_object(self, said: Envelope, document: Mapping[str, Any]) -> None:
        """Key and value in one object and numbered (Arcion's first generation), or a payload beside its schema.

        Or neither: the message is the envelope itself.
        """
        if "payload_2" in document:
            if self._take(said, document["payload_2"], may_be_nothing=False):
                key = (document.get("schema_1"), document.get("payload_1"))
                said.key = keys.of_parts(*key, self._vocabulary)
                said.row_fields = schemas.row_fields(document.get("schema_2"))
            return
        is_wrapped = "payload" in document and "op" not in document
        if self._take(said, document["payload"] if is_wrapped else document):
            schema = document.get("schema")
            header = said.record.header
            said.key = keys.of_message(said.message, header, self._documents, self._vocabulary)
            said.row_fields = schemas.row_fields(schema)
            said.is_lone_key = (
                is_wrapped and _is_key(schema) and said.body.keys().isdisjoint(_VALUE)
            )

    def _take(self, said: Envelope, body: Any, *, may_be_nothing: bool = True) -> bool:
        """Take what stands in the envelope's place; False where it is none."""
        if may_be_nothing and self._vocabulary.says_nothing(body):
            said.is_tombstone = True
        elif type(body) is dict:
            said.body = body
            said.operation = self._vocabulary.operation(body.get("op"))
            said.source = sources.read(body.get("source"))
            return True
        else:
            said.fault = Fault("malformed_json", "the message is no JSON object")
        return False


def _is_key(schema: Any) -> bool:
    name = schema.get("name") if type(schema) is dict else None
    return type(name) is str and name.endswith("Key")
