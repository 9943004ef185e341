"""Landing windows: the hour or day in which an object arrived, as text that sorts by time.

An hour is written ``2026-11-20T03``, a day ``2026-11-20``, always in UTC. Put here what a window's text says, and how
windows follow each other. Not here: Dagster's partitions (``assets/partitions.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from transforms.feed.feed import WindowSize

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""When the first window begins: no run does an earlier one."""

_FORMS: dict[WindowSize, str] = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d"}
_SHAPES = {
    "hour": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}", re.ASCII),
    "day": re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII),
}
WINDOW_LENGTHS: dict[WindowSize, int] = {"hour": len("2026-11-20T03"), "day": len("2026-11-20")}
"""How many characters a window's text has."""

# Digits that only look like a date seldom look like one of our time.
_EARLIEST_YEAR = 1970
STEPS: dict[WindowSize, timedelta] = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
"""How long a window is."""

# What may follow a date: T03, /03 as a whole segment or file name, or hour=03 in any later segment.
_HOUR = r"(?:T(?P<{0}t>\d{{2}})|/(?P<{0}s>\d{{2}})(?=[/.]|$)|/(?:.*/)?(?:hour|hr)=(?P<{0}k>\d{{1,2}})(?!\d))?"
_DASHED = r"(?<!\d)(?P<dy>\d{4})-(?P<dm>\d{2})-(?P<dd>\d{2})(?!\d)" + _HOUR.format("d")
_SLASHED = r"(?:(?<=/)|(?<=^))(?P<sy>\d{4})/(?P<sm>\d{2})/(?P<sd>\d{2})(?=[/.]|$)" + _HOUR.format(
    "s"
)
# Inside a lookahead, so that a date that overlaps one that is none is found, too.
_DATE = re.compile(f"(?={_DASHED})|(?={_SLASHED})", re.ASCII)

_ENDS = r"(?=[/.]|$)"
_HOUR_BEHIND = (
    r"(?:T(?P<{0}t>\d{{2}}))?"
    + _ENDS
    + r"(?:/(?P<{0}s>\d{{2}})"
    + _ENDS
    + r"|/(?:.*/)?(?:hour|hr)=(?P<{0}k>\d{{1,2}})(?!\d))?"
)
_SEGMENT = (
    r"(?:(?<=/)|(?<=^))(?:[A-Za-z_][A-Za-z0-9_-]*=)?"
    r"(?P<dy>\d{4})(?P<dash>-?)(?P<dm>\d{2})(?P=dash)(?P<dd>\d{2})" + _HOUR_BEHIND.format("d")
)
_PARTS = (
    r"(?:(?<=/)|(?<=^))year=(?P<py>\d{4})/month=(?P<pm>\d{1,2})/day=(?P<pd>\d{1,2})"
    + _HOUR_BEHIND.format("p")
)
# A date that is a whole part of the path, as partitions are written: it counts before one within a name.
_PARTITION = re.compile(f"(?={_SEGMENT})|(?={_SLASHED})|(?={_PARTS})", re.ASCII)


def window_of(object_name: str, modified_at: datetime, size: WindowSize) -> str:
    """The date in the object's path, with its hour if the feed is hourly; else when it was modified.

    Of several the first that is a part of the path by itself counts (``2026-11-20``, ``20261120``, ``2026/11/20``,
    ``dt=2026-11-20``, ``year=2026/month=11/day=20``), else the first that stands within a name.
    """
    return window_at(next(_dates(object_name), None) or _in_utc(modified_at), size)


def day_of_folder(folder: str) -> str | None:
    """The day that every object below a folder is of, whatever its own name is; None where the path says none so far.

    ``folder`` is relative to the landing and ends with a slash. The first date that is a part of the path counts, and
    one that ends within the folder's path stands before any that the rest could bring. A date within the folder's name
    says nothing yet.
    """
    date = next(_found(_PARTITION, folder), None)
    return None if date is None else window_at(date, "day")


def window_at(moment: datetime, size: WindowSize) -> str:
    """The window that a moment, in UTC, is in."""
    return moment.strftime(_FORMS[size])


def _dates(object_name: str) -> Iterator[datetime]:
    """The dates of a path, in the order in which they count."""
    yield from _found(_PARTITION, object_name)
    yield from _found(_DATE, object_name)


def _found(dates: re.Pattern[str], object_name: str) -> Iterator[datetime]:
    for found in dates.finditer(object_name):
        parts = found.groupdict()
        kind = next(one for one in "dsp" if parts.get(one + "y"))
        year, month, day = (int(found[kind + part]) for part in "ymd")
        hour = int(found[kind + "t"] or found[kind + "s"] or found[kind + "k"] or 0)
        if year < _EARLIEST_YEAR:
            continue
        try:
            date = datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            continue
        yield date.replace(hour=hour) if hour < 24 else date


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def parse_window(text: str, size: WindowSize) -> datetime:
    """The moment, in UTC, at which a window begins."""
    try:
        if not _SHAPES[size].fullmatch(text):
            raise ValueError
        return datetime.strptime(text, _FORMS[size]).replace(tzinfo=UTC)
    except ValueError:
        example = datetime(2026, 11, 20, 3, tzinfo=UTC).strftime(_FORMS[size])
        raise ValueError(
            f"{text!r} is no window of one {size}; expected the form {example}"
        ) from None


def day_of(window: str) -> str:
    """The day that a window is, or is an hour of."""
    return window[: WINDOW_LENGTHS["day"]]


def next_window(window: str, size: WindowSize) -> str:
    """The window that begins where this one ends."""
    return (parse_window(window, size) + STEPS[size]).strftime(_FORMS[size])


def windows_between(first: str, last: str, size: WindowSize) -> list[str]:
    """Every window from the first to the last, both included; none if the last comes before the first."""
    begin, end = parse_window(first, size), parse_window(last, size)
    steps = (end - begin) // STEPS[size]
    return [(begin + step * STEPS[size]).strftime(_FORMS[size]) for step in range(steps + 1)]


def contiguous_ranges(windows: Iterable[str], size: WindowSize) -> list[tuple[str, str]]:
    """The windows, in order and once each, as ranges of neighbours: first and last of each range."""
    ranges: list[tuple[str, str]] = []
    for window in sorted(set(windows)):
        if ranges and next_window(ranges[-1][1], size) == window:
            ranges[-1] = (ranges[-1][0], window)
        else:
            parse_window(window, size)
            ranges.append((window, window))
    return ranges
