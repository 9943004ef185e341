"""Whole numbers, decimals and floating numbers.

Every judge takes the canonical spelling on a short way, as most sources write it, and everything else on a longer one.
Only the digits 0 to 9 are digits here; Python and Java know those of other scripts, too. No text is handed to ``int()``
before its length is known: Python refuses some thousands of digits, and takes long over many.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from transforms.column_types.column_type import ColumnType, Judge, Unfit, judged
from transforms.json_values import Number

BASE64: Final = "base64"
"""A decimal is written as the bytes of its unscaled number in base64."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WholeNumber(ColumnType):
    """A whole number of so many ``bits``."""

    bits: int

    @property
    def digits(self) -> int:
        """How many digits the largest has."""
        return len(str(1 << (self.bits - 1)))

    def holds(self, other: ColumnType) -> bool:
        """Fewer bits fit into more."""
        return isinstance(other, WholeNumber) and other.bits < self.bits

    def json_text(self, part: Any) -> str:
        """A number without fraction or exponent; -0 is read as a text, so that floating numbers keep its sign."""
        return judged(number_text(part) if type(part) is int or part == "-0" else None, self.judge)

    def to_json(self, value: Any) -> Any:
        """The number."""
        return value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DecimalNumber(ColumnType):
    """A number of ``precision`` digits, of which ``scale`` stand behind the point."""

    precision: int
    scale: int

    def holds(self, other: ColumnType) -> bool:
        """As many digits before the point, and as many behind it."""
        if isinstance(other, DecimalNumber):
            whole, fraction = other.precision - other.scale, other.scale
        elif isinstance(other, WholeNumber):
            whole, fraction = other.digits, 0
        else:
            return False
        return self.scale >= fraction and self.precision - self.scale >= whole

    def json_text(self, part: Any) -> str:
        """A number, or one in a text. Java writes small ones with an exponent: 1E-7."""
        text = part if type(part) is str and part.strip() == part else number_text(part)
        return str(Decimal(judged(text, self.judge)))

    def order(self, part: Any) -> Any:
        """The number."""
        return Decimal(str(part))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FloatingNumber(ColumnType):
    """A floating number, of 64 ``bits`` or 32. As a map's key and in a set there is one zero, without a sign."""

    bits: int

    @property
    def key_judge(self) -> Judge:
        """The judge, for which there is one zero."""
        judge = self.judge
        return lambda value: "0.0" if (text := judge(value)) == "-0.0" else text

    @property
    def is_respelled(self) -> bool:
        """Java 17 writes large ones with more digits than they need."""
        return True

    def json_text(self, part: Any) -> str:
        """A number, or the name of infinity or of what is no number, in quotes."""
        if type(part) is not str:
            return judged(number_text(part), self.judge)
        if part not in _NAMED_IN_JSON:
            raise Unfit
        return f'"{_NAMED_IN_JSON[part]}"'

    def to_json(self, value: Any) -> Any:
        """The number in its canonical digits, or its name."""
        return number_in_json(self.canonical(value))

    def order(self, part: Any) -> Any:
        """The number; what is none comes last."""
        return (part == "NaN", 0.0 if part == "NaN" else float(part))


def whole(name: str, arrow: pa.DataType, alias: str, connect: str, *, bits: int) -> WholeNumber:
    """The type of the whole numbers of so many bits, by its names here, in other SQL and in Connect's schemas."""
    return WholeNumber(
        *(name, arrow, integer(2 ** (bits - 1) - 1), (alias,) if alias else ()),
        value=int,
        arrow_reads=True,
        arrow_writes=True,
        connect=(connect,),
        plain=_plain_whole(2 ** (bits - 1) - 1),
        bits=bits,
    )


def decimal(precision: int, scale: int) -> DecimalNumber:
    """The type of decimals of this width."""
    return DecimalNumber(
        f"decimal({precision},{scale})",
        pa.decimal128(precision, scale),
        exact_decimal(precision, scale),
        value=Decimal,
        text=lambda value: f"{value:f}",
        arrow_reads=True,
        encodings=(BASE64, f"{BASE64}(scale)"),
        plain=_plain_decimal(precision, scale),
        precision=precision,
        scale=scale,
    )


def number_text(part: Any) -> str | None:
    """A JSON number as it was written; None for everything else."""
    return str(part) if type(part) in (int, Number) else None


def number_in_json(text: str) -> Any:
    """What JSON has in place of a number with this canonical text."""
    return text if text in ("NaN", "Infinity", "-Infinity") else Number(text)


_CONTROLS: Final = "".join(map(chr, range(0x21)))
"""The blank and all control signs below it, which Java trims around a number."""

