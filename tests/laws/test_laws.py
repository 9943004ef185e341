"""The laws of Weir over random histories, through Spark: the tables made of drops are those that the oracle expects.

Hundreds of histories share one table, distinguished by their key, and those of sources with a log share one feed, so
that a law costs a few Spark jobs and not one per example. A fortieth of ``WEIR_LAW_HISTORIES`` is drawn for each
format, and for those on Kafka a fifth of that. The seed of a failing history is in its case id. Not here: changes of
every kind (``test_model_laws``).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from random import Random
from typing import cast

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.columns.bronze import BRONZE
from assets.gold import apply as apply_table
from assets.maintenance import compaction
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.laws.drawn.histories import COLUMN_TYPES, COLUMNS, KEY_COLUMNS, deliveries, history
from tests.laws.oracle.oracle import Event, current, event_id
from tests.laws.oracle.oracle import Table as OracleTable
from tests.laws.rendering import arcion, kafka
from transforms.event import Event as DecodedEvent
from transforms.event import Pending
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import DEFAULT_LIMITS, BronzeRecord, Limits, Record
from transforms.source_format import Decode, SourceFormat

SEED = int(os.environ.get("WEIR_LAW_SEED", "0"))
HISTORIES = max(1, int(os.environ.get("WEIR_LAW_HISTORIES", "10000")) // 40)
WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]
SEVERAL = "several"
TABLE = Table("item", tuple(KEY_COLUMNS), COLUMN_TYPES, tuple(sorted(COLUMNS)))
SHAPE = OracleTable("item", tuple(KEY_COLUMNS), COLUMN_TYPES)
STANDS = ("_weir_log_position", "_weir_event_id", "_weir_event_at")

Key = tuple[str | None, ...]


@dataclass(frozen=True)
class World:
    """Many histories, delivered: ``formats`` has each kind's format, ``delivered`` every delivery of every window."""

    feed: Feed
    formats: dict[str, str]
    delivered: dict[str, list[Event]]
    expected_rows: dict[Key, tuple[object, ...]]
    expected_tombstones: dict[Key, tuple[object, ...]]


def world(formats: dict[str, str], seed: int) -> World:
    """Draw the histories of several kinds of source, each for its format, and what the oracle makes of them."""
    delivered: dict[str, list[Event]] = {window: [] for window in WINDOWS}
    rows: dict[Key, tuple[object, ...]] = {}
    tombstones: dict[Key, tuple[object, ...]] = {}
    for kind, number in drawn_of(formats):
        history_seed = seed * 100_000 + number
        events = history(
            history_seed, case=f"{kind}-{history_seed}", kind=kind, events=5 + number % 36
        )
        for window, some in deliveries(events, history_seed, windows=len(WINDOWS)).items():
            delivered[WINDOWS[window]] += some
        state = current(events, SHAPE)
        for key, row in state.rows.items():
            values = [plain(row.values[column]) for column in COLUMNS if column not in KEY_COLUMNS]
            rows[key] = (*values, list(row.log_position), row.event_id, row.event_at_ms)
        for key, (log_position, last) in state.tombstones.items():
            tombstones[key] = (list(log_position), last)
    feed = Feed("laws", SEVERAL, "/nowhere", tables={"item": TABLE})
    return World(feed, formats, delivered, rows, tombstones)


