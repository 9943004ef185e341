"""Where changes are in other streams than their own, as rows of silver say it, over Arrow batches.

Put here what is collected from rows of silver for it, in this process or in Spark's tasks. Not here: which rows are
read (``assets/gold/changes/cross_stream_deletes.py``), the stages in Spark (``cross_stream_stages``), and what follows
from it (``transforms/gold/streams/crossing.py``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from assets.arrow import map_columns
from transforms.gold.change import Key, Position
from transforms.gold.streams.clocks import PLACE, Clock, Moment, clock
from transforms.gold.streams.crossing import CrossStreamPosition
from transforms.source_format import CrossStreamMatcher, SilverRow

READ = (
    *("declared", "effect", "operation", "is_derived", "event_at"),
    *("key", "event_id", "stream", "position", "is_new"),
)
"""The columns of silver that are read; ``event_at`` in microseconds since 1970 (UTC)."""


class Message(NamedTuple):
    """A change of the table, or a message that says the change's position in another stream (``is_far``)."""

    is_far: bool
    key: Key
    event_id: str
    stream: str
    position: Position
    is_new: bool


class Placed(NamedTuple):
    """The position of a change in another stream; ``is_new``: the run brings the message that says it."""

    key: Key
    event_id: str
    there: CrossStreamPosition
    is_new: bool


@dataclass
class Collected:
    """What has been collected: each stream's newest time by position, and messages by what they have in common."""

    moments: dict[tuple[str, Position, bool], int | None] = field(default_factory=dict)
    messages: dict[tuple[str, ...], list[Message]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def collect(self, batch: pa.RecordBatch, far: CrossStreamMatcher | None) -> None:
        """Collect from rows with the columns ``READ`` and ``after``; ``far`` recognizes messages of other streams."""
        after = map_columns.maps(batch.column("after"))
        cells = zip(*(batch.column(name).to_pylist() for name in READ), strict=True)
        for image, row in zip(after, cells, strict=True):
            declared, effect, operation, is_derived, at, key, event_id, stream, position, is_new = (
                row
            )
            if stream is None:
                continue
            place = (stream, tuple(position[:PLACE]), is_new)
            known = self.moments.get(place)
            self.moments[place] = at if known is None else max(known, at or known)
            if far is None:
                continue
            meets = far.meets(SilverRow(declared, effect, operation, is_derived, image or {}, at))
            if meets is not None:
                is_far, by = meets
                one = Message(is_far, tuple(key), event_id, stream, tuple(position), is_new)
                self.messages[by].append(one)


def positions_of(messages: Sequence[Message]) -> Iterator[Placed]:
    """The positions of changes in other streams, from messages that belong together."""
    for far in messages:
        if far.is_far:
            there = CrossStreamPosition(far.stream, far.position)
            for one in messages:
                if not one.is_far:
                    yield Placed(one.key, one.event_id, there, far.is_new)


def clocks(moments: Iterable[tuple[str, Moment]], wanted: Collection[int]) -> dict[str, Clock]:
    """Every stream's clock: its position at each of the wanted times."""
    of_streams: dict[str, list[Moment]] = defaultdict(list)
    for stream, moment in moments:
        of_streams[stream].append(moment)
    return {
        stream: clock(new_first(sorted(some, key=lambda one: one.place)), wanted)
        for stream, some in of_streams.items()
    }


def new_first(moments: Iterable[Moment]) -> Iterator[Moment]:
    """The moments, which come sorted by position; of equal positions those that the run brings come first."""
    for _, some in groupby(moments, key=lambda one: one.place):
        yield from sorted(some, key=lambda one: not one.is_new)
