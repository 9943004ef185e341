"""The least that any way has to do, whatever it promises: none of these functions makes a right table on its own."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from assets.storage.spark_table import SparkTable
from bench.rivals import textbook
from transforms.feed.feed import Feed, Table


def ingest(lake: Lake, feed: Feed, window: str) -> None:
    """Read the objects as text, parse every line with a schema that is known, and write the fields once."""
    texts = "map<string,string>"
    name = "struct<namespace:struct<catalog:string,schema:string>,name:string>"
    schema = (
        f"tableName {name}, opType string, cursor string,"
        f" before {texts}, after {texts}, exists {texts}"
    )
    cursor = "timestamp bigint, extractionTimestamp bigint, log string, position bigint, logSeqNum bigint"
    objects = f"{feed.landing}/{window.replace('T', '/')}"
    lines = lake.spark.read.option("recursiveFileLookup", "true").text(objects)
    parsed = lines.select(F.from_json("value", schema).alias("it")).select("it.*")
    placed = parsed.withColumn("cursor", F.from_json("cursor", cursor))
    lake.table(Layer.SILVER, feed.name).append(placed)


def fold(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> DataFrame:
    """One row per key: its newest change, by a hash aggregate."""
    changes = textbook.of_windows(lake, feed, table, windows)
    newest = F.max_by(
        F.struct("effect", "after", "log_position", "event_id", "event_at"), "log_position"
    )
    return (
        changes.groupBy("key")
        .agg(newest.alias("newest"))
        .select("key", "newest.*")
        .transform(lambda changes: textbook.typed(changes, table))
    )


def look(lake: Lake, feed: Feed, table: Table) -> None:
    """Scan the key columns of the table."""
    keys = lake.table(Layer.GOLD, feed.name, table.name).read().select(*table.key)
    keys.agg(F.sum(F.xxhash64(*table.key).cast("double"))).collect()


def apply(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> None:
    """Fold, scan the key columns, and write the changed rows once, beside the table."""
    look(lake, feed, table)
    changed = fold(lake, feed, table, windows)
    beside = SparkTable(lambda: lake.spark, f"{lake.warehouse}/floor", lake.warehouse)
    beside.append(changed)


def apply_again(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> None:
    """Fold and scan the key columns, and find that nothing has to be written."""
    look(lake, feed, table)
    fold(lake, feed, table, windows).write.format("noop").mode("overwrite").save()


def commit(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> None:
    """Fold, and append to the table in one commit: what a small table costs at least."""
    changed = fold(lake, feed, table, windows).drop("is_delete")
    lake.table(Layer.GOLD, feed.name, table.name).append(changed)
