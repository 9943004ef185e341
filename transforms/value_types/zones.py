"""Time zones as texts name them: how far from UTC a clock is.

What Java's ``ZoneId`` takes, as Spark hands it on: ``Z``, ``+05:30``, ``+5``, ``UTC+1``, ``Asia/Kolkata``, and the old
short names of Java. Put here how a zone is named. Not here: moments (``moments``).

Vendor: Java SE 17 API, ``java.time.ZoneId.of``, ``ZoneId.SHORT_IDS`` and ``ZoneOffset.of``.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

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


def offset(zone: str, clock: datetime) -> timedelta | None:
    """How far a zone is from UTC when its clocks show this; None for what is no zone.

    Where clocks are set back, a local time that occurs twice is the first of the two; where they are set forward, a
    skipped local time is read with the offset from before the change (as in Java's ``ZonedDateTime.of``). Java and
    Python bring their own tables of the zones, which may be of different years.
    """
    found = _zone(zone)
    return clock.replace(tzinfo=found).utcoffset() if isinstance(found, ZoneInfo) else found


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
