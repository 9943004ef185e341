"""Typed values in Arrow arrays, and the canonical texts that silver has for them: each from the other.

The same for Spark is in ``assets/columns/gold.py``; a test holds the two together.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from transforms.column_types.judges import judge_of
from transforms.column_types.type_names import element, entries, fields
from transforms.json_values import read, written

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


# Typed values in Arrow arrays as canonical texts: the inverse of ``typed_values``.


def texts(values: pa.Array | pa.ChunkedArray, type_name: str) -> list[str | None]:
    """The canonical texts of typed values."""
    name = "".join(type_name.lower().split())
    if name == "string":
        return values.to_pylist()  # type: ignore[no-any-return]
    if name in AS_THEY_ARE:
        return values.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    text = _text_of(type_name)
    if pa.types.is_timestamp(values.type):
        values = pc.cast(values, pa.timestamp("us", values.type.tz))
    return [None if one is None else text(one) for one in values.to_pylist()]


@lru_cache(maxsize=4096)
def _text_of(type_name: str) -> Callable[[Any], str]:
    judge = judge_of(type_name)

    def judged(text: str | bytes) -> str:
        found = judge(text)
        assert found is not None  # it is a value of the type
        return found

    if element(type_name) is not None or entries(type_name) or fields(type_name) is not None:
        in_json = _json_of(type_name)
        return lambda value: judged(written(in_json(value)))
    plain = _plain_text(type_name)
    return lambda value: judged(plain(value))


def _plain_text(type_name: str) -> Callable[[Any], str | bytes]:
    """A text from which the judge of a simple type makes the canonical one."""
    name = "".join(type_name.lower().split())
    if name == "boolean":
        return lambda value: "true" if value else "false"
    if name in ("float", "double"):
        return repr
    if name.startswith("decimal"):
        return lambda value: f"{value:f}"
    if name == "binary":
        return lambda value: bytes(value)
    if name in ("timestamp", "timestamp_ntz"):
        return lambda value: value.replace(tzinfo=None).isoformat(sep=" ")
    return str


def _json_of(type_name: str) -> _Value:
    """What the judge of a type that holds others reads in place of a value: lists, dicts, texts and numbers."""
    if (inner := element(type_name)) is not None:
        one = or_null(_json_of(inner))
        return lambda value: [one(part) for part in value]
    if pair := entries(type_name):
        key, item = _text_of(pair[0]), or_null(_json_of(pair[1]))
        return lambda value: {key(name): item(part) for name, part in value}
    if (named := fields(type_name)) is not None:
        each = {name: or_null(_json_of(kind)) for name, kind in named.items()}
        return lambda value: {name: part(value[name]) for name, part in each.items()}
    name = "".join(type_name.lower().split())
    if name == "boolean":
        return lambda value: value
    if name == "binary":
        return lambda value: b64encode(value).decode()
    text = _text_of(type_name)
    if name == "timestamp":
        return lambda value: text(value).replace(" ", "T") + "Z"
    if name.startswith("decimal") or name in ("string", "date", "timestamp_ntz"):
        return text
    return lambda value: read(_number(text(value)))


def _number(text: str) -> str:
    """A number's canonical text as JSON has it."""
    return f'"{text}"' if text in ("NaN", "Infinity", "-Infinity") else text


def key_text(key: Sequence[str | None]) -> str:
    """A key as one text, as Spark writes it."""
    text = judge_of("array<string>")(json.dumps(key, ensure_ascii=False))
    assert text is not None  # a list of texts and nulls
    return text


def key_of_text(text: str) -> tuple[str | None, ...]:
    """The key that ``key_text`` made a text of."""
    return tuple(json.loads(text))