_WHOLE: Final = re.compile(r"([+-]?)0*+([0-9]*+)")
_DECIMAL_PARTS: Final = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?(?:[eE]([+-]?[0-9]++))?")

_LONGEST: Final = 38
_LARGEST_SCALE: Final = 2**31 - 1
_TOO_MANY: Final = ("1" * (_LONGEST + 1), "")


def _plain_whole(largest: int) -> str:
    """One digit less than the largest has: always within the range."""
    return rf"0|-?[1-9][0-9]{{0,{len(str(largest)) - 2}}}"


def integer(largest: int) -> Judge:
    """The judge of the whole numbers from ``-largest - 1`` to ``largest``."""
    longest = len(str(largest))
    canonical = re.compile(_plain_whole(largest)).fullmatch

    def judge(value: str | bytes) -> str | None:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        if plain := canonical(text):
            return plain[0]
        written = _WHOLE.fullmatch(text.strip(_CONTROLS + "\x7f"))
        if written is None or not written[0].strip("+-"):
            return None
        sign, digits = written.groups()
        if len(digits) > longest:
            return None
        number = -int(digits or 0) if sign == "-" else int(digits or 0)
        return str(number) if -largest - 1 <= number <= largest else None

    return judge


def _before_point(digits: int) -> str:
    """Zero has no sign."""
    return "(?:-(?=.*[1-9]))?" + (rf"(?:0|[1-9][0-9]{{0,{digits - 1}}})" if digits else "0")


def _plain_decimal(precision: int, scale: int) -> str:
    return _before_point(precision - scale) + (rf"\.[0-9]{{{scale}}}" if scale else "")


def exact_decimal(precision: int, scale: int) -> Judge:
    """The judge of decimals. None is rounded: more digits after the point than the type keeps do not fit."""
    before = precision - scale
    after = rf"(\.[0-9]{{1,{scale}}})?" if scale else "()"
    plain = re.compile(_before_point(before) + after).fullmatch
    missing = [
        ("." if scale else "") + "0" * scale,
        *("0" * (scale - at) for at in range(scale + 1)),
    ]

    def judge(value: str | bytes) -> str | None:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        if found := plain(text):
            return found[0] + missing[len(found[1] or "")]
        written = _DECIMAL_PARTS.fullmatch(text.strip(_CONTROLS))
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
_NAMED_IN_JSON: Final = {
    **{name: name for name in ("NaN", "Infinity", "-Infinity")},
    **{"+INF": "Infinity", "+Infinity": "Infinity", "-INF": "-Infinity"},
}
_BEYOND_SINGLE: Final = 2.0**128
_SMALLEST_OF_SIX: Final = 1e-37
_SINGLE: Final = struct.Struct("<f")


PLAIN_DOUBLE: Final = (
    r"-?(?:[1-9][0-9]{0,6}\.(?:0|[0-9]{0,7}[1-9])|0\.(?:0|(?!000)[0-9]{0,13}[1-9]))"
)
"""Of at most 15 digits: no shorter text is nearest to the same number, for no two such texts are."""


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
    text = text.rstrip(_CONTROLS)
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
    written = _DECIMAL_PARTS.fullmatch(shortest)
    assert written is not None
    sign, before, after, exponent = written.groups(default="")
    digits = (before + after).rstrip("0")
    power = len(before) - 1 + int(exponent or 0)
    first = digits.lstrip("0")
    power -= len(digits) - len(first)
    return f"{sign}{first[0]}.{first[1:] or '0'}E{power}"


LONGEST: Final = 415
"""Bytes of the longest number that is read: it has 1,000 digits, as the longest in JSON may have."""

_SCALES: Final = range(-1_000, 1_001)


class TooLong(ValueError):
    """A number has more digits than any source's.

    The message says what the value is ("a number of ... bytes"): the caller puts the column's name before it.
    """


def decimal_text(unscaled: bytes, scale: int) -> str | None:
    """The exact text of a decimal as Connect has it, in two's complement; None for a scale beyond reason.

    Vendor: org.apache.kafka.connect.data.Decimal; Debezium's VariableScaleDecimal.

    Raises:
        TooLong: It has thousands of digits.
    """
    if scale not in _SCALES:
        return None
    if len(unscaled) > LONGEST:
        raise TooLong(
            f"a number of {len(unscaled):,} bytes; the longest that is read has {LONGEST:,}"
        )
    number = int.from_bytes(unscaled, "big", signed=True)
    written = str(abs(number))
    sign = "-" if number < 0 else ""
    if scale > 0:
        written = written.zfill(scale + 1)
        return f"{sign}{written[:-scale]}.{written[-scale:]}"
    return f"{sign}{written}{'' if number == 0 else '0' * -scale}"
