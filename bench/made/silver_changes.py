"""Silver's changes of a table, made by Spark instead of derived from drops: millions of them in seconds.

They are what silver would have of the snapshot and the log before the timed window (``changes``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from assets.columns import layers
from bench.made import drops, row
from bench.made.changes import BASE_LOG
from transforms.feed.feed import Feed, Table

ROWS_PER_FILE = 1_000_000


def snapshot(spark: SparkSession, table: Table, rows: int) -> DataFrame:
    """One row per key, dead ones too: the row that the snapshot read."""
    keys = all_keys(spark, 0, rows + rows // 100).withColumn("version", F.lit(0))
    return (
        keys.withColumn("operation", F.lit("read"))
        .withColumn("effect", F.lit("replace"))
        .withColumn("log_position", F.array(F.lit(0), F.lit(0)).cast("array<bigint>"))
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
        .withColumn("effect", F.when(is_dead, "remove").otherwise("update"))
        .withColumn("log_position", _base_position())
        .withColumn("version", F.lit(0))
        .withColumn("before", _image())
        .withColumn("version", F.lit(1))
        .withColumn("after", F.when(is_dead, no_texts()).otherwise(_image()))
        .withColumn("event_at", F.timestamp_seconds(F.lit(drops.STARTED)))
        .transform(lambda changes: identified(changes, table))
    )


def shaped(changes: DataFrame, feed: Feed, window: str) -> DataFrame:
    """One row per change, with silver's columns, in the order of keys in which Weir writes them."""
    facts: dict[str, Column] = {
        "window": F.lit(window),
        "feed": F.lit(feed.name),
        "source_table": F.concat_ws(".", F.lit(drops.CATALOG), F.lit(drops.SCHEMA), "table"),
        "declared": F.col("table"),
        "key": F.array(F.col("id").cast("string")),
        "key_text": F.col("id").cast("string"),
        "dedup_prefix": F.size("log_position"),
        "object": F.lit("base"),
        "generation": F.lit("1"),
        "line": F.col("id") + 1,
        "byte_offset": F.lit(0),
        "ordinal": F.lit(0),
    }
    columns = []
    for field in layers.Silver.spark.fields:
        known = field.name in changes.columns
        value = F.col(field.name) if known else facts.get(field.name, F.lit(None))
        columns.append(value.cast(field.dataType).alias(field.name))
    return changes.select(*columns).sortWithinPartitions("table", "key")


def all_keys(spark: SparkSession, first: int, end: int) -> DataFrame:
    """Numbers from ``first`` up to ``end``, as ``id``, in as many parts as there are to be files."""
    parts = max(spark.sparkContext.defaultParallelism, end // ROWS_PER_FILE)
    return spark.range(first, end, 1, parts)


def _base_position() -> Column:
    log = F.lit(BASE_LOG)
    return F.array(F.lit(0), F.lit(1), log, F.col("id"), F.lit(1)).cast("array<bigint>")


def _image() -> Column:
    pairs = [part for name, text in row.text_columns().items() for part in (F.lit(name), text)]
    return F.create_map(*pairs)


def no_texts() -> Column:
    """An image of no column."""
    return F.create_map().cast("map<string,string>")


def identified(changes: DataFrame, table: Table) -> DataFrame:
    """The same rows with the ids that Weir's silver gives such events, so that it knows them when they come again."""
    return (
        changes.withColumn("table", F.lit(table.name))
        .withColumn("identity", F.col("log_position").cast("array<string>"))
        .withColumn("attribute_ops", no_texts())
        .withColumn("scope", F.lit(None).cast("map<string,string>"))
        .withColumn("event_id", event_id())
        .drop("identity")
    )


def event_id() -> Column:
    """SHA-256 over what is the same in every delivery of one event: table, operation, identity, images, scope.

    Each text goes in as its length, a colon and itself, so that no two events can spell the same line.
    """
    return F.sha2(
        F.concat(
            _netstring(F.col("table")),
            _netstring(F.col("operation")),
            _netstring(F.size("identity").cast("string")),
            F.array_join(F.transform("identity", _netstring), ""),
            _net_map("before"),
            _net_map("after"),
            _net_map("attribute_ops"),
            F.coalesce(_net_map("scope"), F.lit("-")),
        ),
        256,
    )


def _netstring(text: Column) -> Column:
    return F.coalesce(F.concat(F.char_length(text).cast("string"), F.lit(":"), text), F.lit("-"))


def _net_map(image: str) -> Column:
    entries = F.array_sort(F.map_entries(image))
    spelled = F.transform(
        entries, lambda entry: F.concat(_netstring(entry["key"]), _netstring(entry["value"]))
    )
    return F.concat(_netstring(F.size(image).cast("string")), F.array_join(spelled, ""))
