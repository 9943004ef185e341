"""The windows that a person asks for with ``--windows``: one, a day, a range, an open one, or the last of them.

Put here what may be written. Not here: which of these windows are run (``planning``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestration.feeds.retention import length_from
from transforms.errors import WindowOutOfRange
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window, window_at

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LAST: Final = re.compile(r"last\s*(.*)", re.DOTALL)
_OF_DAYS: Final = (
    "2026-11-18..2026-11-20 (both ends included), 2026-11-18.. or ..2026-11-20 (open), or"
)
_FORMS: Final = {
    "hour": f"2026-11-20T03 (an hour), 2026-11-20 (all its hours), {_OF_DAYS} last 12h or last 3d (until now)",
    "day": f"2026-11-20, {_OF_DAYS} last 3d (until now)",
}


@dataclass(frozen=True, slots=True)
class AskedWindows:
    """What a person asks for: ``text`` as it was typed, and the first and last window, both included.

    None in place of an end leaves it open. ``is_whole``: whether every window between the ends is meant; of an open
    range, and of the last hours or days, only those with drops are.
    """

    text: str
    first: str | None
    last: str | None
    is_whole: bool

    def has(self, window: str) -> bool:
        """Whether the window is between the ends."""
        return (self.first or window) <= window <= (self.last or window)


def asked_windows(feed: Feed, text: str, now: datetime) -> AskedWindows:
    """What the text asks of a feed; ``now``, in UTC, is where the last hours or days end.

    Raises:
        WindowOutOfRange: it has none of the forms that may be written.
    """
    typed = text.strip()
    if found := _LAST.fullmatch(typed):
        return _last(feed, text, found[1], now)
    begin, is_range, end = (part.strip() for part in typed.partition(".."))
    if is_range and not begin and not end:
        raise _refused(feed, text, "a range needs one end at least")
    end = end if is_range else begin
    first = _end(feed, text, begin, now) if begin or not is_range else None
    last = _end(feed, text, end, now, is_last=True) if end else None
    if first and last and last < first:
        raise WindowOutOfRange(feed.name, text, "the range ends before it begins")
    return AskedWindows(typed, first, last, is_whole=first is not None and last is not None)


def _end(feed: Feed, text: str, written: str, now: datetime, *, is_last: bool = False) -> str:
    """One end of a range as a window: of a day the first hour or the last, of today the last that has begun."""
    try:
        if feed.window == "day" or not _DAY.fullmatch(written):
            parse_window(written, feed.window)
            return written
        day = parse_window(written, "day")
    except ValueError:
        if "..." in text:
            raise _refused(
                feed, text, "the two ends of a range have two dots between them"
            ) from None
        what = "date" if _DAY.fullmatch(written) else f"window of one {feed.window}"
        raise _refused(feed, text, f"{written!r} is no {what}") from None
    if not is_last:
        return window_at(day, "hour")
    end = day + STEPS["day"] - STEPS["hour"]
    return window_at(min(end, now) if day <= now else end, "hour")


def _last(feed: Feed, text: str, amount: str, now: datetime) -> AskedWindows:
    """The windows of the last hours or days: the one that is open now is the last of them."""
    length, step = length_from(amount), STEPS[feed.window]
    if not length:
        raise _refused(feed, text, f"{amount!r} is no length of time")
    if length % step:
        raise _refused(
            feed, text, f"{amount} is no number of days, and the feed's windows are days"
        )
    newest = window_at(now, feed.window)
    first = window_at(parse_window(newest, feed.window) - length + step, feed.window)
    return AskedWindows(text.strip(), first, newest, is_whole=False)


def _refused(feed: Feed, text: str, fault: str) -> WindowOutOfRange:
    return WindowOutOfRange(feed.name, text, f"{fault}; write {_FORMS[feed.window]}")
