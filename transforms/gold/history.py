"""The versions of a row: what a key was after each of its changes, from when to when.

Put here what follows from the state after each change. Not here: the fold itself (``fold``), and how versions get into
a table (``assets/gold/apply``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transforms.gold.change import Change, Image, LogPosition
from transforms.gold.fold import Fold
from transforms.gold.state import ABSENT, Last, State


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a row: its columns, the change that began it, and the one that ended it; None where it stands."""

    columns: Image
    began: Last
    ended: Last | None


def versions(fold: Fold, changes: Iterable[Change], before: State = ABSENT) -> list[Version]:
    """The versions of a key whose changes come in their order.

    Every change that counts ends the version before it, and begins one where the row is there after it, also where no
    column has another value. A key whose history is compacted begins with the version that stood at the compaction
    watermark.
    """
    states = [before, *counted(fold, changes, before)]
    ends = [one.last for one in states[1:]]
    return [
        Version(state.columns, state.last, ended)
        for state, ended in zip(states, [*ends, None], strict=True)
        if state.effect != "remove" and state.last is not None
    ]


def counted(fold: Fold, changes: Iterable[Change], before: State) -> list[State]:
    """The state after each of the changes that counted."""
    found = []
    for change in changes:
        after = fold.step(before, change)
        if after is not before:
            found.append(after)
        before = after
    return found


def are_same(fold: Fold, in_table: Sequence[Version], expected: Sequence[Version]) -> bool:
    """Whether the versions of a key in its table (``in_table``) are those that its changes make (``expected``)."""

    def plain(some: Sequence[Version]) -> list[tuple[object, ...]]:
        # No two versions of a key begin with one event at one position.
        return [
            (
                one.began[:3],
                one.ended and one.ended[:3],
                *[one.columns.get(name) for name in fold.values],
            )
            for one in sorted(some, key=lambda one: one.began[:2])
        ]

    return len(in_table) == len(expected) and plain(in_table) == plain(expected)


def has_late_version(
    in_table: Sequence[Version], expected: Sequence[Version], last: LogPosition
) -> bool:
    """Whether a change came late, before a key's ``last`` change, so that versions before that position differ."""
    return _begun_before(in_table, last) != _begun_before(expected, last)


def _begun_before(some: Sequence[Version], last: LogPosition) -> set[tuple[object, ...]]:
    """Where versions began before a position, and where each ended, if it did so before it."""
    found = set[tuple[object, ...]]()
    for one in some:
        if one.began.log_position < last:
            end = None if one.ended is None else one.ended.log_position
            found.add((*one.began[:2], end if end is not None and end < last else None))
    return found
