"""Reads messages into envelopes, whichever way they are wrapped.

Put here how a message's envelope, key and schema are found. Not here: what an envelope holds (``envelopes``), what its
parts mean (``images``, ``places``, ``events``), and how a single JSON document is read (``documents``).
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
"""From a message that is no envelope to one; None for a message that is none of its kind."""

_VALUE: Final = frozenset({"op", "source"})
"""What a value has, and a key has not."""

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
            said.source = sources.read_source(body.get("source"))
            return True
        else:
            said.fault = Fault("malformed_json", "the message is no JSON object")
        return False


def _is_key(schema: Any) -> bool:
    name = schema.get("name") if type(schema) is dict else None
    return type(name) is str and name.endswith("Key")