def drawn_of(formats: dict[str, str]) -> list[tuple[str, int]]:
    """Which histories are drawn: all of the first kind, a fifth as many of the others."""
    shares = [HISTORIES, *[max(1, HISTORIES // 5)] * (len(formats) - 1)]
    return [
        (kind, number)
        for kind, share in zip(formats, shares, strict=True)
        for number in range(SEED, SEED + share)
    ]


def plain(value: object) -> str | None:
    """A value as text: every type of these tables has one spelling."""
    return None if value is None else str(value)


def drop(kind: str, format_name: str, delivered: list[Event], rng: Random) -> bytes:
    """One window's deliveries of a kind as the bytes of one object, in random order."""
    records = [
        rendered(kind, format_name, event, rng) for event in rng.sample(delivered, len(delivered))
    ]
    return ("\n".join(records) + "\n").encode()


def rendered(kind: str, format_name: str, event: Event, rng: Random) -> str:
    """One delivery as its format writes it."""
    seed = rng.getrandbits(32)
    if format_name == "arcion_kafka":
        return kafka.arcion(event, seed=seed)
    if format_name == "debezium":
        return kafka.debezium(event, seed=seed, has_key=kind == "debezium")
    if format_name == "arcion_s3_json":
        return arcion.to_json(
            event, COLUMNS, seed=seed, snapshot_form=rng.choice(["envelope", "bare"])
        )
    return arcion.to_csv(
        event,
        list(COLUMNS if event.source == "snapshot" else TABLE.cdc_columns),
        seed=seed,
        # A snapshot row carries no cursor that would show how quotes are escaped.
        quoting="doubled" if event.source == "snapshot" else rng.choice(["doubled", "backslash"]),
    )


def land(spark: SparkSession, lake: Lake, world: World, seed: int) -> None:
    """Write every window's drops to bronze, through each format's own splitter."""
    rng = Random(seed)
    now = datetime(2024, 11, 20, tzinfo=UTC)
    rows = []
    for window, (kind, format_name) in product(WINDOWS, world.formats.items()):
        delivered = [event for event in world.delivered[window] if kind_of(event) == kind]
        name = f"{window.replace('T', '/')}/{format_name}/{kind}/item/part_1"
        data = drop(kind, format_name, delivered, rng)
        for record in FORMATS[format_name].split(data, world.feed, name):
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
    lake.table(Layer.BRONZE, world.feed.name).append(bronze, partition_by=["window"])


def kind_of(event: Event) -> str:
    """The kind of source that the event's case is of."""
    return str(event.result["case_id"]).rpartition("-")[0]


def several(formats: dict[str, str]) -> SourceFormat:
    """The formats as one: each reads the objects in its own folder."""

    def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
        decoders = {
            name: FORMATS[name].decoder(feed, surveyed) for name in dict.fromkeys(formats.values())
        }

        def decode(record: BronzeRecord) -> Iterable[DecodedEvent | Pending]:
            return decoders[record.object.split("/")[2]](record)

        return decode

    return SourceFormat(SEVERAL, ("**",), cut_by_land, decoder=decoder)


def cut_by_land(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """Nothing: bronze is written by ``land``."""
    raise NotImplementedError


def apply(lake: Lake, world: World, runs: list[list[str]]) -> list[derive.Derived]:
    """Run silver and gold for each list of windows, one after the other."""
    made = []
    for windows in runs:
        made.append(derive.derive(lake, world.feed, windows))
        apply_table.apply(lake, world.feed, TABLE, windows)
    return made


def gold_rows(lake: Lake, world: World) -> dict[Key, tuple[object, ...]]:
    """Gold by key, in the oracle's texts."""
    frame = lake.table(Layer.GOLD, world.feed.name, "item").read()
    columns = [F.col(name).cast("string").alias(name) for name in COLUMNS]
    at = F.unix_millis("_weir_event_at").alias("at")
    found = frame.select(*columns, "_weir_log_position", "_weir_event_id", at).collect()
    assert len(found) == len({(row["case_id"], row["id"]) for row in found}), "two rows of one key"
    return {(row["case_id"], row["id"]): tuple(row)[2:] for row in found}


def tombstone_rows(lake: Lake, world: World) -> dict[Key, tuple[object, ...]]:
    """The newest tombstone of each key; those of keys that came back are idle until compaction, and left out."""
    present = gold_rows(lake, world)
    found = lake.table(Layer.GOLD, world.feed.name, "item__tombstones").read()
    by_key = {
        (row["case_id"], str(row["id"])): (row["_weir_log_position"], row["_weir_event_id"])
        for row in found.orderBy("_weir_log_position").collect()
    }
    return {key: stone for key, stone in by_key.items() if key not in present}


FORMS = [
    (
        {
            "mysql": "arcion_s3_json",
            "arcion_kafka": "arcion_kafka",
            "debezium": "debezium",
            "debezium_bare": "debezium",
        },
        1,
    ),
    ({"cassandra": "arcion_s3_csv"}, 2),
]
"""The kinds of source with their formats, those of one frame together, and a seed."""


@pytest.mark.parametrize(("formats", "seed"), FORMS, ids=["a log", "cassandra"])
def test_gold_is_what_the_oracle_says_whatever_the_order_the_repeats_and_the_windows(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    formats: dict[str, str],
    seed: int,
) -> None:
    """Laws 1 (order-free), 2 (redelivery), 4 (no resurrection), 5 (absent is not null).

    In between, idle tombstones go; history is folded between runs in ``test_model_laws``.
    """
    monkeypatch.setitem(cast("dict[str, SourceFormat]", FORMATS), SEVERAL, several(formats))
    drawn = world(formats, seed)
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
        f"{', '.join(dict.fromkeys(formats.values()))}: {len(drawn_of(formats)):,} histories"
        f" from seed {SEED}, {deliveries:,} deliveries",
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


def accounts_for_every_event(drawn: World, made: derive.Derived, windows: list[str]) -> None:
    """Law 3: per window, source events = changes + duplicates, counted here by hand; none is in quarantine."""
    assert made.violations["accounting_is_exact"] == 0
    assert made.violations["nothing_quarantined"] == 0
    for window in windows:
        delivered = Counter(event_id(event) for event in drawn.delivered[window])
        accounts = [account for account in made.accounts if account["window"] == window]
        assert sum(account["events"] for account in accounts) == delivered.total()
        assert sum(account["changes"] for account in accounts) == len(delivered)
        assert sum(account["duplicates"] for account in accounts) == delivered.total() - len(
            delivered
        )


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
