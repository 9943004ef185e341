"""How old the newest event of a window was when the window ended.

Put here what the accounts say of the source's lag. Not here: the rule (``expectations/silver.py``), and how old gold is
now (``audit/status``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from assets.bookkeeping.accounting import StoredAccount
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window


@dataclass(frozen=True, slots=True)
class WindowLag:
    """A window, its newest event, and how old that was when the window ended, or is now where it is still open."""

    window: str
    newest: datetime
    age: timedelta

    def in_words(self) -> str:
        """The same in a line."""
        return f"{self.window}: the newest event is of {self.newest:%Y-%m-%d %H:%M:%S} UTC, {self.age} before its end"


def lags(feed: Feed, accounts: Sequence[StoredAccount], now: datetime) -> list[WindowLag]:
    """One for each window of these accounts whose events have times."""
    newest: dict[str, datetime] = {}
    for row in accounts:
        moment = row.get("newest_event_at")
        if moment is not None:
            newest[row["window"]] = max(moment, newest.get(row["window"], moment))
    found = []
    for window, moment in sorted(newest.items()):
        end = parse_window(window, feed.window) + STEPS[feed.window]
        found.append(WindowLag(window, moment, min(end, now) - moment))
    return found


def stale_lags(feed: Feed, accounts: Sequence[StoredAccount], now: datetime) -> list[WindowLag]:
    """Those that are longer than the feed's ``is_fresh`` lets pass; none where it says nothing."""
    setting = feed.checks.get("is_fresh")
    if setting is None or setting.within is None:
        return []
    return [one for one in lags(feed, accounts, now) if one.age > setting.within]
