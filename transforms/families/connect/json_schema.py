"""A JSON Schema, as Confluent's JsonSchemaConverter registers them, as the schema that Kafka Connect's JSON has.

Only what says the types of columns is read; nothing is validated, and what is of another shape says nothing.

Vendor: Confluent, JsonSchemaData.java (``connect.type``, ``connect.index``, ``connect.parameters``, ``title``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transforms import json_values
from transforms.families.whole_numbers import whole
from transforms.json_values import MalformedJson

_TYPES: Final = {
    "integer": "int64",
    "number": "float64",
    "boolean": "boolean",
    "string": "string",
    "object": "struct",
    "array": "array",
}
_DEEPEST: Final = 32
_LAST: Final = 1 << 31


def connect_schema(text: str) -> dict[str, Any] | None:
    """Kafka Connect's schema; None where the text is no JSON Schema of anything."""
    try:
        document = json_values.read(text)
    except MalformedJson:
        return None
    found = _schema(document, document, 0)
    return found if found.get("type") else None


def _schema(one: Any, whole_document: Any, depth: int) -> dict[str, Any]:
    if type(one) is not dict or depth > _DEEPEST:
        return {}
    branches, optional = one.get("oneOf") or one.get("anyOf"), False
    if type(branches) is list:
        real = [
            branch for branch in branches if type(branch) is dict and branch.get("type") != "null"
        ]
        optional = len(real) < len(branches)
        # A union of several types: its values are written as they are.
        one = {**one, **real[0]} if len(real) == 1 else {"type": "object"}
    reference = one.get("$ref")
    if type(reference) is str:
        inner = _schema(_referenced(reference, whole_document), whole_document, depth + 1)
        return {**inner, "optional": optional or inner.get("optional", False)}
    kind, said = one.get("type"), one.get("connect.type")
    found: dict[str, Any] = {
        "type": said if type(said) is str else _TYPES.get(kind) if type(kind) is str else None,
        "optional": optional,
        "name": one.get("title"),
        "parameters": one.get("connect.parameters"),
        "default": one.get("default"),
    }
    if found["type"] == "struct":
        found["fields"] = _fields(one.get("properties"), whole_document, depth)
    if found["type"] == "array":
        found["items"] = _schema(one.get("items"), whole_document, depth + 1)
    return found


def _fields(properties: Any, whole_document: Any, depth: int) -> list[dict[str, Any]]:
    """The fields of a struct in the order that the converter has noted."""
    if type(properties) is not dict:
        return []

    def place(one: Any) -> int:
        index = whole(one.get("connect.index")) if type(one) is dict else None
        return _LAST if index is None else index

    ordered = sorted(properties.items(), key=lambda pair: place(pair[1]))
    return [{**_schema(one, whole_document, depth + 1), "field": name} for name, one in ordered]


def _referenced(reference: str, document: Mapping[str, Any]) -> Any:
    """What a reference within the schema leads to."""
    found: Any = document
    if not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        found = found.get(part) if type(found) is dict else None
    return found
