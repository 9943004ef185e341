"""Range deletes: a truncate, a drop or a star delete changes every key that it is for, in other streams, too."""

from __future__ import annotations

import json
import pickle
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, NamedTuple

import pyarrow as pa

from transforms.change import Change, Image, Key, LogPosition
from transforms.column_types import map_columns
from transforms.column_types.map_columns import NUMBERS, TEXTS
from transforms.source_format import CrossStreamMatcher, SilverRow


@dataclass(frozen=True, slots=True)
class RangeDelete:
    """One range delete: for the keys whose columns have the values of ``scope`` (empty: all of the table).

    ``stream``: only for keys of this stream; None for those of all.
    """

    scope: Image
    stream: str | None
    change: Change


class RangeDeletesByKey:
    """All range deletes of one table, found by key; ``identity`` names the key's columns in order."""

    def __init__(self, range_deletes: Iterable[RangeDelete], identity: Sequence[str]) -> None:
        self._found: dict[tuple[int, ...], dict[Key, list[RangeDelete]]] = {}
        for one in range_deletes:
            columns = sorted(one.scope)
            at = tuple([identity.index(name) for name in columns])
            values = tuple([one.scope[name] for name in columns])
            self._found.setdefault(at, defaultdict(list))[values].append(one)

    def of(self, key: Key, streams: Collection[str | None]) -> Iterator[Change]:
        """The range deletes that apply to a key which has changes of these streams."""
        for one in self.matching(key):
            if one.stream is None or one.stream in streams:
                yield one.change

    def reach_across(self, key: Key) -> bool:
        """Whether a key is in the scope of a change of some stream, whichever streams the key has changes of."""
        return any(one.stream is not None for one in self.matching(key))

    def matching(self, key: Key) -> Iterator[RangeDelete]:
        """The range deletes in whose scope a key is, whichever streams they and the key are of."""
        for at, by_values in self._found.items():
            yield from by_values.get(tuple([key[number] for number in at]), ())


# Clocks of streams: up to which position of a stream nothing was newer than some moment.
# Positions of two streams do not compare, so that time has to: roughly, since clocks of machines differ.


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


def clock_of(moments: Iterable[Moment], asked: Collection[int]) -> Clock:
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


# Range deletes beyond their own stream: where one of another stream stands among a key's changes.
# Positions of two streams do not compare. Time does, roughly: a change is after a range delete of another stream
# where some event up to it, in its own stream's order, is newer. A change that has a position in the other stream,
# too, is after it where that position is. The range delete is put right behind the last of the key's changes that it
# is after, so that it stands where it does whatever comes later.


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


# Where changes are in other streams than their own, as rows of silver say it: what is collected, and the two stages.
# The first stage makes moments and messages of rows of silver, the second makes clocks and positions of them.


READ_COLUMNS = (
    *("declared", "effect", "operation", "is_derived", "event_at"),
    *("key", "event_id", "stream", "log_position", "is_new"),
)
"""The columns of silver that are read; ``event_at`` in microseconds since 1970 (UTC)."""


class StreamMessage(NamedTuple):
    """A change of the table, or a message that says the change's position in another stream (``is_far``)."""

    is_far: bool
    key: Key
    event_id: str
    stream: str
    log_position: LogPosition
    is_new: bool


class Crossed(NamedTuple):
    """The position of a change in another stream; ``is_new``: the run brings the message that says it."""

    key: Key
    event_id: str
    there: CrossStreamPosition
    is_new: bool


