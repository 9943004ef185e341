"""Texts and the floating numbers of Spark SQL, of 64 and of 32 bits.

Only the digits 0 to 9 are digits here; Python and Java know those of other scripts, too. Put here which texts such a
number has, and in which one it is written. Not here: whole numbers and decimals (``numbers``), and which type a column
has (``types``).
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from typing import Final

from transforms.value_types.numbers import CONTROLS, DECIMAL_PARTS

_BLANKS: Final = " \t\n\v\f\r"

_FLOATING: Final = re.compile(
    r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
).fullmatch
_NOT_ZERO: Final = re.compile(r"[^eE1-9]*+[1-9]").match

_NAMED: Final = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), "Infinity"),
    **dict.fromkeys(("-inf", "-infinity"), "-Infinity"),
    "nan": "NaN",
}
_BEYOND_SINGLE: Final = 2.0**128
_SMALLEST_OF_SIX: Final = 1e-37
_SINGLE: Final = struct.Struct("<f")


def double(value: str | bytes) -> str | None:
    """The judge of floating numbers of 64 bits.

    A number that is too large or too small for them does not fit: only a text that says so is infinity, and only zeros
    are zero. Everything else is rounded to the nearest, as Java and Python do alike.

    The text is the shortest that is nearest to the value and to no other, as Java's ``Double.toString`` writes it since
    19 (JDK-4511638). Java 17 writes the same for 0 and all sizes from 1e-300 to 2**53; beyond, it may write more digits
    than needed, which are read as the same value.
    """
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    if _FLOATING(text) is None:
        text = text.strip(_BLANKS)
        if _FLOATING(text) is None:
            return _named(text)
    number = float(text)
    if 1e-3 <= number < 1e7:
        return repr(number)
    if math.isinf(number) or (not number and _NOT_ZERO(text)):
        return None
    return _spelled(number, repr(number))


def single(value: str | bytes) -> str | None:
    """The judge of floating numbers of 32 bits; see ``double``. Java 17's texts are the same from 1e-37 to 2**24."""
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    text = text.strip(_BLANKS)
    if _FLOATING(text) is None:
        return _named(text)
    if len(text) <= 7 and 1e-3 <= abs(float(text)) < 1e7:
        # Six digits survive 32 bits, and so does every whole number of seven.
        return repr(float(text))
    number = _nearest_single(text)
    if abs(number) >= _BEYOND_SINGLE or (not number and _NOT_ZERO(text)):
        return None
    # The smallest numbers have fewer than six digits.
    for digits in range(5 if abs(number) > _SMALLEST_OF_SIX else 1, 9):
        shortest = f"{number:.{digits}e}"
        if _nearest_single(shortest) == number:
            break
    return _spelled(number, shortest)


def _named(text: str) -> str | None:
    """Infinity and what is no number, by their names."""
    text = text.rstrip(CONTROLS)
    return "NaN" if text in ("+NaN", "-NaN") else _NAMED.get(text.lower())


def _nearest_single(text: str) -> float:
    """The number of 32 bits that is nearest to what the text says; ``_BEYOND_SINGLE`` or more beyond the largest."""
    number = float(text)
    if abs(number) > _BEYOND_SINGLE:
        return number
    lower, upper = (_rounded(math.nextafter(number, end)) for end in (-math.inf, math.inf))
    if lower == upper:
        return _rounded(number)
    # Rounded to 64 bits first, the text may seem to lie in the middle between two numbers of 32 bits.
    middle, exact = Decimal((lower + upper) / 2), Decimal(text)
    return _rounded(number) if exact == middle else lower if exact < middle else upper


def _rounded(number: float) -> float:
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(number))[0])
    except OverflowError:
        return math.copysign(_BEYOND_SINGLE, number)


def _spelled(number: float, shortest: str) -> str:
    """A number as Java writes it; ``shortest``: its digits, with or without an exponent, as Python does."""
    if 1e-3 <= abs(number) < 1e7:
        return shortest if "e" not in shortest else repr(float(shortest))
    if not number:
        return "-0.0" if math.copysign(1.0, number) < 0 else "0.0"
    if abs(number) < 1e-320 and float(nearer := f"{number:.1e}") == number:
        # Of one digit Java writes two, those that are nearest: 4.9E-324 and not 5.0E-324.
        shortest = nearer
    written = DECIMAL_PARTS.fullmatch(shortest)
    assert written is not None
    sign, before, after, exponent = written.groups(default="")
    digits = (before + after).rstrip("0")
    power = len(before) - 1 + int(exponent or 0)
    first = digits.lstrip("0")
    power -= len(digits) - len(first)
    return f"{sign}{first[0]}.{first[1:] or '0'}E{power}"
