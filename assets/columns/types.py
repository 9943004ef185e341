"""Canonical texts and typed values, as Spark columns: what a text of silver is as a value of a declared type, and back.

Put here a conversion of single values. In Arrow the same is done by ``transforms/arrow/typed_values`` and
``transforms/arrow/canonical_texts``. Not here: whether a value fits its type, and what its canonical text is
(``transforms/types.py``).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.types import element, entries, is_nested, stored

__all__ = ["AS_JSON", "element", "entries", "stored", "text_of", "typed"]

AS_JSON: Final = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How values are written as JSON: with nulls, and with the microseconds of times, which Spark leaves out by itself."""

_BINARY: Final = "binary"


def typed(text: Column, type_name: str, *, strictly: bool = False) -> Column:
    """The value of a canonical text in the declared type; a set is a sorted array without repeats.

    ``strictly``: a text of a simple type that is not canonical is an error, and not null.
    """
    if _is_binary(type_name):
        return F.unbase64(text)
    if not is_nested(type_name):
        return text.cast(type_name) if strictly else text.try_cast(type_name)
    value = F.from_json(text, _as_json(type_name))
    if type_name.strip().lower().startswith("set"):
        return F.array_sort(F.array_distinct(value))
    pair = entries(type_name)
    if pair and pair[0].lower() != "string":
        keys = F.transform(F.map_keys(value), lambda key: key.try_cast(pair[0]))
        return F.map_from_arrays(keys, F.map_values(value))
    return value


def text_of(value: Column, type_name: str) -> Column:
    """The text of a typed value: what ``types`` reads back as the same value."""
    if is_nested(type_name):
        pair = entries(type_name)
        if pair and pair[0].lower() != "string":
            # Of moments as keys Spark would write the number of microseconds.
            keys = F.transform(F.map_keys(value), lambda key: key.cast("string"))
            value = F.map_from_arrays(keys, F.map_values(value))
        return F.to_json(value, AS_JSON)
    return F.base64(value) if _is_binary(type_name) else value.cast("string")


def _is_binary(type_name: str) -> bool:
    return type_name.strip().lower() == _BINARY


def _as_json(type_name: str) -> str:
    """The type as JSON can write it: a set is an array, the keys of an object are texts."""
    pair = entries(type_name)
    return f"map<string,{pair[1]}>" if pair else stored(type_name)