@dataclass
class Collected:
    """What has been collected: each stream's newest time by position, and messages by what they have in common."""

    moments: dict[tuple[str, LogPosition, bool], int | None] = field(default_factory=dict)
    messages: dict[tuple[str, ...], list[StreamMessage]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def collect(self, batch: pa.RecordBatch, far: CrossStreamMatcher | None) -> None:
        """Collect from rows with the columns ``READ`` and ``after``; ``far`` recognizes messages of other streams."""
        after = map_columns.maps(batch.column("after"))
        cells = zip(*(batch.column(name).to_pylist() for name in READ_COLUMNS), strict=True)
        for image, row in zip(after, cells, strict=True):
            (
                declared,
                effect,
                operation,
                is_derived,
                at,
                key,
                event_id,
                stream,
                log_position,
                is_new,
            ) = row
            if stream is None:
                continue
            moment = (stream, tuple(log_position[:CLOCK_NUMBERS]), is_new)
            known = self.moments.get(moment)
            self.moments[moment] = at if known is None else max(known, at or known)
            if far is None:
                continue
            meets = far.meets(SilverRow(declared, effect, operation, is_derived, image or {}, at))
            if meets is not None:
                is_far, by = meets
                one = StreamMessage(
                    is_far, tuple(key), event_id, stream, tuple(log_position), is_new
                )
                self.messages[by].append(one)


def positions_of(messages: Sequence[StreamMessage]) -> Iterator[Crossed]:
    """The positions of changes in other streams, from messages that belong together."""
    for far in messages:
        if far.is_far:
            there = CrossStreamPosition(far.stream, far.log_position)
            for one in messages:
                if not one.is_far:
                    yield Crossed(one.key, one.event_id, there, far.is_new)


def clocks_of_streams(
    moments: Iterable[tuple[str, Moment]], wanted: Collection[int]
) -> dict[str, Clock]:
    """Every stream's clock: its position at each of the wanted times."""
    of_streams: dict[str, list[Moment]] = defaultdict(list)
    for stream, moment in moments:
        of_streams[stream].append(moment)
    return {
        stream: clock_of(new_first(sorted(some, key=lambda one: one.log_position)), wanted)
        for stream, some in of_streams.items()
    }


def new_first(moments: Iterable[Moment]) -> Iterator[Moment]:
    """The moments, which come sorted by position; of equal positions those that the run brings come first."""
    for _, some in groupby(moments, key=lambda one: one.log_position):
        yield from sorted(some, key=lambda one: not one.is_new)


COLLECTED = pa.schema(
    [("kind", pa.string()), ("group", pa.binary()), ("log_position", NUMBERS), ("row", pa.binary())]
)
"""One row per moment of a stream, and one per message; ``kind`` says which of the two.

``group``: of a moment its stream, of a message what the messages that belong together have in common. ``log_position``:
of a moment its position; empty for a message. ``row``: the ``Moment`` or ``Message``, pickled.
"""
JOINED = pa.schema(
    [
        *[("key", TEXTS), ("event_id", pa.string()), ("stream", pa.string())],
        *[("log_position", NUMBERS), ("is_new", pa.bool_()), ("clock", pa.binary())],
    ]
)
"""One row per position of a change in another stream (``Crossed``); and one per stream,
with its pickled ``clock`` and no key.
"""
_MOMENT, _MESSAGE = "moment", "message"


@dataclass(frozen=True, slots=True)
class CollectPositions:
    """The first stage: rows of silver to moments and messages, as rows of ``COLLECTED``."""

    far: CrossStreamMatcher | None

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return COLLECTED

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch of ``COLLECTED`` for each batch of silver."""
        for batch in batches:
            collected = Collected()
            collected.collect(batch, self.far)
            rows: list[tuple[str, bytes, LogPosition, bytes]] = []
            for (stream, log_position, is_new), at in collected.moments.items():
                moment = pickle.dumps(Moment(log_position, at, is_new))
                rows.append((_MOMENT, stream.encode(), log_position, moment))
            for by, messages in collected.messages.items():
                group = json.dumps(by).encode()
                rows.extend((_MESSAGE, group, (), pickle.dumps(one)) for one in messages)
            yield _batch(rows, COLLECTED)


@dataclass(frozen=True, slots=True)
class JoinPositions:
    """The second stage: clocks and positions, of ``COLLECTED`` rows by ``kind``, ``group`` and ``log_position``."""

    wanted: frozenset[int]

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return JOINED

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``JOINED``."""
        collected = (
            (kind, group, pickle.loads(row))
            for batch in batches
            for kind, group, row in zip(
                *(batch.column(name).to_pylist() for name in ("kind", "group", "row")), strict=True
            )
        )
        for (kind, group), some in groupby(collected, key=lambda one: one[:2]):
            rows: list[tuple[object, ...]] = []
            if kind == _MOMENT:
                of_stream = clock_of(new_first(one for _, _, one in some), self.wanted)
                rows.append(((), "", group.decode(), (), False, pickle.dumps(of_stream)))
            else:
                for one in positions_of([message for _, _, message in some]):
                    rows.append((one.key, one.event_id, *one.there, one.is_new, b""))
            yield _batch(rows, JOINED)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(cells), one.type) for cells, one in zip(columns, schema, strict=True)],
        schema=schema,
    )
