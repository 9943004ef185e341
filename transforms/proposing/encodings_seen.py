"""Columns whose values seem to be counts of time, or decimals in base64, where no schema says so.

So Debezium writes by default, and without schemas nothing in a record tells such values from plain numbers and texts.
A column becomes a time or a decimal only where its name speaks for it, too, and it is called a guess. Put here by what
such values are known. Not here: all other types (``column_types``), and what the values mean (``value_types``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from transforms.proposing.column_types import Inferred, decimal_type
from transforms.value_types import encodings, times
from transforms.value_types.encodings import BASE64, DAYS, SINCE_1970

_MOMENT: Final = re.compile(
    r"(?:.*_)?(?:at|on|ts|time|timestamp|date|datetime|created|updated|modified)"
)
_DAY: Final = re.compile(r"(?:.*_)?(?:on|at|date|day|born|birth|birthday)")
_CLOCK: Final = re.compile(r"(?:.*_)?(?:at|time|clock|opens|closes)")
_MONEY: Final = re.compile(
    r"(?:.*_)?(?:amount|price|total|subtotal|sum|cost|fee|tax|vat|net|gross|balance|credit|debit|discount|salary|pay"
    r"|rate|weight)(?:_[a-z]{3})?"
)
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ID: Final = re.compile(r"(?:.*_)?u?u?id")
_USUAL_SCALE: Final = 2
_MOST_WORDS: Final = 4
"""One text in so many may happen to look like a word."""
_MILLIS_OF_DAY, _MICROS_OF_DAY = 86_400_000, 86_400_000_000
_UNSAID: Final = "a guess: nothing in the drops says it"


def refined(column: str, texts: Collection[str], found: Inferred) -> Inferred:
    """What a column may be by its name, too, and not by its values alone; ``found`` where nothing speaks for more."""
    name = _CAPITAL.sub("_", column).lower()
    if _ID.fullmatch(name):
        return found
    if found.type in ("int", "bigint") and texts:
        numbers = sorted(int(text) for text in texts)
        return _count(name, numbers, found)
    if found.type == "string" and texts:
        return _variable(texts) or _decimal(name, texts) or found
    return found


def _count(name: str, numbers: Sequence[int], found: Inferred) -> Inferred:
    """A column of whole numbers."""
    least, most = numbers[0], numbers[-1]
    if _DAY.fullmatch(name) and encodings.is_recent(least, most, DAYS):
        years = _years(times.day_text(least), times.day_text(most))
        return Inferred(
            "date", f"{_UNSAID}. Whole numbers that may be days since 1970, {years}", DAYS
        )
    unit = encodings.unit_of(least, most)
    if unit is not None:
        years = _years(*(times.moment_text(one, SINCE_1970[unit]) for one in (least, most)))
        seen = f"hole numbers that may be {encodings.spoken(unit)} since 1970, {years}"
        if _MOMENT.fullmatch(name):
            return Inferred("timestamp", f"{_UNSAID}. W{seen}", unit)
        if unit != "seconds":
            # Too many numbers are as large as these.
            return Inferred(
                found.type, f"w{seen}: if they are, declare timestamp, and {unit} under encoded"
            )
    if _CLOCK.fullmatch(name) and least >= 0 and _MILLIS_OF_DAY < most < _MICROS_OF_DAY:
        seen = "Whole numbers that may be microseconds since midnight"
        return Inferred("string", f"{_UNSAID}. {seen}; a time of day is a text", "micros_of_day")
    return found


def _years(first: str | None, last: str | None) -> str:
    years = sorted({(text or "")[:4] for text in (first, last)})
    return f"of {' to '.join(years)}"


def _decimal(name: str, texts: Collection[str]) -> Inferred | None:
    """A column of texts that are all base64 of a number of few bytes."""
    if not all(encodings.is_unscaled(text) for text in texts):
        return None
    raw = [encodings.unscaled(text) or b"" for text in texts]
    sizes = {len(one) for one in raw}
    words = sum(encodings.is_word(text) for text in texts)
    # Codes and hexadecimal digits are mostly of one case.
    is_mixed = any(not text.isupper() and not text.islower() for text in texts)
    is_named = _MONEY.fullmatch(name) is not None and is_mixed
    # Hardly a word ends in a sign of equality.
    is_padded = any(text.endswith("=") for text in texts)
    is_varied = len(sizes) > 1 and is_padded and not all(map(_is_ascii, raw))
    if words * _MOST_WORDS > len(texts) or not (is_named or is_varied):
        return None
    digits = max(len(str(abs(int.from_bytes(one, "big", signed=True)))) for one in raw)
    kind = decimal_type(max(1, digits - _USUAL_SCALE), _USUAL_SCALE)
    if kind is None:
        return None
    size = f"{min(sizes)} to {max(sizes)} bytes" if len(sizes) > 1 else f"{max(sizes)} bytes"
    seen = f"Texts that may be decimals in base64, {size} each, as Debezium writes them by default"
    why = f"{_UNSAID}. {seen}. They do not say how many digits stand behind the point: look it up in the source"
    return Inferred(kind, why, f"{BASE64}({_USUAL_SCALE})")


def _is_ascii(raw: bytes) -> bool:
    return raw.isascii() and raw.decode("ascii").isprintable()


def _variable(texts: Collection[str]) -> Inferred | None:
    """A column of objects that each bring their scale: Debezium's VariableScaleDecimal."""
    scales, digits = set[int](), set[int]()
    for text in texts:
        found = encodings.variable(text)
        if found is None:
            return None
        raw, scale = found
        scales.add(scale)
        digits.add(len(str(abs(int.from_bytes(raw, "big", signed=True)))) - scale)
    kind = decimal_type(max(1, *digits), max(0, *scales))
    seen = "objects with scale and value, as Debezium's VariableScaleDecimal"
    return None if kind is None else Inferred(kind, seen, BASE64)
