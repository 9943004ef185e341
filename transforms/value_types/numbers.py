"""Texts and the exact numbers of Spark SQL: whole numbers and decimals.

Every judge takes the canonical spelling on a short way, as most sources write it, and everything else on a longer one.
Only the digits 0 to 9 are digits here; Python and Java know those of other scripts, too. No text is handed to ``int()``
before its length is known: Python refuses some thousands of digits, and takes long over many. Put here how whole
numbers and decimals are judged. Not here: floating numbers (``floats``), and which type a column has (``types``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
