"""Attribute operations: what a column's value becomes, by operation and declared type.

Everything here is canonical texts in, canonical text out: a change's images are such texts, and so is the row that is
being folded. The table of operations and types is in docs/change_model.md. Not here: the row around the column
(``fold``), and which operations a column can take (``transforms/feed/attribute_operations.py``).

Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job" (reducers).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from transforms.json_values import as_text, read, written
from transforms.types import element, entries, judge_of

Operation: TypeAlias = "Callable[[str, str], str | None]"
"""From the column's text before and the operand's to its text after; None for null."""

_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
UNSIGNED: Final = "decimal(20,0)"
"""How an unsigned number of 64 bits is kept: no type of Spark's is one."""

_EXACT: Final = Context(prec=100)
"""More digits than any two decimals of Spark's have together."""

_LARGEST_SINGLE: Final = 3.4028235677973366e38
"""The middle between the largest number of 32 bits and the next that there would be: from here on it is infinity."""
_SINGLE: Final = struct.Struct("<f")


def applied(type_name: str, operation: str, old: str | None, new: str | None) -> str | None:
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
        return _of_whole_numbers(lambda number: _wrapped(number, _BITS[type_name]))
    if type_name == UNSIGNED:
        return _of_whole_numbers(lambda number: number % 2**64)
    if type_name.startswith("decimal"):
        return _of_decimals(type_name)
    if type_name in ("float", "double"):
        return _of_floating(type_name)
    if type_name == "boolean":
        return {
            "And": lambda old, new: old if new == "true" else new,
            "Or": lambda old, new: new if new == "true" else old,
        }
    if type_name == "string":
        # Spark compares texts byte by byte.
        return {"Add": lambda old, new: old + new, **_extremes(lambda text: text.encode("utf-8"))}
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        # All years have four digits, and no fraction ends with a zero.
        return _extremes(lambda text: text)
    if element(type_name) is not None:
        return _of_lists(type_name)
    return _of_maps(type_name) if entries(type_name) else {}


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
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def _of_decimals(type_name: str) -> dict[str, Operation]:
    """What the column's own width cannot hold is null."""
    judge = judge_of(type_name)
    return {
        "Add": lambda old, new: judge(f"{_EXACT.add(Decimal(old), Decimal(new)):f}"),
        "Minus": lambda old, new: judge(f"{_EXACT.subtract(Decimal(old), Decimal(new)):f}"),
        **_extremes(Decimal),
    }


def _of_floating(type_name: str) -> dict[str, Operation]:
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
        **_extremes(order),
    }


def _single(number: float) -> float:
    """The number of 32 bits that is nearest: of two such, the sum in 64 bits is exact enough to be rounded again."""
    if abs(number) >= _LARGEST_SINGLE:
        return math.copysign(math.inf, number)
    return float(_SINGLE.unpack(_SINGLE.pack(number))[0])


def _of_lists(type_name: str) -> dict[str, Operation]:
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


def _of_maps(type_name: str) -> dict[str, Operation]:
    judge = judge_of(type_name)
    pair = entries(type_name)
    assert pair is not None  # it is a map
    add = _sum_of(pair[1])

    def put(old: str, new: str) -> str | None:
        other = read(new)
        kept = {name: one for name, one in read(old).items() if name not in other}
        return judge(written(kept | other))

    def added(old: str, new: str) -> str | None:
        if add is None:
            return put(old, new)
        found: dict[str, Any] = read(old)
        for name, other in read(new).items():
            one = found.get(name)
            if one is not None and other is not None:
                found[name] = add(one, other)
            else:
                found[name] = one if other is None else other
        return judge(written(found))

    def without(old: str, new: str) -> str | None:
        gone = read(new)
        return judge(written({name: one for name, one in read(old).items() if name not in gone}))

    return {"Add": added, "ReplaceOrAdd": put, "Minus": without}


def _sum_of(type_name: str) -> Callable[[Any, Any], Any] | None:
    """How two values within a map are added: numbers are summed and texts joined; None where the last one counts."""
    if element(type_name) is not None or entries(type_name):
        return None
    add = _operations(type_name).get("Add")
    if add is None:
        return None
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
