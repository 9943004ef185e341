"""One gold table's base rows and horizon, read in this process.

Put here what reads a small base without Spark. Not here: how bases are written, and larger ones, which Spark reads
(``bases``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import spelling
from assets.delta.store_faults import naming_store_faults
from assets.delta.table_files import Files
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Key
from transforms.gold.state import Last, State
from transforms.horizons import Horizon


@dataclass(frozen=True, slots=True)
class Base:
    """The base of one gold table: by key its state at the horizon, and the streams that its changes came from.

    No horizon and no rows where the table was never compacted.
    """

    horizon: Horizon | None = None
    rows: Mapping[Key, tuple[State, Collection[str | None]]] = field(default_factory=dict)


def size(lake: Lake, feed: Feed, name: str) -> int:
    """How many bytes the base rows of one gold table have."""
    return sum(size for _, size in _parts(lake, feed, name)[1])


def read(lake: Lake, feed: Feed, table: Table, name: str) -> Base:
    """The base of one gold table (``name``), with its columns under gold's names."""
    files, parts = _parts(lake, feed, name)
    horizon: Horizon | None = None
    rows: dict[Key, tuple[State, Collection[str | None]]] = {}
    if files is None:
        return Base()
    names = spelling.both(table)
    with naming_store_faults(f"base.{feed.name}", lake.warehouse):
        for path, size_of in parts:
            found = files.read(unquote(path), size_of, ["key", "streams", "state", "horizon"])
            for row in found["horizon"].filter(pc.is_valid(found["horizon"])).to_pylist():
                horizon = Horizon(tuple(row["position"]))
            of_keys = found.filter(pc.is_valid(found["key"]))
            for key, streams, state in _rows(of_keys, names):
                rows[key] = (state, streams)
    return Base(horizon, rows)


def _parts(lake: Lake, feed: Feed, name: str) -> tuple[Files | None, list[tuple[str, int]]]:
    """The base's files, and those of them that are the table's, with their sizes."""
    path = lake.path(Layer.BASE, feed.name)
    with naming_store_faults(f"base.{feed.name}", lake.warehouse):
        table = lake.opened(Layer.BASE, feed.name)
        if table is None:
            return None, []
        listed = pa.table(table.get_add_actions(flatten=True))
        mine = listed.filter(pc.equal(listed["partition.table"], name))
        parts = zip(mine["path"].to_pylist(), mine["size_bytes"].to_pylist(), strict=True)
        return Files.of(table, path, lake.warehouse), [*parts]


def _rows(
    rows: pa.Table, names: Mapping[str, str]
) -> Iterator[tuple[Key, frozenset[str | None], State]]:
    def of(*path: str) -> list[Any]:
        return list(pc.struct_field(rows["state"], list(path)).to_pylist())

    # As numbers: Spark's times are without their zone here, and may be beyond what Python's can say.
    moments = pc.struct_field(rows["state"], ["last", "event_at"]).cast(pa.timestamp("us"))
    cells = zip(
        *(rows["key"].to_pylist(), rows["streams"].to_pylist()),
        *(of("effect"), of("columns"), of("copies")),
        *(of("last", "position"), of("last", "event_id"), moments.cast(pa.int64()).to_pylist()),
        strict=True,
    )
    for key, streams, effect, columns, copies, position, event_id, at in cells:
        last = Last(tuple(position), event_id, at, is_scoped=False)
        image = {names.get(name, name): text for name, text in columns}
        yield tuple(key), frozenset(streams), State(effect, image, copies, last, last.position)
