"""The laws of Weir over random histories of every kind of change: gold is what the oracle says, after every run.

Thousands of histories lie side by side in one table, told apart by their case, so that a law costs a few Spark jobs and
not one per example. A quarter of ``WEIR_LAW_HISTORIES`` is drawn, from ``WEIR_LAW_SEED`` on; the seed of a failing
history is in its case id. Many more are drawn without Spark, in ``tests/laws/gold``.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from assets import bronze, feed_gold, gold_local, ledger, silver, whole_images
from assets.arrow_gold_rows import Tally
from assets.lake import Lake
from orchestration.resources import lake_of
from tests.laws import asof, compacting, model_format, model_histories
from tests.laws.compacting import Compacted
from tests.laws.oracle import Event, Key, current, event_id, visible
from transforms.feed import Feed, Table

HISTORIES = max(
    1, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 4 // len(model_histories.KINDS)
)
SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
"""The number of the first history: the same one draws the same."""
KEEP_HISTORY = ("account",)
"""Kinds whose history is not compacted: those with transactions."""
HORIZON = (0, 1, 12)
WITH_HISTORY = "item"
"""The table whose versions are compared, too: it has partial updates, key changes and truncates."""
OF_WHOLE_IMAGES = "stock"
"""The kind that a run can tell by its newest changes alone."""
EVERY = 10
"""Of so many cases one is compared at every position: the oracle begins anew for each."""
WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]

Outcome = tuple[dict[Key, tuple[object, ...]], dict[Key, tuple[object, ...]]]
"""Rows and tombstones by key, as plain values."""


@pytest.fixture(autouse=True)
def _model_format(monkeypatch: pytest.MonkeyPatch) -> None:
    model_format.register(monkeypatch)


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
                place = (list(row.position), row.event_id, row.event_at_ms)
                rows[key] = (row.copies, *values, *place)
            for key, (position, last) in state.tombstones.items():
                # A tombstone at or below the horizon goes: nothing older can come.
                if compacted is None or last not in compacted.known:
                    tombstones[key] = (list(position), last)
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


def run(lake: Lake, feed: Feed, windows: list[str]) -> silver.Derived:
    """What a run over these windows does, without Dagster around it."""
    bronze.land(lake, feed, windows)
    made = silver.derive(lake, feed, windows)
    feed_gold.apply_tables(lake, feed, [*feed.tables.values()], windows)
    ledger.finish(lake, feed, windows)
    return made


def found(lake: Lake, feed: Feed, name: str) -> Outcome:
    """Rows and tombstones of a gold table, in the oracle's values."""
    table = feed.tables[name]
    gold = lake.table("gold", feed.name, name).read()
    values = [
        F.col(f"`{column}`")
        .cast("string" if kind in ("date", "timestamp") else gold.schema[column].dataType)
        .alias(column)
        for column, kind in table.columns.items()
    ]
    at = F.unix_millis("_weir_event_at").alias("at")
    rows: dict[Key, tuple[object, ...]] = {}
    copies: Counter[Key] = Counter()
    for row in gold.select(*values, "_weir_position", "_weir_event_id", at).collect():
        plain = tuple(row)
        key = tuple(text(row[column]) for column in table.identity)
        copies[key] += 1
        rows[key] = plain
    assert not table.key or max(copies.values(), default=1) == 1, "two rows of one key"
    own = "_weir_key" if not table.key else None
    tombstones: dict[Key, tuple[object, ...]] = {}
    for row in lake.table("gold", feed.name, f"{name}__tombstones").read().collect():
        key = (
            tuple(json.loads(row[own])) if own else tuple(text(row[column]) for column in table.key)
        )
        # Those of keys that came back are idle until compaction, and so are older ones of a key.
        stone = row["_weir_position"], row["_weir_event_id"]
        if key not in rows and (key not in tombstones or tombstones[key] < stone):
            tombstones[key] = stone
    return {key: (copies[key], *row) for key, row in rows.items()}, tombstones


def as_plain(column: str, kind: str) -> Column:
    """The column as the oracle has it: days and times are texts, which no clock of this machine can move."""
    value = F.col(f"`{column}`")
    return (value.cast("string") if kind in ("date", "timestamp") else value).alias(column)


def text(value: Any) -> str | None:
    """A key's value as canonical text."""
    return None if value is None else str(value)


