"""The laws of Weir over random histories: what the Spark side makes of drops is what the oracle says.

Hundreds of histories lie side by side in one table, told apart by their key, so that a law costs a few Spark jobs and
not one per example. What becomes of changes of every kind is the matter of ``test_model_laws``; here it is the formats
that are under test, with a fortieth of ``WEIR_LAW_HISTORIES`` each. The seed of a failing history is in its case id.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets import compaction, current_state, silver
from assets.lake import Lake
from orchestration.resources import lake_of
from tests.laws import rendering
from tests.laws.histories import COLUMN_TYPES, COLUMNS, KEY_COLUMNS, deliveries, history
from tests.laws.oracle import Event, current, event_id
from tests.laws.oracle import Table as OracleTable
from transforms.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import BRONZE

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
HISTORIES = max(1, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 40)
WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]
TABLE = Table("item", tuple(KEY_COLUMNS), COLUMN_TYPES, tuple(sorted(COLUMNS)))
SHAPE = OracleTable("item", tuple(KEY_COLUMNS), COLUMN_TYPES)
STANDS = ("_weir_position", "_weir_event_id", "_weir_event_at")

Key = tuple[str | None, ...]


@dataclass(frozen=True)
class World:
    """Many histories, delivered: ``delivered`` is every delivery of every window."""

    feed: Feed
    delivered: dict[str, list[Event]]
    expected_rows: dict[Key, tuple[object, ...]]
    expected_tombstones: dict[Key, tuple[object, ...]]


def world(format_name: str, kind: str, seed: int) -> World:
    """Draw the histories of one format and one kind of source, and what the oracle makes of them."""
    delivered: dict[str, list[Event]] = {window: [] for window in WINDOWS}
    rows: dict[Key, tuple[object, ...]] = {}
    tombstones: dict[Key, tuple[object, ...]] = {}
    for number in range(SEED, SEED + HISTORIES):
        history_seed = seed * 100_000 + number
        events = history(
            history_seed, case=f"{kind}-{history_seed}", kind=kind, events=5 + number % 36
        )
        for window, some in deliveries(events, history_seed, windows=len(WINDOWS)).items():
            delivered[WINDOWS[window]] += some
        state = current(events, SHAPE)
        for key, row in state.rows.items():
            values = [plain(row.values[column]) for column in COLUMNS if column not in KEY_COLUMNS]
            rows[key] = (*values, list(row.position), row.event_id, row.event_at_ms)
        for key, (position, last) in state.tombstones.items():
            tombstones[key] = (list(position), last)
    feed = Feed("laws", format_name, "/nowhere", tables={"item": TABLE})
    return World(feed, delivered, rows, tombstones)


def plain(value: object) -> str | None:
    """A value as text: every type of these tables has one spelling."""
    return None if value is None else str(value)


def drop(world: World, window: str, rng: Random) -> bytes:
    """One window's deliveries as the bytes of one object, in random order."""
    events = rng.sample(world.delivered[window], len(world.delivered[window]))
    if world.feed.format == "arcion_s3_json":
        records = [
            rendering.to_json(
                event,
                COLUMNS,
                seed=rng.getrandbits(32),
                snapshot_form=rng.choice(["envelope", "bare"]),
            )
            for event in events
        ]
    else:
        records = [
            rendering.to_csv(
                event,
                list(COLUMNS if event.source == "snapshot" else TABLE.cdc_columns),
                seed=rng.getrandbits(32),
                # A snapshot row carries no cursor that would show how quotes are escaped.
                quoting="doubled"
                if event.source == "snapshot"
                else rng.choice(["doubled", "backslash"]),
            )
            for event in events
        ]
    return ("\n".join(records) + "\n").encode()


def land(spark: SparkSession, lake: Lake, world: World, seed: int) -> None:
    """Write every window's drop to bronze, through the format's own splitter."""
    rng = Random(seed)
    now = datetime(2024, 11, 20, tzinfo=UTC)
    rows = []
    for window in WINDOWS:
        name = f"{window.replace('T', '/')}/item/part_1"
        for record in FORMATS[world.feed.format].split(drop(world, window, rng), world.feed, name):
            rows.append(
                (
                    window,
                    name,
                    "g1",
                    record.line,
                    record.byte_offset,
                    record.header,
                    record.payload,
                    record.defect,
                    now,
                    *(None, None),
                )
            )
    bronze = spark.createDataFrame(rows, BRONZE)
    lake.table("bronze", world.feed.name).append(bronze, partition_by=["window"])


