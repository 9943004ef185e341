"""Partitions of topics, ranges of their offsets, how tasks divide these, and the window of a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from transforms.feed.feed import WindowSize
from transforms.feed.windows import FIRST, window_at

SMALLEST = 20_000
"""Ranges with fewer offsets are not divided: a task of its own costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition of a topic as it is now: its first offset is ``earliest``.

    ``end``: one more than the last offset that a consumer of committed records may read. ``written``: one more than the
    last offset that there is. Offsets between the two wait for the end of a transaction.
    """

    topic: str
    topic_id: str
    number: int
    earliest: int
    end: int
    written: int = 0

    @property
    def name(self) -> str:
        """What bronze calls it."""
        return f"{self.topic}/{self.number}"


@dataclass(frozen=True, slots=True)
class Range:
    """Offsets of one partition to be read, ``first`` included and ``end`` not.

    ``is_last``: it ends where the partition ends. ``window``: of the last record that was read before, if any.
    """

    partition: Partition
    first: int
    end: int
    is_last: bool = True
    window: str | None = None

    @property
    def size(self) -> int:
        """How many offsets; some of them may hold no record."""
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class ReadUpTo:
    """How far bronze has a partition: the next offset, and the window of the last one."""

    next_offset: int
    window: str


def divided_ranges(ranges: Sequence[Range], tasks: int) -> list[tuple[Range, ...]]:
    """The ranges in about so many parts of about equal size; a large one is cut, small ones share a part."""
    total = sum(one.size for one in ranges)
    most = max(SMALLEST, -(-total // tasks))
    pieces = [piece for one in ranges for piece in _cut(one, most)]
    parts: list[list[Range]] = [[] for _ in range(min(tasks, len(pieces)))]
    for piece in sorted(pieces, key=lambda one: -one.size):
        min(parts, key=lambda part: sum(one.size for one in part)).append(piece)
    return [tuple(part) for part in parts]


def _cut(one: Range, most: int) -> list[Range]:
    starts = [*range(one.first, one.end, most)]
    ends = [*starts[1:], one.end]
    return [
        replace(one, first=start, end=end, is_last=end == one.end)
        for start, end in zip(starts, ends, strict=True)
    ]


# The window of a Kafka record is that of its timestamp, whoever gave it. A record without one, with an impossible one,
# or with one before the first window is in the first window: only the record itself may decide, whenever it is read.


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def moment_of(milliseconds: int | None) -> datetime:
    """The moment of a timestamp, or the first window's beginning for one that is none."""
    if milliseconds is None or not 0 <= milliseconds < _LAST:
        return FIRST
    return _EPOCH + timedelta(milliseconds=milliseconds)


def window_of(milliseconds: int | None, size: WindowSize) -> str:
    """The window of a timestamp."""
    return window_at(max(moment_of(milliseconds), FIRST), size)