@pytest.mark.parametrize("is_spark", [True, False], ids=["by Spark", "in this process"])
@pytest.mark.parametrize("kind", model_histories.KINDS)
def test_gold_is_what_the_oracle_says_after_every_run(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    kind: str,
    *,
    is_spark: bool,
) -> None:
    """Laws 1 to 8: any order of runs, repeats of events and of runs, compaction in between, and one pass over all."""
    landing = tmp_path / "landing"
    # What the fold does in this process is drawn by the ten thousand in tests/laws/gold; here it meets real tables.
    histories = HISTORIES if is_spark else max(1, HISTORIES // 3)
    monkeypatch.setattr(gold_local, "MOST_CHANGES", -1 if is_spark else 10**9)
    by_newest = told_by_newest(monkeypatch)
    drawn = world(kind, landing, histories)
    feed = drawn.feed
    deliveries = sum(len(some) for of in drawn.delivered.values() for some in of.values())
    where = "by Spark" if is_spark else "in this process"
    label = f"{kind}: {histories:,} histories from seed {SEED}, {deliveries:,} deliveries, {where}"
    record_property("laws", label)
    lake = lake_of(str(tmp_path / "grown"))
    order = Random(f"runs {kind} {SEED}").sample(WINDOWS, len(WINDOWS))
    compacted: Compacted | None = None
    run(lake, feed, [order[0]])
    # A run ends here, and the next ones may be told of the same events again.
    bronze.land(lake, feed, [order[1]])
    silver.derive(lake, feed, [order[1]])
    run(lake, feed, [order[2]])
    read = {order[0], order[2]}
    # The last run repeats a window that an earlier one had.
    for windows in ([order[1]], sorted(order[2:])):
        if len(read) == len(order) - 1 and kind not in KEEP_HISTORY:
            compacting.compact(lake, feed, HORIZON)
            compacted = Compacted.of(HORIZON, drawn.of_windows(read))
        made = run(lake, feed, windows)
        read |= set(windows)
        accounts_for_every_event(drawn, made, windows, compacted)
        for name in feed.tables:
            assert_same(
                found(lake, feed, name),
                drawn.expected(name, sorted(read), compacted),
                f"{name} after {windows}",
            )

    # What is in gold comes once more: nothing of it is late, and there is nothing to write.
    before = commits(lake, feed)
    for one in feed_gold.apply_tables(lake, feed, [*feed.tables.values()], WINDOWS):
        assert (one.table.name, one.done.keys, one.done.late_keys) == (one.table.name, 0, 0)
    assert commits(lake, feed) == before

    if kind == OF_WHOLE_IMAGES and is_spark:
        # Most keys are told by their newest change, and some of each window are not.
        assert len(by_newest) > 2
        assert all(0 < one.untold < one.deliveries / 2 for one in by_newest)
    if kind == WITH_HISTORY:
        arrived = drawn.by_case(WITH_HISTORY, compacted)
        some = {case: arrived[case] for case in sorted(arrived)[::EVERY]}
        told = asof.versions_by_case(lake, feed, WITH_HISTORY)
        compared = asof.assert_same_at_every_position(told, some, model_histories.TABLES[kind])
        record_property("laws", f"{kind}: history as of {compared:,} positions")

    rebuilt = lake_of(str(tmp_path / "rebuilt"))
    run(rebuilt, feed, WINDOWS)
    for name in feed.tables:
        whole = drawn.expected(name, WINDOWS)
        assert_same(found(rebuilt, feed, name), whole, f"{name} in one pass")


def commits(lake: Lake, feed: Feed) -> dict[str, int]:
    """The number of the newest commit of each table of gold, of its tombstones and its versions."""
    return {
        one.name: DeltaTable(one).version() for one in Path(lake.path("gold", feed.name)).iterdir()
    }


def told_by_newest(monkeypatch: pytest.MonkeyPatch) -> list[Tally]:
    """Let Spark tell of keys by their newest changes wherever it may; what it counts goes into the list."""
    found: list[Tally] = []
    tell = whole_images.told

    def told(*args: Any) -> whole_images.Told:
        made = tell(*args)
        found.append(replace(made.tally))
        return made

    monkeypatch.setattr(whole_images, "LEAST", 0)
    monkeypatch.setattr(whole_images, "told", told)
    return found


def accounts_for_every_event(
    drawn: World, made: silver.Derived, windows: list[str], compacted: Compacted | None
) -> None:
    """Law 3: per window, source events = changes + control + duplicates + too late, counted here by hand."""
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["nothing_quarantined"] == 0
    for window in windows:
        arrived = [event for event in drawn.of_windows([window]) if not event.derived]
        distinct = {event_id(event): event for event in arrived}.values()
        control = sum(event.is_control for event in distinct)
        late = known = 0
        if compacted is not None:
            late = sum(compacted.is_too_late(event) for event in distinct)
            known = sum(compacted.is_known(event) for event in distinct)
        accounts = [account for account in made.accounts if account["window"] == window]
        assert sum(account["events"] for account in accounts) == len(arrived)
        assert sum(account["control"] for account in accounts) == control
        assert sum(account["too_late"] for account in accounts) == late
        assert (
            sum(account["changes"] for account in accounts)
            == len(distinct) - control - late - known
        )
        assert (
            sum(account["duplicates"] for account in accounts)
            == len(arrived) - len(distinct) + known
        )


def assert_same(actual: Outcome, expected: Outcome, where: str) -> None:
    """Equal, or the first few keys that differ."""
    for what, one, other in zip(("rows", "tombstones"), actual, expected, strict=True):
        keys = sorted(one.keys() | other.keys(), key=str)
        differing = [key for key in keys if one.get(key) != other.get(key)]
        shown = "\n".join(
            f"{key}\n  gold   {one.get(key)}\n  oracle {other.get(key)}" for key in differing[:5]
        )
        assert not differing, f"{where}: {len(differing)} of {len(keys)} {what} differ:\n{shown}"
