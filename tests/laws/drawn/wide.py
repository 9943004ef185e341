"""A wider table than that of ``histories``, with values that an inexact reader would change.

The text that silver has of each value is written down by hand: it shares no code with the packages.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal

from tests.laws.drawn.histories import COLUMN_TYPES, VALUES
from tests.laws.oracle.event import Image

WIDE_TYPES = {
    **COLUMN_TYPES,
    "c5": "decimal(38,9)", "c6": "bigint", "c7": "binary", "c8": "double", "c9": "date",
}  # fmt: skip
# A table of values, one line a column.
# fmt: off
WIDE_VALUES: dict[str, Sequence[str]] = {
    "c1": VALUES["c1"],
    "c2": [*VALUES["c2"], "a\x00b", "\x00", "\x1f\x7f", "1e3", "007", "9007199254740993", "true"],
    "c3": VALUES["c3"],
    "c4": VALUES["c4"],
    "c5": [
        "0.000000000", "-0.000000001", "12345678901234567890123456789.123456789",
        "-99999999999999999999999999999.999999999", "0.100000000", "9007199254740993.000000001",
    ],
    "c6": ["0", "9007199254740993", "-9007199254740993", str(2**63 - 1), str(-(2**63))],
    "c7": ["", "AA==", "AP8=", "/+7w", "AAECAwQF", "w7/DvsO9w7zDuw==", "gIGC"],
    "c8": ["0.1", "-0.0", "1.0E10", "4.9E-324", "1.7976931348623157E308", "0.30000000000000004"],
    "c9": ["0001-01-01", "1582-10-10", "1969-12-31", "2024-02-29", "9999-12-31"],
}
"""Texts of binary values are base64."""

IN_OTHER_WORDS: dict[str, Sequence[str]] = {
    "c1": ["007", "+5", "-0", " 12 "],
    "c3": ["1E+2", "-0", ".5", "5.", "12.3", "0012.300"],
    "c4": ["2024-02-29T12:30:00Z", "2024-02-29 12:30:00.500", "2024-02-29T12:30:00+05:30"],
    "c5": ["1e28", "-1E-9", "9007199254740993"],
    "c6": ["+9007199254740993", "00"],
    "c8": ["1e10", "0.10", "17976931348623157e292", "-0"],
}
# fmt: on
"""Values as only formats whose values are all texts can have them: a source that prints them so does so every time."""

_CANONICAL_TIMES = {
    "2024-02-29T12:30:00Z": "2024-02-29 12:30:00",
    "2024-02-29 12:30:00.500": "2024-02-29 12:30:00.5",
    "2024-02-29T12:30:00+05:30": "2024-02-29 07:00:00",
}
_CANONICAL_DOUBLES = {"1e10": "1.0E10", "0.10": "0.1", "-0": "-0.0"} | {
    "17976931348623157e292": "1.7976931348623157E308"
}
_WIDE = Context(prec=80)


def in_texts() -> dict[str, Sequence[str]]:
    """The values of formats whose values are all texts; of one that has bytes the text itself is the value."""
    return {name: [*some, *IN_OTHER_WORDS.get(name, ())] for name, some in WIDE_VALUES.items()}


def silver_image(image: Image, types: Mapping[str, str], *, bytes_are_texts: bool) -> Image:
    """The image as silver holds it; ``bytes_are_texts``: a binary value's text stands for its UTF-8 bytes."""
    return {
        name: None if text is None else _canonical(text, types[name], bytes_are_texts)
        for name, text in image.items()
    }


def _canonical(text: str, kind: str, bytes_are_texts: bool) -> str:
    if kind in ("int", "bigint"):
        return str(int(text))
    if kind.startswith("decimal"):
        scale = int(kind.rstrip(")").partition(",")[2])
        number = Decimal(text).quantize(Decimal(1).scaleb(-scale), context=_WIDE)
        return format(number if number else abs(number), "f")
    if kind == "timestamp":
        return _CANONICAL_TIMES.get(text, text)
    if kind == "double":
        return _CANONICAL_DOUBLES.get(text, text)
    return b64encode(text.encode()).decode() if kind == "binary" and bytes_are_texts else text
