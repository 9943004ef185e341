"""How gold grows, ``runs.<feed>``: how many rows and tombstones it had after each run.

A Delta table's own log tells that only as long as it is kept. Put here the table's columns and what reads or adds rows
of it. Not here: what a run did to gold (``gold/applied``), and how growth is shown (``audit/feed_report``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from assets.delta import delta_rs
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.feed.table_names import TOMBSTONES

RUNS = pa.schema(
    [
        pa.field("run", pa.string()),
        pa.field("ended_at", pa.timestamp("us", "UTC")),
        pa.field("first_window", pa.string()),
        pa.field("last_window", pa.string()),
        pa.field("tables", pa.int64()),
        pa.field("rows", pa.int64()),
        pa.field("tombstones", pa.int64()),
    ]
)
"""One row per run that came to its end: its windows, and how many tables, rows and tombstones gold had then.

A run of the same windows as the last one, after which gold is as large as before, adds none: a repeat makes no commit.
"""

TIDIED_EVERY = 50
"""After so many runs their files are made one: a report reads them all."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """One gold table: how many rows and tombstones it has."""

    name: str
    rows: int
    tombstones: int


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has come to its end: its id, when that was, and its windows."""

    run: str
    ended_at: datetime
    windows: Sequence[str]


def sizes_now(lake: Lake, feed: Feed) -> list[TableSize]:
    """Every gold table that there is, by its folder: the logs of rows and of tombstones say how many there are."""
    folders = delta_rs.folders(lake.path(Layer.GOLD, feed.name), lake.warehouse)
    return [
        TableSize(name, *(_count(lake, feed, one) for one in (name, name + TOMBSTONES)))
        for name in sorted(folders)
        if name + TOMBSTONES in folders
    ]


def _count(lake: Lake, feed: Feed, name: str) -> int:
    return lake.in_process_table(Layer.GOLD, feed.name, name).count()


def runs_of(lake: Lake, feed: Feed) -> InProcessTable:
    """The table, which need not exist yet."""
    return lake.in_process_table(Layer.RUNS, feed.name, columns=RUNS)


def note(lake: Lake, feed: Feed, ended: EndedRun, sizes: Sequence[TableSize]) -> None:
    """Add a run to the table, unless it says the same as the run before it."""
    runs = runs_of(lake, feed)
    facts = {
        "first_window": min(ended.windows),
        "last_window": max(ended.windows),
        "tables": len(sizes),
        "rows": sum(one.rows for one in sizes),
        "tombstones": sum(one.tombstones for one in sizes),
    }
    noted = runs.rows()
    if noted:
        last = max(noted, key=lambda one: one["ended_at"])
        if facts.items() <= last.items():
            return
    runs.append([{"run": ended.run, "ended_at": ended.ended_at, **facts}])
    if runs.version % TIDIED_EVERY == TIDIED_EVERY - 1:
        runs.tidy()
