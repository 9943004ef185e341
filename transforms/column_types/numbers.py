"""Texts and the numbers of Spark SQL: whole numbers, decimals, and floating numbers of 64 and of 32 bits.

Every judge takes the canonical spelling on a short way, as most sources write it, and everything else on a longer
one. Only the digits 0 to 9 are digits here; Python and Java know those of other scripts, too. No text is handed to
``int()`` before its length is known: Python refuses some thousands of digits, and takes long over many.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Final

CONTROLS: Final = "".join(map(chr, range(0x21)))
"""The blank and all control signs below it, which Java trims around a number."""

_WHOLE: Final = re.compile(r"([+-]?)0*+([0-9]*+)")
DECIMAL_PARTS: Final = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?(?:[eE]([+-]?[0-9]++))?")

_LONGEST: Final = 38
_LARGEST_SCALE: Final = 2**31 - 1
_TOO_MANY: Final = ("1" * (_LONGEST + 1), "")


def integer(largest: int) -> Callable[[str | bytes], str | None]:
    """The judge of the whole numbers from ``-largest - 1`` to ``largest``."""
    longest = len(str(largest))
    # One digit less than the largest has: always within the range.
    canonical = re.compile(rf"0|-?[1-9][0-9]{{0,{longest - 2}}}").fullmatch

    def judge(value: str | bytes) -> str | None:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        if plain := canonical(text):
            return plain[0]
        written = _WHOLE.fullmatch(text.strip(CONTROLS + "\x7f"))
        if written is None or not written[0].strip("+-"):
            return None
        sign, digits = written.groups()
        if len(digits) > longest:
            return None
        number = -int(digits or 0) if sign == "-" else int(digits or 0)
        return str(number) if -largest - 1 <= number <= largest else None

    return judge


def decimal(precision: int, scale: int) -> Callable[[str | bytes], str | None]:
    """The judge of decimals. None is rounded: more digits after the point than the type keeps do not fit."""
    before = precision - scale
    first = rf"(?:0|[1-9][0-9]{{0,{before - 1}}})" if before else "0"
    after = rf"(\.[0-9]{{1,{scale}}})?" if scale else "()"
    # Zero has no sign.
    plain = re.compile(rf"(?:-(?=.*[1-9]))?{first}{after}").fullmatch
    missing = [
        ("." if scale else "") + "0" * scale,
        *("0" * (scale - at) for at in range(scale + 1)),
    ]

    def judge(value: str | bytes) -> str | None:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        if found := plain(text):
            return found[0] + missing[len(found[1] or "")]
        written = DECIMAL_PARTS.fullmatch(text.strip(CONTROLS))
        if written is None:
            return None
        sign, digits, fraction, exponent = written.groups(default="")
        if not digits and not fraction:
            return None
        if exponent:
            digits, fraction = _shifted(digits, fraction, exponent)
        digits, fraction = digits.lstrip("0"), fraction.rstrip("0")
        if len(digits) > before or len(fraction) > scale:
            return None
        spelled = digits or "0"
        if scale:
            spelled += "." + fraction.ljust(scale, "0")
        return f"-{spelled}" if sign == "-" and (digits or fraction) else spelled

    return judge


def _shifted(digits: str, fraction: str, exponent: str) -> tuple[str, str]:
    """The digits before and after the point once the exponent has moved it: too many where no decimal has so many."""
    power = exponent.lstrip("+-").lstrip("0")
    if len(power) > len(str(_LARGEST_SCALE)):
        return _TOO_MANY
    places = len(fraction) + int(power or 0) * (1 if exponent[0] == "-" else -1)
    every = (digits + fraction).lstrip("0")
    significant = every.rstrip("0")
    if not significant:
        # Java counts the digits of 0e40 as it does of any number.
        return ("", "") if -_LONGEST < places <= _LARGEST_SCALE else _TOO_MANY
    places -= len(every) - len(significant)
    if not -_LONGEST < places <= len(significant) + _LONGEST:
        return _TOO_MANY
    if places <= 0:
        return significant + "0" * -places, ""
    significant = significant.rjust(places, "0")
    return significant[:-places], significant[-places:]


# Texts and the floating numbers of Spark SQL, of 64 and of 32 bits.
# Only the digits 0 to 9 are digits here; Python and Java know those of other scripts, too.


_FLOAT_BLANKS: Final = " \t\n\v\f\r"

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
        text = text.strip(_FLOAT_BLANKS)
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
    text = text.strip(_FLOAT_BLANKS)
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
