"""Texts as typed plain Python values, and what the attribute operations make of them.

Integers are int, decimals Decimal, float and double float, texts str; dates and timestamps stay
texts ("2024-02-29 12:30:00"), which sort as time does. An array is a list, a set a sorted list
without repeats, a map a dict; null is None.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

WIDTHS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_CLASSES = {
    **dict.fromkeys(WIDTHS, "integer"), "float": "floating", "double": "floating",
    "boolean": "boolean", "string": "string", "date": "time", "timestamp": "time",
    "decimal": "decimal", "array": "array", "set": "set", "map": "map",
}  # fmt: skip
_NUMBERS = {"integer", "decimal", "floating"}
# The table of docs/change_model.md, without IgnoreIfExisted, which fits every type.
FITS = {
    "Add": _NUMBERS | {"string", "array", "set", "map"},
    "Minus": _NUMBERS | {"array", "set", "map"},
    "Max": _NUMBERS | {"string", "time"},
    "Min": _NUMBERS | {"string", "time"},
    "And": {"integer", "boolean"},
    "Or": {"integer", "boolean"},
    "ReplaceOrAdd": {"map"},
}
_SCALAR = r"\w+(?:\(\d+,\s*\d+\))?"
_NESTED = re.compile(rf"(array|set|map)<({_SCALAR})(?:,\s*({_SCALAR}))?>")
_WIDE = Context(prec=80)  # Python's own 28 digits would round what Spark's 38 hold


@lru_cache
def parts_of(type_name: str) -> tuple[str, ...]:
    """The name of a type, and those of its parts: ("map", "string", "bigint"), ("int",)."""
    nested = _NESTED.fullmatch(type_name)
    return tuple(part for part in nested.groups() if part) if nested else (type_name,)


def class_of(type_name: str) -> str:
    """The column of the table of attribute operations to which a type belongs."""
    return _CLASSES[parts_of(type_name)[0].partition("(")[0]]


def typed(text: str | None, type_name: str) -> object:
    """The value that a text means in a declared type."""
    if text is None:
        return None
    outer, *inner = parts_of(type_name)
    if not inner:
        return scalar(text, outer)
    # Numbers stay texts until their own type reads them, so that no digit is lost.
    document = json.loads(text, parse_int=str, parse_float=str)
    if outer == "map":
        return {typed(key, inner[0]): _element(document[key], inner[1]) for key in document}
    elements = [_element(element, inner[0]) for element in document]
    return elements if outer == "array" else as_set(elements)


def _element(element: str | bool | None, type_name: str) -> object:
    return element if isinstance(element, bool) else typed(element, type_name)


@lru_cache(maxsize=100_000)
def scalar(text: str, type_name: str) -> object:
    """The value of a type that is not made of parts, read from its text."""
    kind = class_of(type_name)
    if kind == "integer":
        return int(text)
    if kind == "decimal":
        scale = int(type_name.rstrip(")").partition(",")[2])
        return Decimal(text).quantize(Decimal(1).scaleb(-scale), context=_WIDE)
    if kind == "floating":
        return rounded(float(text), type_name)
    return text == "true" if kind == "boolean" else text


def as_set(elements: Iterable[Any]) -> list[Any]:
    """A set as it is kept: sorted, without repeats."""
    return sorted(set(elements))


def wrapped(number: int, type_name: str) -> int:
    """The number as a machine integer of the type's width holds it."""
    half: int = 1 << (WIDTHS[type_name] - 1)
    return (number + half) % (2 * half) - half


def rounded(number: float, type_name: str) -> float:
    """The number as the type holds it: Python's own floats are doubles."""
    if type_name == "double":
        return number
    narrow: float = struct.unpack("f", struct.pack("f", number))[0]
    return narrow


def operated(operation: str, old: object, new: object, type_name: str) -> object:
    """What a column of a present row becomes by an operation that the update names."""
    if operation == "IgnoreIfExisted":
        return old  # a null, too: what counts is that the row was there
    kind = class_of(type_name)
    if kind not in FITS[operation]:
        raise ValueError(f"{operation} does not fit {type_name}")
    if new is None:
        return old
    if old is None:
        return None if operation == "Minus" else new
    by_operation: dict[str, Callable[[Any, Any, str], object]] = {
        "Add": _add, "Minus": _minus,
        "Max": lambda old, new, _: max(old, new),
        "Min": lambda old, new, _: min(old, new),
        "And": lambda old, new, _: old & new,
        "Or": lambda old, new, _: old | new,
        "ReplaceOrAdd": lambda old, new, _: old | new,
    }  # fmt: skip
    return by_operation[operation](old, new, type_name)


def _add(old: Any, new: Any, type_name: str) -> object:
    kind = class_of(type_name)
    if kind == "set":
        return as_set(old + new)
    if kind == "map":
        of_value = parts_of(type_name)[2]
        if class_of(of_value) not in _NUMBERS | {"string"}:
            return old | new
        return old | {
            key: operated("Add", old[key], new[key], of_value) if key in old else new[key]
            for key in new
        }
    return _number(old + new, type_name) if kind != "decimal" else _WIDE.add(old, new)


def _minus(old: Any, new: Any, type_name: str) -> object:
    kind = class_of(type_name)
    if kind in ("array", "set"):
        return [element for element in old if element not in new]
    if kind == "map":
        return {key: old[key] for key in old if key not in new}
    return _number(old - new, type_name) if kind != "decimal" else _WIDE.subtract(old, new)


def _number(result: Any, type_name: str) -> object:
    """A sum or a difference in its type's own width; joined texts and arrays as they are."""
    if type_name in WIDTHS:
        return wrapped(result, type_name)
    return rounded(result, type_name) if class_of(type_name) == "floating" else result
