"""The two stages in Spark's tasks that find where changes stand in other streams: every row is read, then rows meet.

Put here what packs and unpacks the rows between the two. Not here: what rows tell of each other (``cross_streams``).
What is imported here is imported by every Python worker.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from assets.arrow.gold.cross_streams import Heard, in_order, placed
from transforms.gold.change import Position
from transforms.gold.streams import Moment, clock
from transforms.source_format import FarPlaces

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


@dataclass(frozen=True, slots=True)
class Tell:
    """The first stage: rows of silver to moments and messages, as rows of ``TOLD``."""

    far: FarPlaces | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch of ``TOLD`` for each batch of silver."""
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
    """The second stage: clocks and positions, from rows of ``TOLD`` sorted by ``kind``, ``group`` and ``place``."""

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
                of_stream = clock(in_order(one for _, _, one in some), self.wanted)
                rows.append(((), "", group.decode(), (), False, pickle.dumps(of_stream)))
            else:
                for one in placed([met for _, _, met in some]):
                    rows.append((one.key, one.event_id, *one.there, one.is_new, b""))
            yield _batch(rows, FOUND_ARROW)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(cells), one.type) for cells, one in zip(columns, schema, strict=True)],
        schema=schema,
    )
