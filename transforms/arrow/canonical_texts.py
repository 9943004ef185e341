"""Typed values in Arrow arrays as canonical texts: the inverse of ``typed_values``."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from transforms.arrow.typed_values import AS_THEY_ARE, or_null
from transforms.json_values import read, written
from transforms.types import judge_of
from transforms.value_types.type_names import element, entries, fields

_Value: TypeAlias = "Callable[[Any], Any]"


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
