"""The two stages of Spark that find the positions of changes in other streams: one collects, the other joins.

The first makes moments and messages of rows of silver, the second makes clocks and positions of them.

Put here what packs and unpacks the rows between the two. Not here: what is collected from the rows (``cross_streams``).
What is imported here is imported by every Python worker.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from assets.arrow.gold.cross_streams import Collected, new_first, positions_of
from transforms.gold.change import Position
from transforms.gold.streams.clocks import Moment, clock
from transforms.source_format import CrossStreamMatcher

_TEXTS = pa.list_(pa.field("element", pa.string()))
_NUMBERS = pa.list_(pa.field("element", pa.int64()))
COLLECTED = "kind string, group binary, place array<bigint>, row binary"
"""One row per moment of a stream, and one per message; ``kind`` says which of the two.

``group``: of a moment its stream, of a message what the messages that belong together have in common. ``place``: of a
moment its position; empty for a message. ``row``: the ``Moment`` or ``Message``, pickled.
"""
COLLECTED_ARROW = pa.schema(
    [("kind", pa.string()), ("group", pa.binary()), ("place", _NUMBERS), ("row", pa.binary())]
)
JOINED = (
    "key array<string>, event_id string, stream string, position array<bigint>, is_new boolean,"
    " clock binary"
)
"""One row per position of a change in another stream (``assets.arrow.gold.cross_streams.Placed``); and one per stream,
with its pickled ``clock`` and no key.
"""
JOINED_ARROW = pa.schema(
    [
        *[("key", _TEXTS), ("event_id", pa.string()), ("stream", pa.string())],
        *[("position", _NUMBERS), ("is_new", pa.bool_()), ("clock", pa.binary())],
    ]
)
_MOMENT, _MESSAGE = "moment", "message"


@dataclass(frozen=True, slots=True)
class CollectPositions:
    """The first stage: rows of silver to moments and messages, as rows of ``COLLECTED``."""

    far: CrossStreamMatcher | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch of ``COLLECTED`` for each batch of silver."""
        for batch in batches:
            collected = Collected()
            collected.collect(batch, self.far)
            rows: list[tuple[str, bytes, Position, bytes]] = []
            for (stream, place, is_new), at in collected.moments.items():
                moment = pickle.dumps(Moment(place, at, is_new))
                rows.append((_MOMENT, stream.encode(), place, moment))
            for by, messages in collected.messages.items():
                group = json.dumps(by).encode()
                rows.extend((_MESSAGE, group, (), pickle.dumps(one)) for one in messages)
            yield _batch(rows, COLLECTED_ARROW)


@dataclass(frozen=True, slots=True)
class JoinPositions:
    """The second stage: clocks and positions, from ``COLLECTED`` rows sorted by ``kind``, ``group`` and ``place``."""

    wanted: frozenset[int]

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
            yield _batch(rows, JOINED_ARROW)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(cells), one.type) for cells, one in zip(columns, schema, strict=True)],
        schema=schema,
    )
