"""Transactions within one window: which of them the window holds whole.

A transaction that one window holds whole needs no other window. Put here when that is so. Not here: transactions that
several windows hold (``open_transactions``).
"""

from __future__ import annotations

from collections.abc import Iterable
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
