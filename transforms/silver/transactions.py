"""Transactions: which of them a window holds whole, and the state of those that no single window holds.

A transaction that one window holds whole needs no other window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LogPosition = tuple[int, ...]


class TransactionEvent(NamedTuple):
    """An event of a transaction, with what decides whether the transaction is whole.

    ``effect`` is ``begin``, ``commit`` or any other; ``expected`` and ``has_begin`` are as in ``event.Transaction``.
    """

    event_id: str
    effect: str
    is_derived: bool
    log_position: LogPosition
    expected: int | None
    has_begin: bool


def commit_of(parts: Iterable[TransactionEvent]) -> LogPosition | None:
    """The position of the commit, where these parts are the whole transaction; else None.

    They are, where there are as many events as the commit says; or, where the commit says no number, where the begin is
    among them. An event that was delivered several times counts once.
    """
    own: set[str] = set()
    has_begun = False
    commits: list[tuple[LogPosition, int | None, bool]] = []
    for part in parts:
        if part.effect == "commit":
            commits.append((part.log_position, part.expected, part.has_begin))
        elif part.effect == "begin":
            has_begun = True
        elif not part.is_derived:
            own.add(part.event_id)
    if not commits:
        return None
    # Of several commits the first counts; at one position, one without a number of events comes first.
    log_position, expected, has_begin = min(
        commits, key=lambda one: (one[0], one[1] is not None, one[1] or 0, one[2])
    )
    is_whole = len(own) >= expected if expected is not None else has_begin and has_begun
    return log_position if is_whole else None


# The state of transactions that no single window holds whole, by what all windows together hold of them.
# docs/change_model.md, Transactions, is the reference.


class OpenEvent(NamedTuple):
    """One event of a transaction that no window holds whole, as one window delivered it.

    ``event_id`` to ``log_position``: as in ``transactions.TransactionEvent``. ``event_at``: when the source made it, in
    microseconds since 1970, or None.
    """

    window: str
    event_id: str
    effect: str
    is_derived: bool
    expected: int | None
    has_begin: bool | None
    log_position: LogPosition
    event_at: int | None


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


def state_of(name: str, events: Iterable[OpenEvent], unread: Sequence[str]) -> TransactionState:
    """The state of the transaction with this id, which has at least one event.

    ``unread``: windows that are known to hold drops, and were not read.
    """
    own: set[str] = set()
    begun_in: set[str] = set()
    commits: list[OpenEvent] = []
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
    last = min(commits, key=_log_position, default=None)
    is_whole = last is not None and _is_whole(
        last, len(own), begun_in, {one.window for one in commits}, unread
    )
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


def _log_position(commit: OpenEvent) -> tuple[LogPosition, bool, int, bool]:
    return (
        commit.log_position,
        commit.expected is not None,
        commit.expected or 0,
        bool(commit.has_begin),
    )


def _is_whole(
    commit: OpenEvent, seen: int, begun_in: set[str], ended_in: set[str], unread: Sequence[str]
) -> bool:
    """Whether all of a transaction has been read.

    It has if as many events were read as the commit says. If the commit gives no number: if every window from one that
    holds the begin to one that holds the commit (both included) is read. If the stream marks no begins: if every window
    up to one that holds the commit is read.
    """
    if commit.expected is not None:
        return seen >= commit.expected
    if not commit.has_begin:
        return any(all(window > end for window in unread) for end in ended_in)
    return any(
        all(not min(begin, end) <= window <= max(begin, end) for window in unread)
        for begin in begun_in
        for end in ended_in
    )
