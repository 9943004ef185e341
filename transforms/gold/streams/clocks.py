"""Clocks of streams: up to which place of a stream nothing was newer than some moment.

Positions of two streams do not compare, so that time has to: roughly, since clocks of machines differ. Put here what
places and times of one stream say. Not here: where scoped changes of another stream then stand (``crossing``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.gold.change import Position

PLACE: Final = 3
"""Epoch, phase and the source's first number: what of a position time is measured at."""


class Moment(NamedTuple):
    """A place of a stream, and the newest time there (in microseconds; None: unknown); whether the run brings it."""

    place: Position
    at: int | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class Clock:
    """Up to where one stream had come at some moments.

    ``begins``: its first place that has a time; None without any. ``newer``: for each asked moment, the first place at
    which the stream had an event later than that moment; the moment is missing where no event is later. ``has_moved``:
    whether this run's events change ``is_before`` for a place that was known before the run.
    """

    begins: Position | None
    newer: Mapping[int, Position]
    has_moved: bool = False

    def is_before(self, position: Position, at: int) -> bool:
        """Whether nothing in the stream up to this position was newer than the moment."""
        place = position[:PLACE]
        if self.begins is None or place < self.begins:
            return False
        newer = self.newer.get(at)
        return newer is None or place < newer


def clock(moments: Iterable[Moment], asked: Collection[int]) -> Clock:
    """One stream's clock for the moments that are ``asked`` for, from its places in their order."""
    wanted = sorted(asked)
    newer: dict[int, Position] = {}
    begins: Position | None = None
    # The newest time so far: of all there is, and of what was there before the run.
    newest: int | None = None
    before: int | None = None
    passed, has_moved = 0, False
    for place, at, is_new in moments:
        if at is not None:
            begins = place if begins is None else begins
            newest = at if newest is None else max(newest, at)
            if not is_new:
                before = at if before is None else max(before, at)
            while passed < len(wanted) and wanted[passed] < newest:
                newer[wanted[passed]] = place
                passed += 1
        if not is_new and newest != before:
            has_moved = has_moved or _answers_differ(wanted, before, newest)
    return Clock(begins, newer, has_moved)


def _answers_differ(wanted: Sequence[int], before: int | None, newest: int | None) -> bool:
    """Whether some moment comes after one of the two times, and not after the other."""
    assert newest is not None  # it is at least what was there before, and not the same
    if before is None:
        return bool(wanted) and wanted[-1] >= newest
    first = bisect_left(wanted, before)
    return first < len(wanted) and wanted[first] < newest
