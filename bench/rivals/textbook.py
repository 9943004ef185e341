"""The textbook's way to apply changes: the newest of each key by a window function, then MERGE.

It starts from the same silver and merges into a table of the same layout. It keeps no tombstones, so a change that is
older than a delete brings the row back; it takes whole rows, so it cannot apply an update of some columns only.
"""

from __future__ import annotations

from collections.abc import Sequence

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from assets.columns import gold
from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import EVENT_AT, EVENT_ID, LOG_POSITION


def apply(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> None:
    """Merge the newest change of each key."""
    newest = Window.partitionBy("key").orderBy(F.desc("log_position"))
    changes = (
        of_windows(lake, feed, table, windows)
        .withColumn("number", F.row_number().over(newest))
        .where("number = 1")
        .transform(lambda rows: typed(rows, table))
    )
    same = " AND ".join(f"old.`{name}` = new.`{name}`" for name in table.key)
    newer = f"new.{LOG_POSITION} > old.{LOG_POSITION}"
    path = lake.table(Layer.GOLD, feed.name, table.name).path
    columns = [*table.columns, LOG_POSITION, EVENT_ID, EVENT_AT]
    values = {f"`{name}`": f"new.`{name}`" for name in columns}
    (
        DeltaTable.forPath(lake.spark, path)
        .alias("old")
        .merge(changes.alias("new"), same)
        .whenMatchedDelete(f"{newer} AND new.is_delete")
        .whenMatchedUpdate(newer, dict(values))
        .whenNotMatchedInsert("NOT new.is_delete", dict(values))
        .execute()
    )


def of_windows(lake: Lake, feed: Feed, table: Table, windows: Sequence[str]) -> DataFrame:
    """One row per change of the table in these windows' silver."""
    silver = lake.table(Layer.SILVER, feed.name).read()
    mine = (F.col("table") == table.name) & (F.col("declared") == table.name)
    return silver.where(mine & F.col("window").isin(list(windows)))


def typed(changes: DataFrame, table: Table) -> DataFrame:
    """One row per change, with gold's columns and ``is_delete``."""

    def text(name: str) -> Column:
        if name in table.key:
            return F.get("key", F.lit(table.key.index(name)))
        return F.try_element_at("after", F.lit(name))

    return changes.select(
        *[gold.typed(text(name), kind).alias(name) for name, kind in table.columns.items()],
        F.col("log_position").alias(LOG_POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        (F.col("effect") == "remove").alias("is_delete"),
    )
