"""Attribute operations: which a declared type takes, and what a column's value becomes by one.

Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job" (reducers).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from transforms.column_types.judges import element, entries, judge_of
from transforms.json_values import as_text, read, written

OVERWRITE, IF_NEW = "Overwrite", "IgnoreIfExisted"

_SUMS = ("Add", "Minus")
_EXTREMES = ("Max", "Min")
_BIT_OPERATIONS = ("And", "Or")

_BY_TYPE = {
    **dict.fromkeys(
        ("tinyint", "smallint", "int", "bigint"), (*_SUMS, *_EXTREMES, *_BIT_OPERATIONS)
    ),
    # An unsigned number of 64 bits: no type of Spark's is one.
    "decimal(20,0)": (*_SUMS, *_EXTREMES, *_BIT_OPERATIONS),
    **dict.fromkeys(("float", "double"), (*_SUMS, *_EXTREMES)),
    "boolean": _BIT_OPERATIONS,
    "string": ("Add", *_EXTREMES),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), _EXTREMES),
}


@lru_cache(maxsize=1024)
def operations_of_type(type_name: str) -> tuple[str, ...]:
    """The operations that a column of this type can take."""
    return (OVERWRITE, IF_NEW, *_own_operations(type_name))


def _own_operations(type_name: str) -> tuple[str, ...]:
    if type_name in _BY_TYPE:
        return _BY_TYPE[type_name]
    if type_name.startswith("decimal"):
        return (*_SUMS, *_EXTREMES)
    if type_name.startswith(("array<", "set<")):
        return _SUMS
    return ("Add", "ReplaceOrAdd", "Minus") if entries(type_name) else ()


# Attribute operations of numbers: sums, the larger and the smaller of two, and bits.


Operation: TypeAlias = "Callable[[str, str], str | None]"
"""From the column's text before and the operand's to its text after; None for null."""

_EXACT: Final = Context(prec=100)
"""More digits than any two decimals of Spark's have together."""

_LARGEST_SINGLE: Final = 3.4028235677973366e38
"""The middle between the largest number of 32 bits and the next that there would be: from here on it is infinity."""
_SINGLE: Final = struct.Struct("<f")


def extremes(value: Callable[[str], Any]) -> dict[str, Operation]:
    """The larger and the smaller of two; the old one where neither is."""
    return {
        "Max": lambda old, new: new if value(new) > value(old) else old,
        "Min": lambda old, new: new if value(new) < value(old) else old,
    }


def of_whole_numbers(kept: Callable[[int], int]) -> dict[str, Operation]:
    """``kept``: what a machine of the type's width keeps of a number."""
    return {
        "Add": lambda old, new: str(kept(int(old) + int(new))),
        "Minus": lambda old, new: str(kept(int(old) - int(new))),
        **extremes(int),
        "And": lambda old, new: str(int(old) & int(new)),
        "Or": lambda old, new: str(int(old) | int(new)),
    }


def wrapped(number: int, bits: int) -> int:
    """What a signed number of so many bits keeps of a number: it wraps around."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def of_decimals(type_name: str) -> dict[str, Operation]:
    """What the column's own width cannot hold is null."""
    judge = judge_of(type_name)
    return {
        "Add": lambda old, new: judge(f"{_EXACT.add(Decimal(old), Decimal(new)):f}"),
        "Minus": lambda old, new: judge(f"{_EXACT.subtract(Decimal(old), Decimal(new)):f}"),
        **extremes(Decimal),
    }


def of_floating(type_name: str) -> dict[str, Operation]:
    """Every step is rounded to the column's own width."""
    judge = judge_of(type_name)
    # A text is the shortest that is nearest to a number of 32 bits, and not the number itself.
    rounded = _single if type_name == "float" else float

    def spelled(number: float) -> str | None:
        return judge(repr(rounded(number)))

    def order(text: str) -> tuple[bool, float]:
        number = float(text)
        # What is no number is larger than all numbers.
        return (True, 0.0) if math.isnan(number) else (False, number)

    return {
        "Add": lambda old, new: spelled(rounded(float(old)) + rounded(float(new))),
        "Minus": lambda old, new: spelled(rounded(float(old)) - rounded(float(new))),
        **extremes(order),
    }


