"""How Dgraph spells floats and vectors: one text for one number, whoever wrote it.

The stream and an export spell some numbers in different ways (1000000 and 1E+06), and a delete of one value removes it
if it is equal. So all are spelled as exports do; the digits are those that were written, and none is computed. Put here
how such numbers are spelled. Not here: other types (``canonical``).

Vendor: dgraph-io/dgraph v25.3.8, types/conversion.go (floats: Go's format G with the shortest digits), types/value.go
(FloatArrayAsString: vectors, format f); Go's encoding/json for those of the stream.
"""

from __future__ import annotations

import re
from math import isinf
from typing import Final

_FLOAT: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?")
_PLAIN: Final = r"-?[0-9]++(?:\.[0-9]++)?+"
_PLAIN_VECTOR: Final = re.compile(rf"\[\s*+(?:{_PLAIN}\s*+(?:,\s*+{_PLAIN}\s*+)*+)?+\]", re.ASCII)
_BLANKS: Final = re.compile(r"\s+", re.ASCII)

_SMALLEST, _BIGGEST = 1e-46, 3.5e38
"""No vector holds numbers beyond: they have 32 bits."""


def float_text(text: str) -> str | None:
    """A float as Dgraph exports it: 1, 0.5, 1.234567891E+06, 1E+21; None for what is no double."""
    parts = _FLOAT.fullmatch(text)
    if parts is None or isinf(float(text)):
        return None
    sign, digits, exponent = _read(parts)
    if not digits:
        return sign + "0"
    if -4 <= exponent < 6:
        return sign + _plain(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}E{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def vector_text(text: str) -> str | None:
    """A vector as Dgraph exports it, without blanks and exponents: [0.1,0.25,-3]; None for what is none."""
    if _PLAIN_VECTOR.fullmatch(text) is not None:
        return _BLANKS.sub("", text)
    inside = text.strip()
    if len(inside) < 2 or inside[0] != "[" or inside[-1] != "]":
        return None
    numbers = []
    for part in inside[1:-1].split(","):
        parts = _FLOAT.fullmatch(part.strip())
        if parts is None:
            return None
        sign, digits, exponent = _read(parts)
        if digits and not _SMALLEST < abs(float(part)) < _BIGGEST:
            return None
        numbers.append(sign + (_plain(digits, exponent) if digits else "0"))
    return f"[{','.join(numbers)}]"


def _read(parts: re.Match[str]) -> tuple[str, str, int]:
    """The sign, the digits without zeros at either end, and the power of ten of the first of them."""
    sign, whole, fraction, power = parts.groups("")
    written = whole + fraction
    digits = written.lstrip("0")
    exponent = len(whole) - (len(written) - len(digits)) + int(power or 0) - 1
    return sign, digits.rstrip("0"), exponent


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole
