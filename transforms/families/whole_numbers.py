"""Whole numbers as sources write them."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"[ \t\r\n]*([+-]?[0-9]{1,40})[ \t\r\n]*")
_LEAST, _MOST = -(2**63), 2**63 - 1
_EARLIEST, _LATEST = -62_135_596_800_000, 253_402_300_799_999


def whole(value: object) -> int | None:
    """A 64-bit number, from an int or a text that is one; None for anything else."""
    if type(value) is not int:
        found = _WHOLE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            return None
        value = int(found[1])
    return value if _LEAST <= value <= _MOST else None


def microseconds(milliseconds: object) -> int | None:
    """A moment in microseconds since 1970 from one in milliseconds; None outside the years 1 to 9999.

    The time is shown to people and never used for order: an unreadable one is dropped, and the event is taken.
    """
    number = milliseconds if type(milliseconds) is int else whole(milliseconds)
    return number * 1000 if number is not None and _EARLIEST <= number <= _LATEST else None
