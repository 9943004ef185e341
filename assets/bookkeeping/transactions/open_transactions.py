"""Transactions that are not complete now, as a person is shown them: how much waits, since when, and for what.

Put here what a check or ``weir status`` says of them. Not here: how far a transaction has come
(``transaction_states``), and which ones a run releases (``complete_transactions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from assets.bookkeeping import accounting
from assets.bookkeeping.transactions import open_events, transaction_states
from assets.bookkeeping.transactions.landed_objects import unread
from assets.lake import Lake
from assets.layers import Layer
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
    missing = unread(lake, feed)
    states = [one for one in transaction_states.states(lake, feed, missing) if one.commit is None]
    if not states:
        return []
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS).read(
        ["window"]
    )
    newest = parse_window(max(accounts["window"].to_pylist()), feed.window)
    found = []
    for one in sorted(states, key=lambda state: (state.first_window, state.id)):
        age = newest - parse_window(one.first_window, feed.window)
        facts = {name: value for name, value in one._asdict().items() if name != "commit"}
        facts["first_at"] = moment_of(one.first_at)
        overdue = age >= feed.transaction_timeout
        found.append(
            OpenTransaction(**facts, age=age, never_committed=overdue, unread=tuple(missing))
        )
    return found


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
