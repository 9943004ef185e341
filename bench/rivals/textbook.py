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
    """Merge the newest change of each key in these windows' silver."""
    latest = newest(of_windows(lake, feed, table, windows), "key", position="log_position")
    merge(typed(latest, table), lake.table(Layer.GOLD, feed.name, table.name).path, table.key)


def newest(changes: DataFrame, *key: str, position: str = LOG_POSITION) -> DataFrame:
    """One row per key: its newest change."""
    order = Window.partitionBy(*key).orderBy(F.desc(position))
    numbered = changes.withColumn("number", F.row_number().over(order))
    return numbered.where("number = 1").drop("number")


def merge(changes: DataFrame, path: str, key: Sequence[str]) -> None:
    """Merge the changes, one for each key, into the Delta table at this path."""
    same = " AND ".join(f"old.`{name}` = new.`{name}`" for name in key)
    newer = f"new.{LOG_POSITION} > old.{LOG_POSITION}"
    columns = [name for name in changes.columns if name != "is_delete"]
    values = {f"`{name}`": f"new.`{name}`" for name in columns}
    (
        DeltaTable.forPath(changes.sparkSession, path)
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
