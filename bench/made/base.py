"""The table before its changes: silver, accounts, gold and tombstones, written by Spark in Weir's own shape.

Simplified: there is no bronze under it and no quarantine, and every column has the position of its row.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.columns import layers
from assets.gold import stored_by_spark, tables
from assets.storage.lake import Lake, Layer
from bench.made import drops, row
from bench.made.silver_changes import shaped, snapshot, stream
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.names import TOMBSTONES
from transforms.gold.columns import EFFECT, EVENT_AT, EVENT_ID, LOG_POSITION, MENTIONS, RESET
from transforms.silver.accounting import COUNTS


def write(lake: Lake, feed: Feed, table: Table, rows: int) -> None:
    """Fill an empty warehouse: ``rows`` rows, a hundredth as many tombstones, and the silver that makes them."""
    windows = {
        drops.SNAPSHOT_WINDOW: snapshot(lake.spark, table, rows),
        drops.BASE_WINDOW: stream(lake.spark, table, rows),
    }
    for window, changes in windows.items():
        silver = shaped(changes, feed, window)
        lake.table(Layer.SILVER, feed.name).append(silver, partition_by=["window"])
    dead = rows // 100
    counts = {drops.SNAPSHOT_WINDOW: rows + dead, drops.BASE_WINDOW: (rows + 4) // 5 + dead}
    write_accounts(lake, feed, table, counts)
    gold = lake.table(Layer.GOLD, feed.name, table.name)
    tombstones = lake.table(Layer.GOLD, feed.name, table.name + TOMBSTONES)
    state = current(lake.spark, table, rows)
    made = tables.properties_of(table, table_digest(feed, table))
    stored_by_spark.create_tables(gold, tombstones, state, table, made)


def current(spark: SparkSession, table: Table, rows: int) -> DataFrame:
    """One row per key, in the columns that a fold gives: what the snapshot and the changes after it leave."""
    kept = ("id", "version", "log_position", "event_id", "event_at", "effect")
    still = snapshot(spark, table, rows).where((F.col("id") < rows) & (F.col("id") % 5 != 0))
    state = still.select(*kept).unionByName(stream(spark, table, rows).select(*kept))
    texts = row.text_columns()
    return state.select(
        *[texts[name].cast(kind).alias(name) for name, kind in table.columns.items()],
        F.col("log_position").alias(LOG_POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        # All images are whole.
        F.col("log_position").alias(RESET),
        F.when(F.col("effect") == "remove", F.lit("remove"))
        .otherwise(F.lit("replace"))
        .alias(EFFECT),
        F.array(*[F.lit(name) for name in table.columns]).alias(MENTIONS),
    )


def write_accounts(lake: Lake, feed: Feed, table: Table, counts: Mapping[str, int]) -> None:
    """Write one row of the accounts per window; ``counts`` says how many changes each has brought."""
    accounts = []
    for window, count in counts.items():
        account: dict[str, object] = dict.fromkeys(layers.Accounting.schema.names)
        account |= dict.fromkeys(COUNTS, 0) | dict.fromkeys(("records", "events", "changes"), count)
        account |= {"window": window, "table": table.name, "declared": table.name}
        account |= {"source_table": f"{drops.CATALOG}.{drops.SCHEMA}.{table.name}"}
        lists = ("undeclared_columns", "change_kinds", "segments", "snapshots", "trails", "falls")
        account |= {name: [] for name in (*lists, "stream_schemas")} | {"warnings": {}}
        accounts.append(account | {"declaration": feed_digest(feed, window)})
    lake.in_process_table(Layer.ACCOUNTING, feed.name).append(accounts)
