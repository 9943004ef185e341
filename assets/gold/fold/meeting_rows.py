"""The rows that meet in a task for one gold table, as Spark reads them from silver, gold, tombstones and bases.

Not here: which of them are brought together (``spark_apply``), and what is known of a key then (``meetings``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.gold.meeting_columns import BASE, CHANGE, COLUMNS, PLACE

_SHARD = "shard"


def changes(rows: DataFrame) -> DataFrame:
    """Changes of single keys, a row of ``COLUMNS`` each; the others' columns are filled in by ``shaped``."""
    return rows.select(
        F.lit(CHANGE).alias("what"),
        *("key", "is_new", "effect", "position", "stable_prefix", "event_id"),
        F.unix_micros("event_at").alias("event_at"),
        *("before", "after", "attribute_ops", "moved_from", "stream"),
        F.col("scope").isNotNull().alias("is_scoped"),
        (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_derived"),
    )


def cross_stream_positions(rows: DataFrame) -> DataFrame:
    """Places of changes in other streams than their own."""
    return rows.withColumn("what", F.lit(PLACE))


def base(rows: DataFrame) -> DataFrame:
    """One row per base row."""
    last = "state.last"
    return rows.select(
        F.lit(BASE).alias("what"),
        *("key", "streams", "state.copies"),
        F.col("state.columns").alias("after"),
        *(f"{last}.position", f"{last}.event_id"),
        F.unix_micros(f"{last}.event_at").alias("event_at"),
    )


def shaped(rows: DataFrame) -> DataFrame:
    """Exactly the columns that the tasks read."""
    cells = []
    for name, kind in COLUMNS.items():
        there = [F.col(name)] if name in rows.columns else []
        cells.append(F.coalesce(*there, _nothing(name, kind).cast(kind)).alias(name))
    return rows.select(*cells)


def _nothing(name: str, kind: str) -> Column:
    """What stands where a row has no such column: lists and maps are never null."""
    if kind.startswith("array"):
        return F.array()
    if kind.startswith("map"):
        return F.create_map()
    return F.lit({"stable_prefix": 0, "copies": 0}.get(name, False if kind == "boolean" else None))


def by_key(rows: DataFrame, most: int | None = None) -> DataFrame:
    """The rows of each group together, in the order of their positions.

    ``most``: so many changes there may be; where it is not known, Spark chooses the number of tasks by what it
    shuffles.
    """
    tasks = () if most is None else (in_spark.tasks_for(rows, most),)
    # Numbers are sorted much faster than lists of texts are; two groups of one number are told apart by themselves.
    together = rows.withColumn(_SHARD, F.xxhash64("group")).repartition(*tasks, _SHARD)
    return together.sortWithinPartitions(_SHARD, "group", "what", "position").drop(_SHARD)
