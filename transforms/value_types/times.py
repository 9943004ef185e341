"""Days, moments and times of day that are counts, as the texts that the types of columns read.

Put here what a count means. Not here: which column counts what.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

_DAYS_OF_YEARS_1_TO_9999: Final = (-719_162, 2_932_896)
_SECONDS_OF_YEARS_1_TO_9999: Final = (-62_135_596_800, 253_402_300_799)
_LAST_MILLISECOND: Final = 253_402_300_799_999
"""Of the year 9999."""
_FIRST_DAY: Final = date(1970, 1, 1).toordinal()
_SINCE: Final = datetime(1970, 1, 1)


def day_text(number: int) -> str | None:
    """Days since 1970 as a date; None outside the years 1 to 9999."""
    first, last = _DAYS_OF_YEARS_1_TO_9999
    return date.fromordinal(_FIRST_DAY + number).isoformat() if first <= number <= last else None


def moment_text(number: int, per_second: int) -> str | None:
    """A count since 1970 as a timestamp without zone; None outside the years 1 to 9999."""
    seconds, rest = divmod(number, per_second)
    first, last = _SECONDS_OF_YEARS_1_TO_9999
    if not first <= seconds <= last:
        return None
    whole = (_SINCE + timedelta(seconds=seconds)).isoformat(sep=" ")
    return whole + _fraction(rest, per_second)


def clock_text(number: int, per_second: int) -> str:
    """A count since midnight as hours, minutes and seconds; MySQL's may be negative, and more than a day."""
    seconds, rest = divmod(abs(number), per_second)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    sign = "-" if number < 0 else ""
    return f"{sign}{hour:02}:{minute:02}:{second:02}{_fraction(rest, per_second)}"


def since_1970(milliseconds: int | None) -> int | None:
    """Milliseconds since 1970 in microseconds; None outside the years 1 to 9999, and for 0.

    The time is shown to people and never used for order: an unreadable one is dropped, and the event is taken. (Sources
    write 0 for "unknown".)
    """
    if milliseconds is None or not 0 < milliseconds <= _LAST_MILLISECOND:
        return None
    return milliseconds * 1000


def _fraction(rest: int, per_second: int) -> str:
    if rest == 0:
        return ""
    return "." + str(rest).zfill(len(str(per_second)) - 1).rstrip("0")
