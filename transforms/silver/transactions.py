"""Transactions within one window: which of them the window holds whole.

Such a one needs no other window. Put here when a transaction is whole, within one window. Not here: putting windows
together (``assets/columns/transactions.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

Position = tuple[int, ...]


class Part(NamedTuple):
    """An event of a transaction, as far as it tells whether the transaction is whole.

    ``effect`` is ``begin``, ``commit`` or any other; ``expected`` and ``has_begin`` are as in ``event.Transaction``.
    """

    event_id: str
    effect: str
    is_derived: bool
    position: Position
    expected: int | None
    has_begin: bool


def commit_of(parts: Iterable[Part]) -> Position | None:
    """The position of the commit, where all of the transaction is here; else None.

    It is whole where as many events are here as its commit says; where no commit says so, where its begin is here, too.
    An event that was delivered several times is one.
    """
    own: set[str] = set()
    has_begun = False
    commits: list[tuple[Position, int | None, bool]] = []
    for part in parts:
        if part.effect == "commit":
            commits.append((part.position, part.expected, part.has_begin))
        elif part.effect == "begin":
            has_begun = True
        elif not part.is_derived:
            own.add(part.event_id)
    if not commits:
        return None
    # Of several the first; one that says no number sorts before one that does.
    position, expected, has_begin = min(
        commits, key=lambda one: (one[0], one[1] is not None, one[1] or 0, one[2])
    )
    is_whole = len(own) >= expected if expected is not None else has_begin and has_begun
    return position if is_whole else None
