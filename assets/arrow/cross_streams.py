"""What rows of silver tell of where changes stand in other streams: over Arrow batches, here or in Spark's tasks.

Not here: which rows are read for it (``cross_stream_deletes``), and what follows from it
(``transforms/gold/streams/crossing.py``). What is imported here is imported by every Python worker.
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

from assets.arrow import read_changes
from transforms.gold.change import Key, Position
from transforms.gold.streams.clocks import PLACE, Clock, Moment, clock
from transforms.gold.streams.crossing import CrossStreamPosition
from transforms.source_format import FarPlaces, Telling

TOLD = "kind string, group binary, place array<bigint>, row binary"
_TEXTS = pa.list_(pa.field("element", pa.string()))
_NUMBERS = pa.list_(pa.field("element", pa.int64()))
TOLD_ARROW = pa.schema(
    [("kind", pa.string()), ("group", pa.binary()), ("place", _NUMBERS), ("row", pa.binary())]
)
FOUND = (
    "key array<string>, event_id string, stream string, position array<bigint>, is_new boolean,"
    " clock binary"
)
FOUND_ARROW = pa.schema(
    [
        *[("key", _TEXTS), ("event_id", pa.string()), ("stream", pa.string())],
        *[("position", _NUMBERS), ("is_new", pa.bool_()), ("clock", pa.binary())],
    ]
)
_MOMENT, _MET = "moment", "met"
HEARD = (
    *("declared", "effect", "operation", "is_derived", "event_at"),
    *("key", "event_id", "stream", "position", "is_new"),
)
"""The columns of what is heard; ``event_at`` in microseconds since 1970 (UTC)."""


class Met(NamedTuple):
    """A change of the table, or the message that tells its place in another stream (``is_far``)."""

    is_far: bool
    key: Key
    event_id: str
    stream: str
    position: Position
    is_new: bool


class Placed(NamedTuple):
    """Where a change of the table stands in another stream; ``is_new``: the run brings the message that tells it."""

    key: Key
    event_id: str
    there: CrossStreamPosition
    is_new: bool


@dataclass
class Heard:
    """What rows of silver tell: each stream's newest times by place, and which messages meet by what they say."""

    moments: dict[tuple[str, Position, bool], int | None] = field(default_factory=dict)
    met: dict[tuple[str, ...], list[Met]] = field(default_factory=lambda: defaultdict(list))

    def hear(self, batch: pa.RecordBatch, far: FarPlaces | None) -> None:
        """Take in rows of ``HEARD`` and ``after``."""
        after = read_changes.maps(batch.column("after"))
        cells = zip(*(batch.column(name).to_pylist() for name in HEARD), strict=True)
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
            meets = far.meets(Telling(declared, effect, operation, is_derived, image or {}, at))
            if meets is not None:
                is_far, by = meets
                one = Met(is_far, tuple(key), event_id, stream, tuple(position), is_new)
                self.met[by].append(one)


def placed(met: Sequence[Met]) -> Iterator[Placed]:
    """The places that messages which meet tell of each other."""
    for far in met:
        if far.is_far:
            there = CrossStreamPosition(far.stream, far.position)
            for one in met:
                if not one.is_far:
                    yield Placed(one.key, one.event_id, there, far.is_new)


def clocks(moments: Iterable[tuple[str, Moment]], wanted: Collection[int]) -> dict[str, Clock]:
    """Every stream's clock."""
    of_streams: dict[str, list[Moment]] = defaultdict(list)
    for stream, moment in moments:
        of_streams[stream].append(moment)
    return {
        stream: clock(_in_order(sorted(some, key=lambda one: one.place)), wanted)
        for stream, some in of_streams.items()
    }


@dataclass(frozen=True, slots=True)
class Tell:
    """What rows of silver tell, as rows of ``TOLD``."""

    far: FarPlaces | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch for each."""
        for batch in batches:
            heard = Heard()
            heard.hear(batch, self.far)
            rows: list[tuple[str, bytes, Position, bytes]] = []
            for (stream, place, is_new), at in heard.moments.items():
                moment = pickle.dumps(Moment(place, at, is_new))
                rows.append((_MOMENT, stream.encode(), place, moment))
            for by, met in heard.met.items():
                group = json.dumps(by).encode()
                rows.extend((_MET, group, (), pickle.dumps(one)) for one in met)
            yield _batch(rows, TOLD_ARROW)


@dataclass(frozen=True, slots=True)
class Listen:
    """Clocks and places from rows that come sorted by ``kind``, ``group`` and ``place``."""

    wanted: frozenset[int]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``FOUND``."""
        told = (
            (kind, group, pickle.loads(row))
            for batch in batches
            for kind, group, row in zip(
                *(batch.column(name).to_pylist() for name in ("kind", "group", "row")), strict=True
            )
        )
        for (kind, group), some in groupby(told, key=lambda one: one[:2]):
            rows: list[tuple[object, ...]] = []
            if kind == _MOMENT:
                of_stream = clock(_in_order(one for _, _, one in some), self.wanted)
                rows.append(((), "", group.decode(), (), False, pickle.dumps(of_stream)))
            else:
                for one in placed([met for _, _, met in some]):
                    rows.append((one.key, one.event_id, *one.there, one.is_new, b""))
            yield _batch(rows, FOUND_ARROW)


def _in_order(moments: Iterable[Moment]) -> Iterator[Moment]:
    """A place that the run brings comes before the same one of earlier."""
    for _, some in groupby(moments, key=lambda one: one.place):
        yield from sorted(some, key=lambda one: not one.is_new)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(cells), one.type) for cells, one in zip(columns, schema, strict=True)],
        schema=schema,
    )
