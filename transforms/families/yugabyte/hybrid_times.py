"""Hybrid times, and the server's own days and moments.

A hybrid time is an unsigned 64-bit number: microseconds since 1970, shifted by 12 bits of a logical clock. Put here how
the server counts time. Not here: dates and times that come as texts, as PostgreSQL's do: those stay as they are.

Vendor: yugabyte-db, src/yb/common/hybrid_time.h, and DateTime::DateFromString in src/yb/util/date_time.cc.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from transforms.families.yugabyte.scalars import unsigned

_LOGICAL_BITS: Final = 12
_LOGICAL: Final = (1 << _LOGICAL_BITS) - 1
_LAST_MICROSECOND: Final = 253_402_300_799_999_999
"""Of the year 9999."""

_FIRST_OF_1970: Final = date(1970, 1, 1).toordinal()
_CYCLE: Final = 146_097
"""Days after which the calendar repeats itself: 400 years."""

_MICROSECONDS_OF_A_DAY: Final = 86_400_000_000


def instant(hybrid: Any) -> tuple[int | None, int | None]:
    """A hybrid time as two numbers that order as it does: microseconds since 1970, and the logical clock."""
    number = unsigned(hybrid)
    if number is None:
        return None, None
    return number >> _LOGICAL_BITS, number & _LOGICAL


def moment(hybrid: Any) -> int | None:
    """When a hybrid time is, in microseconds since 1970; None beyond the year 9999. No order depends on it."""
    micros, _ = instant(hybrid)
    return micros if micros is not None and micros <= _LAST_MICROSECOND else None


def day_text(days: int) -> str:
    """The day that is so many days after the first of January 1970.

    Years that a date cannot have (``+5881580-07-11``, ``-0001-12-31``) are written as ISO 8601 expands them: such a
    text says what the source has, and fits no column but one of texts.
    """
    cycles, rest = divmod(days, _CYCLE)
    found = date.fromordinal(_FIRST_OF_1970 + rest)
    year = found.year + 400 * cycles
    spelled = f"{year:04}" if 1 <= year <= 9999 else f"{year:+05}"
    return f"{spelled}-{found.month:02}-{found.day:02}"


def timestamp(micros: int) -> str:
    """The moment so many microseconds after 1970, in UTC, without a zone; ``day_text`` says what years it can have."""
    days, rest = divmod(micros, _MICROSECONDS_OF_A_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{day_text(days)} {clock}" + (f".{fraction:06}".rstrip("0") if fraction else "")
