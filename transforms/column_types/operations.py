"""Attribute operations: which ones a column can take, and what its value becomes by them, by its type.

Everything here is canonical texts in, canonical text out: a change's images are such texts, and so is the row that is
being folded. docs/change_model.md has the table of operations and types.

Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job" (reducers).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from transforms.column_types.column_type import ColumnType, Judge
from transforms.column_types.nested import Array, Map, Nested
from transforms.column_types.numbers import (
    DecimalNumber,
    FloatingNumber,
    WholeNumber,
    number_in_json,
)
from transforms.column_types.registry import UNSIGNED, column_type
from transforms.column_types.texts import Boolean, String
from transforms.column_types.times import Date, Timestamp
from transforms.json_values import as_text, read, written

OVERWRITE, IF_NEW = "Overwrite", "IgnoreIfExisted"

Operation: TypeAlias = "Callable[[str, str], str | None]"
"""From the column's text before and the operand's to its text after; None for null."""

_EXACT: Final = Context(prec=100)
"""More digits than any two decimals of Spark's have together."""

_LARGEST_SINGLE: Final = 3.4028235677973366e38
"""The middle between the largest number of 32 bits and the next that there would be: from here on it is infinity."""
_SINGLE: Final = struct.Struct("<f")


@lru_cache(maxsize=1024)
def fitting(type_name: str) -> tuple[str, ...]:
    """The operations that a column of this type can take."""
    return (OVERWRITE, IF_NEW, *_operations(column_type(type_name)))


def applied(type_name: str, operation: str, old: str | None, new: str | None) -> str | None:
    """The column's text after the operation; ``IgnoreIfExisted`` is the row's affair and not decided here."""
    compute = _operations(column_type(type_name)).get(operation)
    if compute is None:
        return new
    if new is None:
        return old
    if old is None:
        return None if operation == "Minus" else new
    return compute(old, new)


@lru_cache(maxsize=1024)
def _operations(kind: ColumnType) -> Mapping[str, Operation]:
    match kind:
        case WholeNumber():
            return _of_whole_numbers(lambda number: _wrapped(number, kind.bits))
        case DecimalNumber():
            if kind.name == UNSIGNED:
                return _of_whole_numbers(lambda number: number % 2**64)
            return _of_decimals(kind.judge)
        case FloatingNumber():
            return _of_floating(kind)
        case Boolean():
            return {
                "And": lambda old, new: old if new == "true" else new,
                "Or": lambda old, new: new if new == "true" else old,
            }
        case String():
            # Spark compares texts byte by byte.
            in_bytes = _extremes(lambda text: text.encode("utf-8"))
            return {"Add": lambda old, new: old + new, **in_bytes}
        case Array():
            return _of_lists(kind.judge)
        case Map():
            return _of_maps(kind)
        case Date() | Timestamp():
            # All years have four digits, and no fraction ends with a zero.
            return _extremes(lambda text: text)
    return {}


def _extremes(value: Callable[[str], Any]) -> dict[str, Operation]:
    """The larger and the smaller of two; the old one where neither is."""
    return {
        "Max": lambda old, new: new if value(new) > value(old) else old,
        "Min": lambda old, new: new if value(new) < value(old) else old,
    }


def _of_whole_numbers(kept: Callable[[int], int]) -> dict[str, Operation]:
    """``kept``: what a machine of the type's width keeps of a number."""
    return {
        "Add": lambda old, new: str(kept(int(old) + int(new))),
        "Minus": lambda old, new: str(kept(int(old) - int(new))),
        **_extremes(int),
        "And": lambda old, new: str(int(old) & int(new)),
        "Or": lambda old, new: str(int(old) | int(new)),
    }


def _wrapped(number: int, bits: int) -> int:
    """What a signed number of so many bits keeps of a number: it wraps around."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def _of_decimals(judge: Judge) -> dict[str, Operation]:
    """What the column's own width cannot hold is null."""
    return {
        "Add": lambda old, new: judge(f"{_EXACT.add(Decimal(old), Decimal(new)):f}"),
        "Minus": lambda old, new: judge(f"{_EXACT.subtract(Decimal(old), Decimal(new)):f}"),
        **_extremes(Decimal),
    }


def _of_floating(kind: FloatingNumber) -> dict[str, Operation]:
    """Every step is rounded to the column's own width."""
    # A text is the shortest that is nearest to a number of 32 bits, and not the number itself.
    rounded = _single if kind.bits == 32 else float

    def spelled(number: float) -> str | None:
        return kind.judge(repr(rounded(number)))

    def order(text: str) -> tuple[bool, float]:
        number = float(text)
        # What is no number is larger than all numbers.
        return (True, 0.0) if math.isnan(number) else (False, number)

    return {
        "Add": lambda old, new: spelled(rounded(float(old)) + rounded(float(new))),
        "Minus": lambda old, new: spelled(rounded(float(old)) - rounded(float(new))),
        **_extremes(order),
    }


def _single(number: float) -> float:
    """The number of 32 bits that is nearest: of two such, the sum in 64 bits is exact enough to be rounded again."""
    if abs(number) >= _LARGEST_SINGLE:
        return math.copysign(math.inf, number)
    return float(_SINGLE.unpack(_SINGLE.pack(number))[0])


def _of_lists(judge: Judge) -> dict[str, Operation]:
    """The operations of an array or a set: elements are added, or taken away wherever they are equal."""

    def without(old: str, new: str) -> str | None:
        gone = {_compared(one) for one in read(new) if one is not None}
        return judge(
            written([one for one in read(old) if one is None or _compared(one) not in gone])
        )

    # The judge of a set sorts its elements, and leaves out repeats.
    return {"Add": lambda old, new: judge(written(read(old) + read(new))), "Minus": without}


def _compared(value: object) -> str:
    """By what elements are compared: there is one zero."""
    text = written(value)
    return "0.0" if text == "-0.0" else text


def _of_maps(kind: Map) -> dict[str, Operation]:
    """The operations of a map: entries are added, replaced, or taken away by their keys."""
    judge, add_values = kind.judge, _sum_of(kind.item)

    def put(old: str, new: str) -> str | None:
        other = read(new)
        kept = {name: one for name, one in read(old).items() if name not in other}
        return judge(written(kept | other))

    def added(old: str, new: str) -> str | None:
        if add_values is None:
            return put(old, new)
        found: dict[str, Any] = read(old)
        for name, other in read(new).items():
            one = found.get(name)
            if one is not None and other is not None:
                found[name] = add_values(one, other)
            else:
                found[name] = one if other is None else other
        return judge(written(found))

    def without(old: str, new: str) -> str | None:
        gone = read(new)
        return judge(written({name: one for name, one in read(old).items() if name not in gone}))

    return {"Add": added, "ReplaceOrAdd": put, "Minus": without}


def _sum_of(kind: ColumnType) -> Callable[[Any, Any], Any] | None:
    """How two JSON values under one key of a map are added: numbers are summed, texts joined; None for others."""
    add = None if isinstance(kind, Nested) else _operations(kind).get("Add")
    if add is None:
        return None
    is_text = isinstance(kind, String)

    def both(one: Any, other: Any) -> Any:
        text = add(as_text(one) or "", as_text(other) or "")
        if text is None:
            # A sum that the type cannot hold: the last one counts.
            return other
        return text if is_text else number_in_json(text)

    return both
