"""One gold table's base rows and horizon, read in this process.

Not here: how they are written, and larger bases, which Spark reads (``bases``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from assets import delta_store
from assets.delta_store import Files
from assets.gold_columns import spelling
from assets.lake import Lake
from assets.store_faults import told_in_words
from transforms.feed import Feed, Table
from transforms.gold.change import Key
from transforms.gold.fold import Last, State
from transforms.horizons import Horizon

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Base:
    """What a table's keys were at its horizon, and of which streams they had changes; no horizon, no rows."""

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
    with told_in_words(f"base.{feed.name}", lake.warehouse):
        for path, size_of in parts:
            found = files.read(unquote(path), size_of, ["key", "streams", "state", "horizon"])
            for told in found["horizon"].filter(pc.is_valid(found["horizon"])).to_pylist():
                horizon = Horizon(tuple(told["position"]))
            of_keys = found.filter(pc.is_valid(found["key"]))
            cells = (of_keys[one].to_pylist() for one in ("key", "streams", "state"))
            for key, streams, state in zip(*cells, strict=True):
                rows[tuple(key)] = (_state(state, names), frozenset(streams))
    return Base(horizon, rows)


def _parts(lake: Lake, feed: Feed, name: str) -> tuple[Files | None, list[tuple[str, int]]]:
    """The base's files, and those of them that are the table's, with their sizes."""
    path = lake.path("base", feed.name)
    with told_in_words(f"base.{feed.name}", lake.warehouse):
        table = delta_store.opened(path, lake.warehouse)
        if table is None:
            return None, []
        listed = pa.table(table.get_add_actions(flatten=True))
        mine = listed.filter(pc.equal(listed["partition.table"], name))
        parts = zip(mine["path"].to_pylist(), mine["size_bytes"].to_pylist(), strict=True)
        return Files.of(table, path, lake.warehouse), [*parts]


def _state(told: Mapping[str, Any], names: Mapping[str, str]) -> State:
    last, columns = told["last"], {names.get(name, name): text for name, text in told["columns"]}
    at = None if last["event_at"] is None else (last["event_at"] - _1970) // _MICROSECOND
    of_last = Last(tuple(last["position"]), last["event_id"], at, is_scoped=bool(last["is_scoped"]))
    return State(told["effect"], columns, told["copies"], of_last, of_last.position)
