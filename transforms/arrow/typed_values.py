"""Typed values as Arrow arrays: what a canonical text of silver is as a value of a declared type.

The same for Spark is in ``assets/columns/types.py``; a test holds the two together.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from transforms.json_values import read
from transforms.value_types.type_names import element, entries, fields

_Value: TypeAlias = "Callable[[Any], Any]"

_SIMPLE: Final = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
AS_THEY_ARE: Final = ("tinyint", "smallint", "int", "bigint")
"""Types of which Arrow's cast to string gives the canonical text."""


@lru_cache(maxsize=4096)
def arrow_type(type_name: str) -> pa.DataType:
    """The Arrow type of a declared type; a set is an array."""
    if (inner := element(type_name)) is not None:
        return pa.list_(pa.field("element", arrow_type(inner)))
    if pair := entries(type_name):
        return pa.map_(arrow_type(pair[0]), arrow_type(pair[1]))
    if (named := fields(type_name)) is not None:
        return pa.struct([pa.field(name, arrow_type(kind)) for name, kind in named.items()])
    name = "".join(type_name.lower().split())
    if name.startswith("decimal"):
        precision, scale = name.removeprefix("decimal(").rstrip(")").split(",")
        return pa.decimal128(int(precision), int(scale))
    return _SIMPLE[name]


def typed(texts: Sequence[str | None], type_name: str) -> pa.Array:
    """The values of canonical texts in the declared type.

    Raises:
        ValueError: A text is not a canonical text of this type.
    """
    value = _value_of_text(type_name)
    return pa.array(
        [None if text is None else value(text) for text in texts], arrow_type(type_name)
    )


def typed_array(texts: pa.Array, type_name: str) -> pa.Array:
    """``typed`` of an array of texts: by Arrow's own casts where these read canonical texts as the same values.

    Raises:
        ValueError: A text is not a canonical text of this type.
    """
    name = "".join(type_name.lower().split())
    kind = arrow_type(type_name)
    if name == "string":
        return texts
    if name in (*AS_THEY_ARE, "boolean", "date", "timestamp_ntz") or name.startswith("decimal"):
        return pc.cast(texts, kind)
    if name == "timestamp":
        return pc.cast(texts, pa.timestamp("us")).cast(kind)
    return typed(texts.to_pylist(), type_name)


@lru_cache(maxsize=4096)
def _value_of_text(type_name: str) -> _Value:
    if element(type_name) is not None or entries(type_name) or fields(type_name) is not None:
        of_json = _value_of_json(type_name)
        return lambda text: of_json(read(text))
    name = "".join(type_name.lower().split())
    if name in AS_THEY_ARE:
        return int
    if name in ("float", "double"):
        return float
    if name.startswith("decimal"):
        return Decimal
    return _OF_TEXTS[name]


_OF_TEXTS: Final[dict[str, _Value]] = {
    "string": lambda text: text,
    "boolean": lambda text: {"true": True, "false": False}[text],
    "binary": lambda text: b64decode(text, validate=True),
    "date": date.fromisoformat,
    "timestamp": lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC),
    "timestamp_ntz": datetime.fromisoformat,
}


@lru_cache(maxsize=4096)
def _value_of_json(type_name: str) -> _Value:
    """From what JSON has in place of a value of the type."""
    if (inner := element(type_name)) is not None:
        one = or_null(_value_of_json(inner))
        return lambda value: [one(part) for part in value]
    if pair := entries(type_name):
        key, item = _value_of_text(pair[0]), or_null(_value_of_json(pair[1]))
        return lambda value: [(key(name), item(part)) for name, part in value.items()]
    if (named := fields(type_name)) is not None:
        each = {name: or_null(_value_of_json(kind)) for name, kind in named.items()}
        return lambda value: {name: part(value[name]) for name, part in each.items()}
    name = "".join(type_name.lower().split())
    if name == "boolean":
        return lambda value: value
    if name == "timestamp":
        return lambda value: datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=UTC)
    of_text = _value_of_text(type_name)
    return lambda value: of_text(str(value))


def or_null(value: _Value) -> _Value:
    """``value``, for values that may be null."""
    return lambda part: None if part is None else value(part)


def rows_at(table: pa.Table, places: Iterable[int]) -> pa.Table:
    """The rows with these numbers, counted from 0."""
    return table.take(pa.array([*places], pa.int64()))
