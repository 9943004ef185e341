"""The key of a message: the key's columns with their values, bare or as the payload beside their schema.

Put here how a key is read, in whichever form. Not here: what the values mean (``images``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from transforms.families.connect import schemas
from transforms.families.connect.documents import DocumentReader
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_message import KafkaMessage
from transforms.fault import Fault
from transforms.json_values import MalformedJson

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


UNKNOWN: Final = Key()
NONE: Final = Key(is_none=True)


def of_message(
    message: KafkaMessage, header: str | None, reader: DocumentReader, vocabulary: Vocabulary
) -> Key:
    """The key of a record, or else the document of it that stood before the value's in a file (``header``)."""
    if message.is_keyless:
        return NONE
    try:
        return _of_document(message.read_key(reader.read), vocabulary)
    except MalformedJson as why:
        text = message.key
        if text is not None:
            return _of_text(text, why, vocabulary)
    if header is None:
        return UNKNOWN
    try:
        return _of_document(reader.read(header), vocabulary)
    except MalformedJson as why:
        return _of_text(header, why, vocabulary)


def key_of_parts(schema: Any, payload: Any, vocabulary: Vocabulary) -> Key:
    """The key that stands in one object with the value."""
    if vocabulary.means_nothing(payload):
        return Key(None, schemas.fields_of(schema), is_none=True)
    values = payload if type(payload) is dict else None
    return Key(values, schemas.fields_of(schema))


def _of_document(document: Any, vocabulary: Vocabulary) -> Key:
    if type(document) is not dict:
        return NONE if vocabulary.means_nothing(document) else UNKNOWN
    # A column may be called payload, too.
    is_wrapped = document.keys() <= _WRAPPED and (
        document.get("payload") is not None or len(document) == len(_WRAPPED)
    )
    if is_wrapped:
        return key_of_parts(document.get("schema"), document.get("payload"), vocabulary)
    return NONE if vocabulary.means_nothing(document) else Key(document)


def _of_text(text: str, why: MalformedJson, vocabulary: Vocabulary) -> Key:
    if vocabulary.means_nothing(text):
        return NONE
    # Keys of other kinds than JSON's objects are not read, and need not be JSON.
    if not text.lstrip().startswith("{"):
        return UNKNOWN
    return Key(fault=Fault("malformed_key", f"the key begins as a JSON object and is none: {why}"))
