"""The table before its changes: silver, accounts, gold and tombstones, written by Spark in Weir's own shape.

Simplified: no bronze and no quarantine lie under it, and no column's position lies elsewhere than its row's.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.bookkeeping.accounting import ACCOUNTING
from assets.columns.gold import EFFECT, EVENT_AT, EVENT_ID, MENTIONS, POSITION, RESET
from assets.columns.silver import CHANGE
from assets.gold import table_properties
from assets.gold.apply import commits
from assets.lake import Lake
from assets.layers import Layer
from bench.made import drops, row
from bench.made.event_ids import event_id
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES
from transforms.silver.accounting import COUNTS

ROWS_PER_FILE = 1_000_000


def write(lake: Lake, feed: Feed, table: Table, rows: int) -> None:
    """Put ``rows`` rows and a hundredth of it in tombstones into an empty warehouse."""
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
    made = table_properties.properties_of(table, table_digest(feed, table))
    commits.create(gold, tombstones, state, table, made)


def snapshot(spark: SparkSession, table: Table, rows: int) -> DataFrame:
    """One row per key, dead ones too: the row that the snapshot read."""
    keys = all_keys(spark, 0, rows + rows // 100).withColumn("version", F.lit(0))
    return (
        keys.withColumn("operation", F.lit("read"))
        .withColumn("effect", F.lit("put"))
        .withColumn("position", F.array(F.lit(0), F.lit(0)).cast("array<bigint>"))
        .withColumn("before", no_texts())
        .withColumn("after", _image())
        .withColumn("event_at", F.lit(None).cast("timestamp"))
        .transform(lambda changes: identified(changes, table))
    )


def stream(spark: SparkSession, table: Table, rows: int) -> DataFrame:
    """One row per change since the snapshot: an update of every fifth key, a delete of each dead one."""
    keys = all_keys(spark, 0, rows + rows // 100).where(
        (F.col("id") >= rows) | (F.col("id") % 5 == 0)
    )
    is_dead = F.col("id") >= rows
    return (
        keys.withColumn("operation", F.when(is_dead, "delete").otherwise("update"))
        .withColumn("effect", F.when(is_dead, "remove").otherwise("merge"))
        .withColumn("position", _base_position())
        .withColumn("version", F.lit(0))
        .withColumn("before", _image())
        .withColumn("version", F.lit(1))
        .withColumn("after", F.when(is_dead, no_texts()).otherwise(_image()))
        .withColumn("event_at", F.timestamp_seconds(F.lit(drops.STARTED)))
        .transform(lambda changes: identified(changes, table))
    )


def current(spark: SparkSession, table: Table, rows: int) -> DataFrame:
    """One row per key: what all these changes leave, as ``gold_tasks.folded`` would say it."""
    kept = ("id", "version", "position", "event_id", "event_at", "effect")
    still = snapshot(spark, table, rows).where((F.col("id") < rows) & (F.col("id") % 5 != 0))
    state = still.select(*kept).unionByName(stream(spark, table, rows).select(*kept))
    texts = row.text_columns()
    return state.select(
        *[texts[name].cast(kind).alias(name) for name, kind in table.columns.items()],
        F.col("position").alias(POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        # All images are whole.
        F.col("position").alias(RESET),
        F.when(F.col("effect") == "remove", F.lit("remove")).otherwise(F.lit("put")).alias(EFFECT),
        F.array(*[F.lit(name) for name in table.columns]).alias(MENTIONS),
    )


def shaped(changes: DataFrame, feed: Feed, window: str) -> DataFrame:
    """Silver's columns, in the order of keys in which Weir writes them."""
    facts: dict[str, Column] = {
        "window": F.lit(window),
        "feed": F.lit(feed.name),
        "source_table": F.concat_ws(".", F.lit(drops.CATALOG), F.lit(drops.SCHEMA), "table"),
        "declared": F.col("table"),
        "key": F.array(F.col("id").cast("string")),
        "key_text": F.col("id").cast("string"),
        "stable_prefix": F.size("position"),
        "object": F.lit("base"),
        "generation": F.lit("1"),
        "line": F.col("id") + 1,
        "byte_offset": F.lit(0),
        "ordinal": F.lit(0),
    }
    columns = []
    for field in CHANGE.fields:
        known = field.name in changes.columns
        value = F.col(field.name) if known else facts.get(field.name, F.lit(None))
        columns.append(value.cast(field.dataType).alias(field.name))
    return changes.select(*columns).sortWithinPartitions("table", "key")


def write_accounts(lake: Lake, feed: Feed, table: Table, counts: Mapping[str, int]) -> None:
    """A row of the accounts for each window: how many changes it brought."""
    accounts = []
    for window, count in counts.items():
        account: dict[str, object] = dict.fromkeys(ACCOUNTING.names)
        account |= dict.fromkeys(COUNTS, 0) | dict.fromkeys(("records", "events", "changes"), count)
        account |= {"window": window, "table": table.name, "declared": table.name}
        account |= {"source_table": f"{drops.CATALOG}.{drops.SCHEMA}.{table.name}"}
        account |= {"undeclared_columns": [], "change_kinds": [], "segments": [], "warnings": {}}
        accounts.append(tuple((account | {"declaration": feed_digest(feed, window)}).values()))
    frame = lake.spark.createDataFrame(accounts, ACCOUNTING).coalesce(1)
    lake.table(Layer.ACCOUNTING, feed.name).append(frame)


def all_keys(spark: SparkSession, first: int, end: int) -> DataFrame:
    """Numbers from ``first`` up to ``end``, as ``id``, in as many parts as there are to be files."""
    parts = max(spark.sparkContext.defaultParallelism, end // ROWS_PER_FILE)
    return spark.range(first, end, 1, parts)


def _base_position() -> Column:
    log = F.lit(drops.BASE_LOG)
    return F.array(F.lit(0), F.lit(1), log, F.col("id"), F.lit(1)).cast("array<bigint>")


def _image() -> Column:
    pairs = [part for name, text in row.text_columns().items() for part in (F.lit(name), text)]
    return F.create_map(*pairs)


def no_texts() -> Column:
    """An image of no column."""
    return F.create_map().cast("map<string,string>")


def identified(changes: DataFrame, table: Table) -> DataFrame:
    """With the very digest that Weir's silver gives such events, so that it knows them when they come again."""
    return (
        changes.withColumn("table", F.lit(table.name))
        .withColumn("identity", F.col("position").cast("array<string>"))
        .withColumn("attribute_ops", no_texts())
        .withColumn("scope", F.lit(None).cast("map<string,string>"))
        .withColumn("event_id", event_id())
        .drop("identity")
    )
