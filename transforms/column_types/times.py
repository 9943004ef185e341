"""Days and moments: ``date``, ``timestamp`` (always UTC), ``timestamp_ntz``, counts of time, and names of zones.

Spark's own casts are more lenient than a mirror may be: a date drops any text behind it, a year alone is the first of
January, a time alone is today's, a fraction is cut to microseconds, and a zone is ignored where the type has none. None
of these fits here. The calendar is the one of today for all years, 1 to 9999.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

import pyarrow as pa
import pyarrow.compute as pc

from transforms.column_types.column_type import ColumnType, judged, words

DAYS: Final = "days"
SINCE_1970: Final = {"seconds": 1, "millis": 10**3, "micros": 10**6, "nanos": 10**9}
"""Counts since 1970: how many of them are a second."""
OF_DAY: Final = {f"{unit}_of_day": per for unit, per in SINCE_1970.items() if per > 1}
"""Counts since midnight."""


@dataclass(frozen=True, slots=True, eq=False)
class Date(ColumnType):
    """A day."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Timestamp(ColumnType):
    """A date and a time of day; ``in_utc``: it is a moment, and not what some clock shows."""

    in_utc: bool

    def json_text(self, part: Any) -> str:
        """As Spark's ``to_json`` writes it, and with what is finer than milliseconds, which Spark reads, too."""
        whole, _, fraction = judged(words(part), self.judge).partition(".")
        zone = "Z" if self.in_utc else ""
        return f'"{whole[:10]}T{whole[11:]}.{fraction.ljust(3, "0")}{zone}"'

    def from_json(self, part: Any) -> Any:
        """The moment, which stands with its zone."""
        return self.value(part.removesuffix("Z"))

    def order(self, part: Any) -> Any:
        """The text. Of two moments within a second, one may have more digits."""
        return part.rstrip("Z")

    def typed_array(self, texts: pa.Array) -> pa.Array:
        """By Arrow's cast of texts without a zone."""
        return pc.cast(texts, pa.timestamp("us")).cast(self.arrow)


def timestamp(name: str, alias: str, *, in_utc: bool) -> Timestamp:
    """The type of moments, or of what clocks show; and the other name that a feed file may write."""
    zone = UTC if in_utc else None
    return Timestamp(
        *(name, pa.timestamp("us", "UTC" if in_utc else None), moment if in_utc else clock),
        (alias,) if alias else (),
        value=lambda text: datetime.fromisoformat(text).replace(tzinfo=zone),
        text=lambda value: value.replace(tzinfo=None).isoformat(sep=" "),
        exact=("date",),
        encodings=tuple(SINCE_1970),
        plain=_PLAIN_MOMENT,
        in_utc=in_utc,
    )


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


PLAIN_DAY: Final = (
    r"(?!0000)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
"""Every day but the 29th of February, which not every year has."""
_PLAIN_MOMENT: Final = (
    rf"(?:{PLAIN_DAY}) (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{{0,5}}[1-9])?"
)


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
        away = zone_offset(zone, found) if zone else _NOWHERE
        if away is None:
            return None
        found -= away
    except (ValueError, OverflowError):
        return None
    spelled = found.isoformat(sep=" ")
    return spelled.rstrip("0") if found.microsecond else spelled


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


def _fraction(rest: int, per_second: int) -> str:
    if rest == 0:
        return ""
    return "." + str(rest).zfill(len(str(per_second)) - 1).rstrip("0")


_SHORT: Final = {
    **{"EST": "-05:00", "HST": "-10:00", "MST": "-07:00", "ACT": "Australia/Darwin"},
    **{"AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo"},
    **{"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka"},
    **{"CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago"},
    **{"CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris"},
    **{"IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo"},
    **{"MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland"},
    **{"PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico"},
    **{"PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh"},
}
_UNKNOWN_TO_JAVA: Final = {"Factory", "localtime", "ROC", "GMT+0", "GMT-0"}
"""What Python's table of zones has and Java's has not."""

_ONE_DIGIT_HOUR: Final = re.compile(r"([+-])([0-9]):")
_ONE_DIGIT_MINUTE: Final = re.compile(r"([+-][0-9]{2}):([0-9])$")
_OFFSET: Final = re.compile(
    r"([+-])(?:([0-9])|([0-9]{2})(?:([0-9]{2})([0-9]{2})?|:([0-9]{2})(?::([0-9]{2}))?)?)"
)
_FARTHEST: Final = timedelta(hours=18)


def zone_offset(zone: str, shown: datetime) -> timedelta | None:
    """How far a zone is from UTC when its clocks show this; None for what is no zone.

    A zone has the names that Java's ``ZoneId`` takes, as Spark hands them on: ``Z``, ``+05:30``, ``+5``, ``UTC+1``,
    ``Asia/Kolkata``, and the old short names of Java.

    Vendor: Java SE 17 API, ``java.time.ZoneId.of``, ``ZoneId.SHORT_IDS`` and ``ZoneOffset.of``.

    Where clocks are set back, a local time that occurs twice is the first of the two; where they are set forward, a
    skipped local time is read with the offset from before the change (as in Java's ``ZonedDateTime.of``). Java and
    Python bring their own tables of the zones, which may be of different years.
    """
    found = _zone(zone)
    return shown.replace(tzinfo=found).utcoffset() if isinstance(found, ZoneInfo) else found


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo | timedelta | None:
    """The zone of a name: a distance from UTC that is always the same, or a region."""
    # Spark allows one digit for the hours, and for the minutes.
    name = _ONE_DIGIT_HOUR.sub(r"\g<1>0\2:", name, count=1)
    name = _ONE_DIGIT_MINUTE.sub(r"\1:0\2", name)
    name = _SHORT.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return timedelta(0)
    for prefix in ("UTC", "GMT", "UT", ""):
        if name.startswith((prefix + "+", prefix + "-")):
            return _fixed(name.removeprefix(prefix))
    return ZoneInfo(name) if name in _regions() else None


def _fixed(text: str) -> timedelta | None:
    """The distance that ``+05:30`` says; None for what is none, or beyond 18 hours."""
    written = _OFFSET.fullmatch(text)
    if written is None:
        return None
    sign, hour, hours, *rest = written.groups(default="")
    minutes, seconds = int(rest[0] or rest[2] or 0), int(rest[1] or rest[3] or 0)
    if minutes > 59 or seconds > 59:
        return None
    distance = timedelta(hours=int(hour or hours), minutes=minutes, seconds=seconds)
    return None if distance > _FARTHEST else -distance if sign == "-" else distance


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    return frozenset(available_timezones() - _UNKNOWN_TO_JAVA)
