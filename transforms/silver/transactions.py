"""Transactions: whether all of one has been read, in one window or over several (docs/change_model.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LogPosition = tuple[int, ...]


class TransactionEvent(NamedTuple):
    """An event of a transaction, as one window delivered it.

    ``effect`` is ``begin``, ``commit`` or any other; ``expected`` and ``has_begin`` are as in ``event.Transaction``;
    ``event_at`` is when the source made it, in microseconds since 1970.
    """

    event_id: str
    effect: str
    is_derived: bool
    log_position: LogPosition
    expected: int | None
    has_begin: bool | None
    window: str = ""
    event_at: int | None = None


class TransactionState(NamedTuple):
    """The state of one transaction.

    ``commit``: the position of its commit; None while the transaction is not whole. ``has_commit``: whether a commit
    was read, whole or not. ``expected``: how many events the transaction has, where its commit says so. ``seen``: how
    many of its events were read, each counted once. ``waiting``: how many rows of silver are part of it.
    ``first_window``, ``first_at``: the earliest window and time of its events.
    """

    id: str
    commit: LogPosition | None
    has_commit: bool
    expected: int | None
    seen: int
    waiting: int
    first_window: str
    first_at: int | None


def state_of(
    name: str, events: Iterable[TransactionEvent], unread: Sequence[str] | None
) -> TransactionState:
    """The state of the transaction with this id, which has at least one event.

    ``unread``: windows that are known to hold drops, and were not read; None where nothing is known of other windows.
    """
    own: set[str] = set()
    begun_in: set[str] = set()
    commits: list[TransactionEvent] = []
    windows: set[str] = set()
    moments: list[int] = []
    waiting = 0
    for one in events:
        windows.add(one.window)
        if one.event_at is not None:
            moments.append(one.event_at)
        if one.effect == "commit":
            commits.append(one)
        elif one.effect == "begin":
            begun_in.add(one.window)
        else:
            waiting += 1
            if not one.is_derived:
                own.add(one.event_id)
    # Of several commits the first counts; at one position, one without a number of events comes first.
    last = min(
        commits,
        key=lambda one: (
            *(one.log_position, one.expected is not None),
            *(one.expected or 0, bool(one.has_begin)),
        ),
        default=None,
    )
    ended_in = {one.window for one in commits}
    is_whole = last is not None and _is_whole(last, len(own), begun_in, ended_in, unread)
    return TransactionState(
        name,
        last.log_position if last is not None and is_whole else None,
        last is not None,
        None if last is None else last.expected,
        len(own),
        waiting,
        min(windows),
        min(moments, default=None),
    )


def _is_whole(
    commit: TransactionEvent,
    seen: int,
    begun_in: set[str],
    ended_in: set[str],
    unread: Sequence[str] | None,
) -> bool:
    """Whether all of a transaction has been read.

    It has if as many events were read as the commit says. If the commit gives no number: if every window from one that
    holds the begin to one that holds the commit (both included) is read. If the stream marks no begins: if every window
    up to one that holds the commit is read.
    """
    if commit.expected is not None:
        return seen >= commit.expected
    if not commit.has_begin:
        if unread is None:
            return False
        return any(all(window > end for window in unread) for end in ended_in)
    return any(
        all(not min(begin, end) <= window <= max(begin, end) for window in unread or ())
        for begin in begun_in
        for end in ended_in
    )