def _single(number: float) -> float:
    """The number of 32 bits that is nearest: of two such, the sum in 64 bits is exact enough to be rounded again."""
    if abs(number) >= _LARGEST_SINGLE:
        return math.copysign(math.inf, number)
    return float(_SINGLE.unpack(_SINGLE.pack(number))[0])


# Attribute operations of lists, sets and maps.


def of_lists(type_name: str) -> dict[str, Operation]:
    """The operations of an array or a set: elements are added, or taken away wherever they are equal."""
    judge = judge_of(type_name)

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


def of_maps(type_name: str, value_type: str, add: Operation | None) -> dict[str, Operation]:
    """The operations of a map: entries are added, replaced, or taken away by their keys.

    Args:
        type_name: The map's type.
        value_type: The type of its values.
        add: How two values under one key are added; None where the newer one counts.
    """
    judge = judge_of(type_name)
    add_values = None if add is None else _sum_of(value_type, add)

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


def _sum_of(type_name: str, add: Operation) -> Callable[[Any, Any], Any]:
    """How two JSON values of a simple type are added within a map: numbers are summed and texts joined."""
    is_text = type_name == "string"

    def both(one: Any, other: Any) -> Any:
        text = add(as_text(one) or "", as_text(other) or "")
        if text is None:
            # A sum that the type cannot hold: the last one counts.
            return other
        return text if is_text else read(_in_json(text))

    return both


def _in_json(number: str) -> str:
    """A number's canonical text as JSON has it."""
    return f'"{number}"' if number in ("NaN", "Infinity", "-Infinity") else number


# Attribute operations: what a column's value becomes, by operation and declared type.
# Everything here is canonical texts in, canonical text out: a change's images are such texts, and so is the row that
# is being folded. The table of operations and types is in docs/change_model.md.
# Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job"
# (reducers).


_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
UNSIGNED: Final = "decimal(20,0)"
"""How an unsigned number of 64 bits is kept: no type of Spark's is one."""


def apply_operation(type_name: str, operation: str, old: str | None, new: str | None) -> str | None:
    """The column's text after the operation; ``IgnoreIfExisted`` is the row's affair and not decided here."""
    compute = _operations(type_name).get(operation)
    if compute is None:
        return new
    if new is None:
        return old
    if old is None:
        return None if operation == "Minus" else new
    return compute(old, new)


@lru_cache(maxsize=1024)
def _operations(type_name: str) -> Mapping[str, Operation]:
    if type_name in _BITS:
        return of_whole_numbers(lambda number: wrapped(number, _BITS[type_name]))
    if type_name == UNSIGNED:
        return of_whole_numbers(lambda number: number % 2**64)
    if type_name.startswith("decimal"):
        return of_decimals(type_name)
    if type_name in ("float", "double"):
        return of_floating(type_name)
    if type_name == "boolean":
        return {
            "And": lambda old, new: old if new == "true" else new,
            "Or": lambda old, new: new if new == "true" else old,
        }
    if type_name == "string":
        # Spark compares texts byte by byte.
        return {"Add": lambda old, new: old + new, **extremes(lambda text: text.encode("utf-8"))}
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        # All years have four digits, and no fraction ends with a zero.
        return extremes(lambda text: text)
    if element(type_name) is not None:
        return of_lists(type_name)
    pair = entries(type_name)
    return {} if pair is None else of_maps(type_name, pair[1], _sum_within_map(pair[1]))


def _sum_within_map(value_type: str) -> Operation | None:
    """How two values under one key of a map are added; None where the newer one counts."""
    if element(value_type) is not None or entries(value_type):
        return None
    return _operations(value_type).get("Add")
