"""Texts and the days and moments of Spark SQL: ``date``, ``timestamp`` (always UTC) and ``timestamp_ntz``.

Spark's own casts are more lenient than a mirror may be: a date drops any text behind it, a year alone is the first of
January, a time alone is today's, a fraction is cut to microseconds, and a zone is ignored where the type has none. None
of these fits here. The calendar is the one of today for all years, 1 to 9999. Put here what days and moments look like
as texts. Not here: zones (``zones``), and which type a column has (``types``).
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final

from transforms.value_types import zones

_BLANKS: Final = " \t\n\v\f\r"

_NOWHERE: Final = timedelta(0)

_DAY: Final = r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
_MIDNIGHT: Final = r"(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?"
_DATE: Final = re.compile(_DAY + _MIDNIGHT)

_CLOCK: Final = r"([0-9]{1,2}):([0-9]{1,2})"
_SECOND: Final = r"([0-9]{1,2})(?:\.([0-9]{0,6})0*)?"
_ZONE: Final = r"(?:[ \t-\r]*([A-Za-z+-].*))?"
# Spark takes a zone behind seconds only.
_MOMENT: Final = re.compile(rf"{_DAY}(?:[T ]{_CLOCK}(?::{_SECOND}{_ZONE})?)?")

_PLAIN: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(\.[0-9]{1,6})?(Z|\+00(?::?00)?)?"
).fullmatch
"""What most sources write, and what is canonical but for some signs, if the day is one."""


def day(value: str | bytes) -> str | None:
    """The judge of days: ``2026-11-20``, also with a midnight behind it."""
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    if len(text) == 10 and text[4] == "-" == text[7]:
        try:
            date.fromisoformat(text)
        except ValueError:
            pass
        else:
            return text
    written = _DATE.fullmatch(text.strip(_BLANKS))
    if written is None:
        return None
    try:
        return date(int(written[1]), int(written[2]), int(written[3])).isoformat()
    except ValueError:
        return None


def moment(value: str | bytes) -> str | None:
    """The judge of moments: a text without a zone is UTC, one with a zone is brought there."""
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    return _plain(text, has_zones=True) or _moment(text, has_zones=True)


def clock(value: str | bytes) -> str | None:
    """The judge of ``timestamp_ntz``: a local date and time. A text with a zone does not fit."""
    text = value if isinstance(value, str) else value.decode("utf-8", "replace")
    return _plain(text, has_zones=False) or _moment(text, has_zones=False)


def in_json(canonical: str) -> str:
    """A canonical clock as Spark's ``to_json`` writes it, without a zone.

    Spark cuts what is finer than milliseconds; here it is kept, and Spark reads it.
    """
    whole, _, fraction = canonical.partition(".")
    return f"{whole[:10]}T{whole[11:]}.{fraction.ljust(3, '0')}"


def _plain(text: str, *, has_zones: bool) -> str | None:
    """The canonical text of one that is almost so; None for all others."""
    written = _PLAIN(text)
    if written is None:
        return None
    number, seconds, fraction, zone = written.groups()
    if zone is not None and not has_zones:
        return None
    try:
        date.fromisoformat(number)
    except ValueError:
        return None
    return f"{number} {seconds}{fraction.rstrip('.0')}" if fraction else f"{number} {seconds}"


def _moment(text: str, *, has_zones: bool) -> str | None:
    written = _MOMENT.fullmatch(text.strip(_BLANKS))
    if written is None:
        return None
    year, month, number, hour, minute, second, fraction, zone = written.groups(default="")
    if zone and not has_zones:
        return None
    microsecond = int(fraction.ljust(6, "0"))
    try:
        found = datetime(
            *(int(year), int(month), int(number)),
            *(int(hour or 0), int(minute or 0), int(second or 0), microsecond),
        )
        away = zones.offset(zone, found) if zone else _NOWHERE
        if away is None:
            return None
        found -= away
    except (ValueError, OverflowError):
        return None
    spelled = found.isoformat(sep=" ")
    return spelled.rstrip("0") if found.microsecond else spelled
