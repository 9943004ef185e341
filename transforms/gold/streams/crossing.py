"""Range deletes beyond their own stream: where one of another stream stands among a key's changes.

Positions of two streams do not compare. Time does, roughly: a change is after a range delete of another stream where
some event up to it, in its own stream's order, is newer. A change that has a position in the other stream, too, is
after it where that position is. The range delete is put right behind the last of the key's changes that it is after, so
that it stands where it does whatever comes later.

Put here where a range delete of another stream stands among a key's changes. Not here: the clocks of streams
(``clocks``), which keys a scope has (``transforms/gold/range_deletes.py``), and which formats want this
(``SourceFormat.crosses_streams``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from transforms.gold.change import Change, LogPosition
from transforms.gold.range_deletes import RangeDelete
from transforms.gold.streams.clocks import Clock


class CrossStreamPosition(NamedTuple):
    """Where a change stands in another stream than its own."""

    stream: str
    log_position: LogPosition


@dataclass(frozen=True, slots=True)
class Crossing:
    """What decides where range deletes stand in other streams.

    ``clocks``: by stream. ``far``: a key column (``CrossStreamMatcher.column``). Where a scope gives a value for it,
    changes are compared by their cross-stream positions. None where the format has no such positions.
    """

    clocks: Mapping[str, Clock]
    far: str | None

    @property
    def has_moved(self) -> bool:
        """Whether what the run brings may have moved range deletes among others that were there before."""
        return any(one.has_moved for one in self.clocks.values())

    def for_key(
        self,
        matching: Iterable[RangeDelete],
        own: Collection[Change],
        cross_stream_positions: Mapping[str, Collection[CrossStreamPosition]],
    ) -> Iterator[Change]:
        """The range deletes of other streams that a key meets, each where it stands among the key's ``own``.

        ``matching``: those in whose scope the key is. ``cross_stream_positions``: of its changes in other streams, by
        event.
        """
        for range_delete in matching:
            if range_delete.stream is None:
                continue
            last = max(
                (
                    change.log_position
                    for change in own
                    if change.stream not in (None, range_delete.stream)
                    and self._is_before(
                        change, range_delete, cross_stream_positions.get(change.event_id, ())
                    )
                ),
                default=None,
            )
            if last is not None:
                # A position that begins with another comes right after it.
                yield replace(
                    range_delete.change, log_position=(*last, 1), dedup_prefix=len(last) + 1
                )

    def _is_before(
        self,
        change: Change,
        range_delete: RangeDelete,
        cross_stream_positions: Collection[CrossStreamPosition],
    ) -> bool:
        """Whether one of a key's changes is before a range delete of another stream."""
        at = range_delete.change.event_at
        if self.far is None or self.far not in range_delete.scope:
            assert change.stream is not None  # no others are asked about
            return self._up_to(change.stream, change.log_position, at)
        there = max(
            cross_stream_positions, key=lambda one: (one.log_position, one.stream), default=None
        )
        if there is None:
            return True
        if there.stream == range_delete.stream:
            return there.log_position < range_delete.change.log_position
        return self._up_to(there.stream, there.log_position, at)

    def _up_to(self, stream: str, log_position: LogPosition, at: int | None) -> bool:
        return (
            at is not None
            and stream in self.clocks
            and self.clocks[stream].is_before(log_position, at)
        )
