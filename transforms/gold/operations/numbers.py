"""Attribute operations of numbers: sums, the larger and the smaller of two, and bits.

Put here what is computed with two numbers of one type. Not here: which type has which operations (``applied``), and
lists and maps of numbers (``containers``).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, Final, TypeAlias

from transforms.types import judge_of

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
