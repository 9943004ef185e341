"""Reads messages into envelopes, whichever way they are wrapped.

Put here how a message's envelope, key and schema are found. Not here: what an envelope holds (``envelopes``), what its
parts mean (``images``, ``log_entries``, ``events``), and how a single JSON document is read (``documents``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from transforms.families.connect import keys, schemas, sources
from transforms.families.connect.documents import DocumentReader
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_message import KafkaMessage
from transforms.fault import Fault
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord

Adapt: TypeAlias = Callable[[Mapping[str, Any], BronzeRecord], "Mapping[str, Any] | None"]
"""Turns a JSON object that is no envelope into one; None where the object is not of the kind that this function
knows."""

_ENVELOPE_FIELDS: Final = frozenset({"op", "source"})
"""Fields that every envelope has and no message key has."""

_TEXT: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_ESCAPED: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


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
        envelope = Envelope(message, record)
        if record.defect is not None:
            envelope.fault = Fault("damaged_record", record.defect)
        elif not message.is_utf8:
            envelope.fault = Fault("invalid_utf8", "the value is not valid UTF-8")
        elif message.is_null:
            envelope.is_tombstone = True
        else:
            self._read_value(envelope)
        return envelope

    def _read_value(self, envelope: Envelope) -> None:
        try:
            document = self._document(envelope.message)
        except MalformedJson as why:
            envelope.is_tombstone = self._vocabulary.means_nothing(envelope.message.text)
            if not envelope.is_tombstone:
                no_document = "not one JSON document, or a name stands twice in one object"
                envelope.fault = Fault("malformed_json", f"{no_document}: {why}")
            return
        if type(document) is dict:
            adapted = None if self._adapt is None else self._adapt(document, envelope.record)
            self._read_object(envelope, document if adapted is None else adapted)
        else:
            self._take(envelope, document)

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

    def _read_object(self, envelope: Envelope, document: Mapping[str, Any]) -> None:
        """Read a JSON object in any of its three forms.

        Key and value are numbered in one object (Arcion's first generation), or a payload stands beside its schema, or
        the object is the envelope itself.
        """
        if "payload_2" in document:
            if self._take(envelope, document["payload_2"], may_be_nothing=False):
                key = (document.get("schema_1"), document.get("payload_1"))
                envelope.key = keys.key_of_parts(*key, self._vocabulary)
                envelope.row_fields = schemas.row_fields(document.get("schema_2"))
            return
        is_wrapped = "payload" in document and "op" not in document
        if self._take(envelope, document["payload"] if is_wrapped else document):
            schema = document.get("schema")
            header = envelope.record.header
            envelope.key = keys.of_message(
                envelope.message, header, self._documents, self._vocabulary
            )
            envelope.row_fields = schemas.row_fields(schema)
            envelope.is_lone_key = (
                is_wrapped and _is_key(schema) and envelope.body.keys().isdisjoint(_ENVELOPE_FIELDS)
            )

    def _take(self, envelope: Envelope, body: Any, *, may_be_nothing: bool = True) -> bool:
        """Take what stands in the envelope's place; False where it is none."""
        if may_be_nothing and self._vocabulary.means_nothing(body):
            envelope.is_tombstone = True
        elif type(body) is dict:
            envelope.body = body
            envelope.operation = self._vocabulary.operation(body.get("op"))
            envelope.source = sources.read_source(body.get("source"))
            return True
        else:
            envelope.fault = Fault("malformed_json", "the message is no JSON object")
        return False


def _is_key(schema: Any) -> bool:
    name = schema.get("name") if type(schema) is dict else None
    return type(name) is str and name.endswith("Key")
