"""Landing windows: the hour or day in which an object arrived, as text that sorts by time.

An hour is written ``2026-11-20T03``, a day ``2026-11-20``, always in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from transforms.feed.feed import Feed, WindowSize
from transforms.feed.paths import date_in_path, date_of_folder

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""When the first window begins: no run does an earlier one."""

TIME_FORMATS: dict[WindowSize, str] = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d"}
_SHAPES = {
    "hour": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}", re.ASCII),
    "day": re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII),
}
WINDOW_LENGTHS: dict[WindowSize, int] = {"hour": len("2026-11-20T03"), "day": len("2026-11-20")}
"""How many characters a window's text has."""

STEPS: dict[WindowSize, timedelta] = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
"""How long a window is."""


def window_of(
    object_name: str, modified_at: datetime, size: WindowSize, window_path: str | None = None
) -> str:
    """The date in the object's path, with its hour if the feed is hourly; else when it was modified.

    Which date of a path that is, with the feed's ``window_path`` and without, is said by ``date_in_path``.
    """
    date = date_in_path(object_name, window_path)
    return window_at(_in_utc(modified_at) if date is None else date.moment, size)


def day_of_folder(folder: str, window_path: str | None = None) -> str | None:
    """The day that every object below a folder is of, whatever its own name is; None where the path says none so far.

    ``folder`` is relative to the landing and ends with a slash.
    """
    date = date_of_folder(folder, window_path)
    return None if date is None else window_at(date.moment, "day")


def window_of_folder(folder: str, size: WindowSize, window_path: str | None = None) -> str | None:
    """The window of all objects right below a folder whose own name has no ``=``; None where their names count, too.

    ``folder`` is relative to the landing and ends with a slash. Behind ``hour=`` even a file's name may say the hour.
    """
    date = date_of_folder(folder, window_path)
    if date is None or (size == "hour" and not date.has_hour):
        return None
    return window_at(date.moment, size)


def first_of(feed: Feed) -> datetime:
    """When the feed's first window begins: what its file says, or in 2020."""
    start = feed.running.start
    return FIRST if start is None else parse_window(start, feed.window)


def bounds(feed: Feed, now: datetime) -> tuple[str, str]:
    """The first window and the one that is open: windows sort by time, and those between them are partitions.

    Asked window by window, Dagster's own definition takes seconds for some thousands.
    """
    return window_at(first_of(feed), feed.window), window_at(now, feed.window)


def window_at(moment: datetime, size: WindowSize) -> str:
    """The window that a moment, in UTC, is in."""
    # As TIME_FORMATS has it, in a fraction of its time.
    return moment.isoformat()[: WINDOW_LENGTHS[size]]


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def parse_window(text: str, size: WindowSize) -> datetime:
    """The moment, in UTC, at which a window begins."""
    try:
        if not _SHAPES[size].fullmatch(text):
            raise ValueError
        return datetime.strptime(text, TIME_FORMATS[size]).replace(tzinfo=UTC)
    except ValueError:
        example = datetime(2026, 11, 20, 3, tzinfo=UTC).strftime(TIME_FORMATS[size])
        raise ValueError(
            f"{text!r} is no window of one {size}; expected the form {example}"
        ) from None


def day_of(window: str) -> str:
    """The day that a window is, or is an hour of."""
    return window[: WINDOW_LENGTHS["day"]]


def next_window(window: str, size: WindowSize) -> str:
    """The window that begins where this one ends."""
    return (parse_window(window, size) + STEPS[size]).strftime(TIME_FORMATS[size])


def windows_between(first: str, last: str, size: WindowSize) -> list[str]:
    """Every window from the first to the last, both included; none if the last comes before the first."""
    begin, end = parse_window(first, size), parse_window(last, size)
    steps = (end - begin) // STEPS[size]
    return [(begin + step * STEPS[size]).strftime(TIME_FORMATS[size]) for step in range(steps + 1)]


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
