"""Clocks of streams: up to which position of a stream nothing was newer than some moment.

Positions of two streams do not compare, so that time has to: roughly, since clocks of machines differ. Put here what
positions and times of one stream say. Not here: where range deletes of another stream then stand (``crossing``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.gold.change import LogPosition

CLOCK_NUMBERS: Final = 3
"""Epoch, phase and the source's first number: what of a position time is measured at."""


class Moment(NamedTuple):
    """A position of a stream, and the newest time there (in microseconds; None: unknown); whether the run brings it."""

    log_position: LogPosition
    at: int | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class Clock:
    """Up to where one stream had come at some moments.

    ``begins``: its first position that has a time; None without any. ``newer``: for each asked moment, the first
    position at which the stream had an event later than that moment; the moment is missing where no event is later.
    ``has_moved``: whether this run's events change ``is_before`` for a position that was known before the run.
    """

    begins: LogPosition | None
    newer: Mapping[int, LogPosition]
    has_moved: bool = False

    def is_before(self, log_position: LogPosition, at: int) -> bool:
        """Whether nothing in the stream up to this position was newer than the moment."""
        log_position = log_position[:CLOCK_NUMBERS]
        if self.begins is None or log_position < self.begins:
            return False
        newer = self.newer.get(at)
        return newer is None or log_position < newer


def clock(moments: Iterable[Moment], asked: Collection[int]) -> Clock:
    """One stream's clock for the moments that are ``asked`` for, from its positions in their order."""
    wanted = sorted(asked)
    newer: dict[int, LogPosition] = {}
    begins: LogPosition | None = None
    # The newest time so far: of all there is, and of what was there before the run.
    newest: int | None = None
    before: int | None = None
    passed, has_moved = 0, False
    for log_position, at, is_new in moments:
        if at is not None:
            begins = log_position if begins is None else begins
            newest = at if newest is None else max(newest, at)
            if not is_new:
                before = at if before is None else max(before, at)
            while passed < len(wanted) and wanted[passed] < newest:
                newer[wanted[passed]] = log_position
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