def apply(lake: Lake, world: World, runs: list[list[str]]) -> list[silver.Derived]:
    """Run silver and gold for each list of windows, one after the other."""
    made = []
    for windows in runs:
        made.append(silver.derive(lake, world.feed, windows))
        current_state.apply(lake, world.feed, TABLE, windows)
    return made


def gold_rows(lake: Lake, world: World) -> dict[Key, tuple[object, ...]]:
    """Gold by key, in the oracle's texts."""
    frame = lake.table("gold", world.feed.name, "item").read()
    columns = [F.col(name).cast("string").alias(name) for name in COLUMNS]
    at = F.unix_millis("_weir_event_at").alias("at")
    found = frame.select(*columns, "_weir_position", "_weir_event_id", at).collect()
    assert len(found) == len({(row["case_id"], row["id"]) for row in found}), "two rows of one key"
    return {(row["case_id"], row["id"]): tuple(row)[2:] for row in found}


def tombstone_rows(lake: Lake, world: World) -> dict[Key, tuple[object, ...]]:
    """Tombstones by key; those of keys that came back are idle until compaction, so they are left out."""
    present = gold_rows(lake, world)
    found = lake.table("gold", world.feed.name, "item__tombstones").read().collect()
    by_key = {
        (row["case_id"], str(row["id"])): (row["_weir_position"], row["_weir_event_id"])
        for row in found
    }
    assert len(by_key) == len(found), "two tombstones of one key"
    return {key: stone for key, stone in by_key.items() if key not in present}


FORMS = [
    ("arcion_s3_json", "mysql", 1),
    ("arcion_s3_csv", "cassandra", 2),
]


@pytest.mark.parametrize(("format_name", "kind", "seed"), FORMS, ids=lambda value: str(value))
def test_gold_is_what_the_oracle_says_whatever_the_order_the_repeats_and_the_windows(
    spark: SparkSession,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    format_name: str,
    kind: str,
    seed: int,
) -> None:
    """Laws 1 (order-free), 2 (redelivery), 4 (no resurrection), 5 (absent is not null).

    In between, idle tombstones go; history is folded between runs in ``test_model_laws``.
    """
    drawn = world(format_name, kind, seed)
    lake = lake_of(str(tmp_path / "grown"))
    land(spark, lake, drawn, seed)
    rng = Random(seed)
    order = rng.sample(WINDOWS, len(WINDOWS))
    made = apply(lake, drawn, [[order[0]], [order[1]]])
    compaction.compact(lake, drawn.feed, TABLE, "item", dry_run=False)
    # The last run repeats a window.
    made += apply(lake, drawn, [sorted(order[1:])])

    deliveries = sum(map(len, drawn.delivered.values()))
    record_property(
        "laws",
        f"{format_name}, {kind}: {HISTORIES:,} histories from seed {SEED}, {deliveries:,} deliveries",
    )
    assert_same(gold_rows(lake, drawn), drawn.expected_rows)
    assert_same(tombstone_rows(lake, drawn), drawn.expected_tombstones)
    accounts_for_every_event(drawn, made[0], [order[0]])
    accounts_for_every_event(drawn, made[2], sorted(order[1:]))

    # Law 8: one pass over all of silver gives the same tables, row for row.
    rebuilt = lake_of(str(tmp_path / "rebuilt"))
    land(spark, rebuilt, drawn, seed + 1)
    apply(rebuilt, drawn, [WINDOWS])
    assert_same(gold_rows(rebuilt, drawn), gold_rows(lake, drawn))
    assert_same(tombstone_rows(rebuilt, drawn), tombstone_rows(lake, drawn))


def accounts_for_every_event(drawn: World, made: silver.Derived, windows: list[str]) -> None:
    """Law 3: per window, source events = changes + duplicates, counted here by hand; none is in quarantine."""
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["nothing_quarantined"] == 0
    for window in windows:
        delivered = Counter(event_id(event) for event in drawn.delivered[window])
        books = [book for book in made.books if book["window"] == window]
        assert sum(book["events"] for book in books) == delivered.total()
        assert sum(book["changes"] for book in books) == len(delivered)
        assert sum(book["duplicates"] for book in books) == delivered.total() - len(delivered)


def assert_same(
    actual: dict[Key, tuple[object, ...]], expected: dict[Key, tuple[object, ...]]
) -> None:
    """Equal, or the first few keys that differ."""
    keys = sorted(actual.keys() | expected.keys(), key=str)
    differing = [key for key in keys if actual.get(key) != expected.get(key)]
    shown = "\n".join(
        f"{key}\n  gold   {actual.get(key)}\n  oracle {expected.get(key)}" for key in differing[:5]
    )
    assert not differing, f"{len(differing)} of {len(keys)} keys differ:\n{shown}"
