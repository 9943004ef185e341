"""Where changes are in other streams than their own, as rows of silver say it: what is collected, and the two stages.

The first stage makes moments and messages of rows of silver, the second makes clocks and positions of them.
"""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from transforms.arrow import map_columns
from transforms.arrow.nested_types import NUMBERS, TEXTS
from transforms.gold.change import Key, LogPosition
from transforms.gold.streams.clocks import CLOCK_NUMBERS, Clock, Moment, clock
from transforms.gold.streams.crossing import CrossStreamPosition
from transforms.source_format import CrossStreamMatcher, SilverRow

READ = (
    *("declared", "effect", "operation", "is_derived", "event_at"),
    *("key", "event_id", "stream", "log_position", "is_new"),
)
"""The columns of silver that are read; ``event_at`` in microseconds since 1970 (UTC)."""


class Message(NamedTuple):
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
    messages: dict[tuple[str, ...], list[Message]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def collect(self, batch: pa.RecordBatch, far: CrossStreamMatcher | None) -> None:
        """Collect from rows with the columns ``READ`` and ``after``; ``far`` recognizes messages of other streams."""
        after = map_columns.maps(batch.column("after"))
        cells = zip(*(batch.column(name).to_pylist() for name in READ), strict=True)
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
                one = Message(is_far, tuple(key), event_id, stream, tuple(log_position), is_new)
                self.messages[by].append(one)


def positions_of(messages: Sequence[Message]) -> Iterator[Crossed]:
    """The positions of changes in other streams, from messages that belong together."""
    for far in messages:
        if far.is_far:
            there = CrossStreamPosition(far.stream, far.log_position)
            for one in messages:
                if not one.is_far:
                    yield Crossed(one.key, one.event_id, there, far.is_new)


def clocks(moments: Iterable[tuple[str, Moment]], wanted: Collection[int]) -> dict[str, Clock]:
    """Every stream's clock: its position at each of the wanted times."""
    of_streams: dict[str, list[Moment]] = defaultdict(list)
    for stream, moment in moments:
        of_streams[stream].append(moment)
    return {
        stream: clock(new_first(sorted(some, key=lambda one: one.log_position)), wanted)
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
                of_stream = clock(new_first(one for _, _, one in some), self.wanted)
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
