"""Worlds of many histories in the same tables, the oracle's rows for them, and the rows that the tables have."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from assets.gold.plan import plan_of
from assets.maintenance import compaction
from assets.maintenance.plan import CompactionPlan
from assets.storage.lake import Lake, Layer
from tests.laws.drawn import model_histories
from tests.laws.oracle.erased import Erasure, linked, reached_by
from tests.laws.oracle.event import Event, Key, LogPosition, event_id
from tests.laws.oracle.event import Table as Shape
from tests.laws.oracle.oracle import current, visible
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table


def compact(lake: Lake, feed: Feed, compaction_watermark: LogPosition) -> None:
    """Compact every table of the feed up to this position, whatever the feed says of retention."""
    for name, table in feed.tables.items():
        plan = CompactionPlan(None, CompactionWatermark(compaction_watermark), ())
        compaction.with_history(lake, plan_of(lake, feed, table, name, []), plan, dry_run=False)


@dataclass(frozen=True)
class Compacted:
    """What a compaction watermark means for events: ``known`` are those that were there when it was drawn, by id."""

    compaction_watermark: LogPosition
    known: frozenset[str]

    @classmethod
    def of(cls, compaction_watermark: LogPosition, delivered: list[Event]) -> Compacted:
        """Drawn when these had been delivered."""
        below = (
            event for event in delivered if is_covered(event.log_position, compaction_watermark)
        )
        return cls(compaction_watermark, frozenset(map(event_id, below)))

    def is_too_late(self, event: Event) -> bool:
        """True for what should have come before the compaction watermark was drawn."""
        return (
            is_covered(event.log_position, self.compaction_watermark)
            and event_id(event) not in self.known
        )

    def is_known(self, event: Event) -> bool:
        """True for repeats of what is in the base."""
        return event_id(event) in self.known


def is_covered(log_position: LogPosition, compaction_watermark: LogPosition) -> bool:
    """True at or below the compaction watermark."""
    return log_position <= compaction_watermark[: len(log_position)]


SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
"""The number of the first history: the same one draws the same."""
WITH_HISTORY = "item"
"""The table whose versions are compared, too: it has partial updates, key changes and truncates."""
KEEP_DELETED = ("edge", "stock", "card")
"""The tables whose deleted rows stay, where nothing else is said."""
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
        self,
        table: str,
        windows: list[str],
        compacted: Compacted | None = None,
        left_out: Collection[tuple[str, Key]] = (),
    ) -> Outcome:
        """What the oracle makes of what these windows brought, case by case, but for what came too late.

        ``left_out``: changes that never happened, each by its event and its key.
        """
        keeps_deleted = self.feed.tables[table].marks_deletes
        shape = replace(model_histories.TABLES[table], keeps_deleted=keeps_deleted)
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
            mine = [event for event in counting if event.table == table]
            state = current(mine, shape, left_out)
            for found_rows, is_deleted in ((state.rows, False), (state.deleted, True)):
                for key, row in found_rows.items():
                    values = tuple(row.values[column] for column in shape.columns)
                    place = (list(row.log_position), row.event_id, row.event_at_ms)
                    mark = (is_deleted, row.event_at_ms if is_deleted else None)
                    rows[key] = (row.copies, *values, *place, *(mark if keeps_deleted else ()))
            for key, (log_position, last) in state.tombstones.items():
                # A tombstone at or below the compaction watermark goes: nothing older can come.
                if compacted is None or last not in compacted.known:
                    tombstones[key] = (list(log_position), last)
        return rows, tombstones

    def linked(self, table: str, windows: Iterable[str], keys: Collection[Key]) -> set[Key]:
        """The keys, and all that key changes of these windows lead to from these, or to these."""
        by_then = [event for window in windows for event in self.delivered[table][window]]
        return linked(keys, by_then, model_histories.TABLES[table])

    def erased(
        self, table: str, windows: Iterable[str], keys: Collection[Key]
    ) -> set[tuple[str, Key]]:
        """The changes that never happened, once these windows have come and then these keys are erased."""
        shape, of = model_histories.TABLES[table], self.delivered[table]
        by_then = [event for window in windows for event in of[window]]
        erasure = Erasure(linked(keys, by_then, shape), reached_by(by_then))
        return erasure.left_out([event for some in of.values() for event in some], shape)


def case_of(event: Event) -> str:
    """Whose history the event is part of."""
    said = {**event.before, **event.after, **(event.scope or {})}
    return (
        str(said["case_id"])
        if "case_id" in said
        else str(event.stream).removeprefix("tablet-").partition("/")[0]
    )


def world(
    kind: str,
    landing: Path,
    histories: int,
    keep_deleted: Collection[str] = KEEP_DELETED,
    first: int = SEED,
) -> World:
    """Draw so many histories of one kind and lay them out as drops, one per window.

    ``keep_deleted``: the tables whose deleted rows stay. ``first``: the number of the first history.
    """
    tables = {name: model_histories.TABLES[name] for name in model_histories.KINDS[kind]}
    delivered: dict[str, dict[str, list[Event]]] = {
        name: {window: [] for window in WINDOWS} for name in tables
    }
    rng = Random(f"order {kind} {first}")
    drops: dict[str, list[Event]] = {window: [] for window in WINDOWS}
    for seed in range(first, first + histories):
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
            deletes="mark" if name in keep_deleted else "remove",
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
    own_columns: list[str | Column] = ["_weir_log_position", "_weir_event_id", at]
    if table.marks_deletes:
        own_columns += ["_weir_is_deleted", F.unix_millis("_weir_deleted_at").alias("gone")]
    for row in gold.select([*values, *own_columns]).collect():
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


Status = dict[Key, tuple[object, ...]]
"""The rows that stand at a position: their values, and the change that they are from."""
Version = tuple[Key, LogPosition, LogPosition | None, tuple[object, ...]]


def oracle_as_of(events: Iterable[Event], log_position: LogPosition, shape: Shape) -> Status:
    """What the oracle says of the events up to a position."""
    state = current([event for event in events if event.log_position <= log_position], shape)
    return {
        key: (*(row.values[name] for name in shape.columns), list(row.log_position), row.event_id)
        for key, row in state.rows.items()
    }


def versions_by_case(lake: Lake, feed: Feed, name: str) -> dict[str, list[Version]]:
    """The versions that the history has, by case."""
    table = feed.tables[name]
    history = lake.table(Layer.GOLD, feed.name, f"{name}__history").read()

    def plain(column: str) -> Column:
        of_days = table.columns[column] in ("date", "timestamp")
        value = F.col(f"`{column}`")
        return (value.cast("string") if of_days else value).alias(column)

    own = ("_weir_valid_from", "_weir_valid_to", "_weir_began_by")
    found: dict[str, list[Version]] = defaultdict(list)
    for row in history.select(*map(plain, table.columns), *own).collect():
        key = tuple(None if row[part] is None else str(row[part]) for part in table.key)
        begins, ends = row["_weir_valid_from"], row["_weir_valid_to"]
        standing = (*(row[column] for column in table.columns), begins, row["_weir_began_by"])
        until = None if ends is None else tuple(ends)
        found[str(row["case_id"])].append((key, tuple(begins), until, standing))
    return found


def as_of(versions: Iterable[Version], log_position: LogPosition) -> Status:
    """The versions that stand at a position: begun by then, and not ended."""
    return {
        key: standing
        for key, begins, ends, standing in versions
        if begins <= log_position and (ends is None or ends > log_position)
    }


def assert_same_at_every_position(
    versions: Mapping[str, list[Version]], events: Mapping[str, list[Event]], shape: Shape
) -> int:
    """Compare both at every position of these cases; returns how many positions there were."""
    compared = 0
    for case, of_case in events.items():
        for log_position in sorted({event.log_position for event in of_case}):
            found, expected = (
                as_of(versions[case], log_position),
                oracle_as_of(of_case, log_position, shape),
            )
            assert found == expected, f"{case} as of {log_position}"
            compared += 1
    return compared
