"""Worlds of many histories in the same tables, the oracle's rows for them, and the rows that the tables have.

Not here: runs, and the laws that compare the two (``test_model_laws``).
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from tests.laws.compacting import Compacted
from tests.laws.drawn import model_histories
from tests.laws.oracle.oracle import Event, Key, current, visible
from transforms.feed.feed import Feed, Table

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
"""The number of the first history: the same one draws the same."""
WITH_HISTORY = "item"
"""The table whose versions are compared, too: it has partial updates, key changes and truncates."""
WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]

Outcome = tuple[dict[Key, tuple[object, ...]], dict[Key, tuple[object, ...]]]
"""Rows and tombstones by key, as plain values."""


@dataclass(frozen=True)
class World:
    """Many histories of one kind, delivered: every delivery, by table and window."""

    feed: Feed
    delivered: dict[str, dict[str, list[Event]]]

    def of_windows(self, windows: Iterable[str]) -> list[Event]:
        """Every delivery of these windows."""
        return [event for of in self.delivered.values() for one in windows for event in of[one]]

    def by_case(self, table: str, compacted: Compacted | None) -> dict[str, list[Event]]:
        """Every delivery for a table, by case, but for what came too late."""
        found: dict[str, list[Event]] = defaultdict(list)
        for events in self.delivered[table].values():
            for event in events:
                if compacted is None or not compacted.is_too_late(event):
                    found[case_of(event)].append(event)
        return found

    def expected(
        self, table: str, windows: list[str], compacted: Compacted | None = None
    ) -> Outcome:
        """What the oracle makes of what these windows brought, case by case, but for what came too late."""
        shape = model_histories.TABLES[table]
        by_case: dict[str, dict[str, list[Event]]] = defaultdict(lambda: {w: [] for w in WINDOWS})
        # Of all tables: a transaction may have changes in several.
        for of in self.delivered.values():
            for window, events in of.items():
                for event in events:
                    if compacted is None or not compacted.is_too_late(event):
                        by_case[case_of(event)][window].append(event)
        rows: dict[Key, tuple[object, ...]] = {}
        tombstones: dict[Key, tuple[object, ...]] = {}
        for delivered in by_case.values():
            counting = visible(delivered, windows)
            state = current([event for event in counting if event.table == table], shape)
            for key, row in state.rows.items():
                values = tuple(row.values[column] for column in shape.columns)
                place = (list(row.log_position), row.event_id, row.event_at_ms)
                rows[key] = (row.copies, *values, *place)
            for key, (log_position, last) in state.tombstones.items():
                # A tombstone at or below the compaction watermark goes: nothing older can come.
                if compacted is None or last not in compacted.known:
                    tombstones[key] = (list(log_position), last)
        return rows, tombstones


def case_of(event: Event) -> str:
    """Whose history the event is part of."""
    said = {**event.before, **event.after, **(event.scope or {})}
    return (
        str(said["case_id"])
        if "case_id" in said
        else str(event.stream).removeprefix("tablet-").partition("/")[0]
    )


def world(kind: str, landing: Path, histories: int) -> World:
    """Draw so many histories of one kind and lay them out as drops, one per window."""
    tables = {name: model_histories.TABLES[name] for name in model_histories.KINDS[kind]}
    delivered: dict[str, dict[str, list[Event]]] = {
        name: {window: [] for window in WINDOWS} for name in tables
    }
    rng = Random(f"order {kind} {SEED}")
    drops: dict[str, list[Event]] = {window: [] for window in WINDOWS}
    for seed in range(SEED, SEED + histories):
        events = model_histories.history(kind, seed, f"{kind}-{seed}", 5 + seed % 36)
        arrived = model_histories.deliveries(events, seed, windows=len(WINDOWS))
        for number, some in arrived.items():
            drops[WINDOWS[number]] += some
    for window, events in drops.items():
        rng.shuffle(events)
        for event in events:
            delivered[event.table][window].append(event)
        lines = (json.dumps(model_histories.to_record(event)) for event in events)
        file = landing / window.replace("T", "/") / "part_1.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text("".join(f"{line}\n" for line in lines))
    declared = {
        name: Table(
            *(name, one.key, one.columns, tuple(one.columns)),
            defaults=one.defaults,
            history=name == WITH_HISTORY,
        )
        for name, one in tables.items()
    }
    return World(Feed(f"laws_{kind}", "model", str(landing), tables=declared), delivered)


def found(lake: Lake, feed: Feed, name: str) -> Outcome:
    """Rows and tombstones of a gold table, in the oracle's values."""
    table = feed.tables[name]
    gold = lake.table(Layer.GOLD, feed.name, name).read()
    values = [
        F.col(f"`{column}`")
        .cast("string" if kind in ("date", "timestamp") else gold.schema[column].dataType)
        .alias(column)
        for column, kind in table.columns.items()
    ]
    at = F.unix_millis("_weir_event_at").alias("at")
    rows: dict[Key, tuple[object, ...]] = {}
    copies: Counter[Key] = Counter()
    for row in gold.select(*values, "_weir_log_position", "_weir_event_id", at).collect():
        plain = tuple(row)
        key = tuple(text(row[column]) for column in table.identity)
        copies[key] += 1
        rows[key] = plain
    assert not table.key or max(copies.values(), default=1) == 1, "two rows of one key"
    own = "_weir_key" if not table.key else None
    tombstones: dict[Key, tuple[object, ...]] = {}
    for row in lake.table(Layer.GOLD, feed.name, f"{name}__tombstones").read().collect():
        key = (
            tuple(json.loads(row[own])) if own else tuple(text(row[column]) for column in table.key)
        )
        # Those of keys that came back are idle until compaction, and so are older ones of a key.
        stone = row["_weir_log_position"], row["_weir_event_id"]
        if key not in rows and (key not in tombstones or tombstones[key] < stone):
            tombstones[key] = stone
    return {key: (copies[key], *row) for key, row in rows.items()}, tombstones


def text(value: Any) -> str | None:
    """A key's value as canonical text."""
    return None if value is None else str(value)


def assert_same(actual: Outcome, expected: Outcome, where: str) -> None:
    """Equal, or the first few keys that differ."""
    for what, one, other in zip(("rows", "tombstones"), actual, expected, strict=True):
        keys = sorted(one.keys() | other.keys(), key=str)
        differing = [key for key in keys if one.get(key) != other.get(key)]
        shown = "\n".join(
            f"{key}\n  gold   {one.get(key)}\n  oracle {other.get(key)}" for key in differing[:5]
        )
        assert not differing, f"{where}: {len(differing)} of {len(keys)} {what} differ:\n{shown}"
