"""Dates and times beyond the years 1 to 9999, which no column of Spark can hold, and what a feed file makes of them.

Infinity is the usual end of a period that is open; Postgres's years reach from 4713 BC to 294276 (a date's to 5874897),
and MySQL has zero dates (``0000-00-00``, ``2026-00-00``). Debezium sends infinity as one of two numbers, whatever they
count, or as the text; a date that is infinite as a number beyond all dates, whose sign says nothing.

Vendor: PostgreSQL documentation, "Date/Time Types"; MySQL documentation, "The DATE, DATETIME, and TIMESTAMP Types";
https://github.com/debezium/debezium, ``PostgresValueConverter`` (``POSITIVE_INFINITY_TIMESTAMP``).
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, Literal, get_args

from transforms.column_types.times import DAYS, SINCE_1970, day_text, moment_text

OutOfRange = Literal["quarantine", "null", "clamp"]
"""The event goes to quarantine, the value becomes null, or the first or last one that the type has."""

CHOICES: Final[tuple[str, ...]] = get_args(OutOfRange)

ENDS: Final = {
    "date": ("0001-01-01", "9999-12-31"),
    **dict.fromkeys(
        ("timestamp", "timestamp_ntz"), ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999")
    ),
}
"""The first and the last value of a type, as canonical texts."""

INFINITY, MINUS_INFINITY = "infinity", "-infinity"
_INFINITE: Final = {9_223_372_036_825_200_000: INFINITY, -9_223_372_036_832_400_000: MINUS_INFINITY}

_WORD: Final = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_COUNT: Final = re.compile(r"[+-]?[0-9]{1,40}")
_FAR: Final = re.compile(r"\+?[0-9]{5,9}-[0-9]{1,2}-[0-9]{1,2}(?:[T ].*)?", re.DOTALL)
_BEFORE: Final = re.compile(
    r"(?:-[0-9]{4,9}|\+0000)-[0-9]{1,2}-[0-9]{1,2}(?:[T ].*)?|[0-9]{4,9}-[0-9]{1,2}-[0-9]{1,2}(?:[T ].*)? BC",
    re.DOTALL,
)
_ZERO: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ].*)?", re.DOTALL)

EARLIER, UNKNOWN, LATER = -1, 0, 1


def side_of(value: object, type_name: str, encoding: str | None) -> int | None:
    """On which side of the years 1 to 9999 a value of a type lies that does not fit; None where it does not say so.

    A zero date is earlier than all.
    """
    if type_name not in ENDS or not isinstance(value, str):
        return None
    text = value.strip()
    if word := _WORD.fullmatch(text):
        return EARLIER if word[1] == "-" else LATER
    if _COUNT.fullmatch(text):
        return _side_of_count(int(text), type_name, encoding)
    if _FAR.fullmatch(text):
        return LATER
    if _BEFORE.fullmatch(text):
        return EARLIER
    zero = _ZERO.fullmatch(text)
    is_zero = zero is not None and (zero[1] == "0000" or "00" in (zero[2], zero[3]))
    return EARLIER if is_zero else None


def _side_of_count(number: int, type_name: str, encoding: str | None) -> int | None:
    if number in _INFINITE:
        return LATER if number > 0 else EARLIER
    if type_name == "date" and encoding in (None, DAYS):
        if day_text(number) is not None:
            return None
        return UNKNOWN if number < _FIRST_DAY_OF_POSTGRES else LATER if number > 0 else EARLIER
    if encoding in SINCE_1970 and moment_text(number, SINCE_1970[encoding]) is None:
        return LATER if number > 0 else EARLIER
    return None


_FIRST_DAY_OF_POSTGRES: Final = -2_441_000
_CYCLE: Final = 146_097
"""Days of 400 years, after which the calendar repeats itself."""
_EPOCH: Final = date(1970, 1, 1).toordinal()


def far_day(number: int) -> str | None:
    """Days since 1970 outside the years 1 to 9999, as ISO 8601 writes such a date; None for what no source has."""
    if not _FIRST_DAY_OF_POSTGRES <= number <= _CYCLE * 15_000:
        return None
    cycles, rest = divmod(_EPOCH + number - 1, _CYCLE)
    day = date.fromordinal(rest + 1)
    year = day.year + 400 * cycles
    return f"{'-' if year < 0 else '+'}{abs(year):04}-{day.month:02}-{day.day:02}"


def far_moment(number: int, per_second: int) -> str | None:
    """A count since 1970 outside the years 1 to 9999, likewise; Debezium's infinities are those of Postgres."""
    if number in _INFINITE:
        return _INFINITE[number]
    seconds, rest = divmod(number, per_second)
    days, second = divmod(seconds, 86_400)
    day = far_day(days)
    # The clock of that day is that of the first one.
    clock = moment_text(second * per_second + rest, per_second)
    return None if day is None or clock is None else f"{day} {clock.partition(' ')[2]}"
