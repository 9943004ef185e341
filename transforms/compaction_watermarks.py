"""Compaction watermarks: up to where a table's history has been folded into base rows and dropped.

What stands at or below a compaction watermark is decided: known events are in the base, and unknown ones came too
late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TypeVar

from transforms.change import LogPosition

Stream = TypeVar("Stream", bound="str | None")
"""A stream's name; None where a feed has but one."""


@dataclass(frozen=True, slots=True)
class CompactionWatermark:
    """The newest position that a table's base rows cover."""

    log_position: tuple[int, ...]

    def covers(self, log_position: tuple[int, ...], dedup_prefix: int) -> bool:
        """Whether a change is at or below it; only what is the same in every delivery of it is compared."""
        return log_position[:dedup_prefix] <= self.log_position[:dedup_prefix]


MIN_NEWER_WINDOWS = 2
"""How many windows have to agree that an earlier one is wrong."""


@dataclass(frozen=True, slots=True)
class Span:
    """The oldest and the newest position that one stream has of a table in one window."""

    window: str
    oldest: LogPosition
    newest: LogPosition


def most_have_reached(spans: Sequence[Span], last: str) -> LogPosition | None:
    """How far most windows after ``last`` have come, where an earlier window claims to be beyond that; else None.

    Such a position is wrong (a log sequence number of 2^63-1, say): with the compaction watermark there, all that
    follows would be too late. A single window says nothing: it may repeat old changes, or have such a position itself.
    """
    old = [one.newest for one in spans if one.window <= last]
    since = [one.newest for one in spans if one.window > last]
    if not old or len(since) < MIN_NEWER_WINDOWS:
        return None
    reached = median_low(since)
    return reached if max(old) > reached else None


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one stream has come: its ``oldest`` position, and the ``newest`` that is old enough, if there is one."""

    oldest: LogPosition
    newest: LogPosition | None


def common_position(streams: Mapping[Stream, Reach]) -> tuple[LogPosition | None, Stream | None]:
    """The newest position that every stream has reached, and the stream that lags most.

    (None, None) where no stream has anything old enough. A stream of which nothing is old enough bounds the position by
    its first change: none of its changes is folded yet.
    """
    if all(one.newest is None for one in streams.values()):
        return None, None
    lagging = min(
        streams, key=lambda name: streams[name].newest or position_before(streams[name].oldest)
    )
    return streams[lagging].newest or position_before(streams[lagging].oldest), lagging


def position_before(log_position: LogPosition) -> LogPosition:
    """The last position before another."""
    return (*log_position[:-1], log_position[-1] - 1)
