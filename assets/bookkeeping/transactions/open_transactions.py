"""Transactions that are not complete now, as a person is shown them: how much waits, since when, and for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from assets.bookkeeping import window_progress
from assets.bookkeeping.transactions import open_events, transaction_states
from assets.bookkeeping.transactions.landed_objects import Landed
from assets.lake import Lake
from assets.wording import counted
from transforms.display.markdown import Markdown, bullets
from transforms.feed.feed import Feed
from transforms.feed.windows import parse_window
from transforms.moments import moment_of


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """One transaction that is not complete.

    ``waiting``: how many changes wait. ``seen``, ``expected``: events read, and how many its commit says there are.
    ``first_window``, ``first_at``: of its first event. ``unread``: windows that have landed and are not read.
    """

    id: str
    waiting: int
    has_commit: bool
    seen: int
    expected: int | None
    first_window: str
    first_at: datetime | None
    age: timedelta
    never_committed: bool
    unread: tuple[str, ...] = ()


def still_open(lake: Lake, feed: Feed) -> list[OpenTransaction]:
    """The transactions that are open now, the oldest first.

    Their age is counted in landing windows, up to the newest that was read: nothing grows older while nothing lands.
    Past the feed's timeout a transaction is called ``never_committed``, which is a guess: its commit may yet come.
    """
    if not open_events.table_of(lake, feed).count():
        return []
    known = KnownBefore.read(lake, feed)
    declared = window_progress.declarations(feed, known.landed.doubtful)
    accounts = window_progress.accounts_of(lake, feed)
    return known.still_open(lake, feed, open_events.COLUMNS.empty_table(), declared, accounts)


@dataclass(frozen=True, slots=True)
class KnownBefore:
    """What is known of transactions over several windows before a run derives some of these windows.

    ``events``: those of the other windows (``open_events.COLUMNS``); None where there are more than fit into this
    process. ``landed``: what has landed, for a transaction may go on in what was not read.
    """

    events: pa.Table | None
    landed: Landed

    @classmethod
    def read(cls, lake: Lake, feed: Feed, windows: Sequence[str] = ()) -> KnownBefore:
        """What is known now; ``windows``: those that the run derives."""
        events = open_events.read(lake, feed)
        others = None if events is None else open_events.without_windows(events, windows)
        return cls(others, Landed.read(lake, feed))

    def still_open(
        self,
        lake: Lake,
        feed: Feed,
        derived: pa.Table | None,
        declared: Mapping[str, str],
        accounts: Sequence[Mapping[str, Any]],
    ) -> list[OpenTransaction]:
        """The function ``still_open`` by what a run knows.

        Args:
            lake: The warehouse, whose silver has the commits of transactions that some window holds whole.
            feed: The feed with its recorded decisions.
            derived: The events of the windows that were derived; None where Spark has stored them.
            declared: Under which declaration each doubtful window would be derived now.
            accounts: All accounts of the feed.
        """
        events = None
        if self.events is not None and derived is not None:
            events = pa.concat_tables([self.events, derived])
            if not events.num_rows:
                return []
        missing = self.landed.unread(declared, accounts)
        found = transaction_states.states(lake, feed, events, missing)
        states = [one for one in found if one.commit is None]
        if not states:
            return []
        newest = parse_window(max(row["window"] for row in accounts), feed.window)
        still = []
        for one in sorted(states, key=lambda state: (state.first_window, state.id)):
            age = newest - parse_window(one.first_window, feed.window)
            facts = {name: value for name, value in one._asdict().items() if name != "commit"}
            facts["first_at"] = moment_of(one.first_at)
            overdue = age >= feed.transaction_timeout
            still.append(
                OpenTransaction(**facts, age=age, never_committed=overdue, unread=tuple(missing))
            )
        return still


def described(waiting: Sequence[OpenTransaction]) -> Markdown:
    """The open transactions, one line each: how much waits, since when, and for what."""
    return bullets(
        f"{one.id}: {'never_committed' if one.never_committed else 'open'}:"
        f" {counted(one.waiting, 'change')} since window {one.first_window}"
        f" ({counted(int(one.age / timedelta(hours=1)), 'hour')}); {_lacks(one)}"
        for one in waiting
    )


def _lacks(one: OpenTransaction) -> str:
    if not one.has_commit:
        return "no commit seen"
    if one.expected is not None:
        return f"{one.seen:,} of {one.expected:,} events seen"
    if one.unread:
        return f"windows with drops that are not read yet: {', '.join(one.unread[:5])}{', …' if one.unread[5:] else ''}"
    return "its beginning is not read yet"
