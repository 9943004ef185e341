"""Silver's changes and base rows as the rows that meet by key in a task, and how Spark brings all rows together.

Put here what fills ``fold_row_columns`` from silver and its bases. Not here: gold's own rows (``current_rows``), which
rows are read (``key_rows``), and what is known of a key then (``assets/arrow/gold/key_groups.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.gold.fold_row_columns import BASE, CHANGE, COLUMNS, PLACE

_SHARD = "shard"


def changes(rows: DataFrame) -> DataFrame:
    """One row per change of a single key; ``shaped`` fills in the columns that it does not have."""
    return rows.select(
        F.lit(CHANGE).alias("what"),
        *("key", "is_new", "effect", "position", "stable_prefix", "event_id"),
        F.unix_micros("event_at").alias("event_at"),
        *("before", "after", "attribute_ops", "moved_from", "stream"),
        F.col("scope").isNotNull().alias("is_scoped"),
        (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_derived"),
    )


def cross_stream_positions(rows: DataFrame) -> DataFrame:
    """One row per position of a change in another stream than its own."""
    return rows.withColumn("what", F.lit(PLACE))


def base(rows: DataFrame) -> DataFrame:
    """One row per base row of ``rows``, with the last change that it stands for."""
    last = "state.last"
    return rows.select(
        F.lit(BASE).alias("what"),
        *("key", "streams", "state.copies"),
        F.col("state.columns").alias("after"),
        *(f"{last}.position", f"{last}.event_id"),
        F.unix_micros(f"{last}.event_at").alias("event_at"),
    )


def shaped(rows: DataFrame) -> DataFrame:
    """The rows with exactly the columns that the tasks read (``COLUMNS``)."""
    cells = []
    for name, kind in COLUMNS.items():
        there = [F.col(name)] if name in rows.columns else []
        cells.append(F.coalesce(*there, _nothing(name, kind).cast(kind)).alias(name))
    return rows.select(*cells)


def _nothing(name: str, kind: str) -> Column:
    """The value of a column that a row does not have: lists and maps are empty and never null."""
    if kind.startswith("array"):
        return F.array()
    if kind.startswith("map"):
        return F.create_map()
    return F.lit({"stable_prefix": 0, "copies": 0}.get(name, False if kind == "boolean" else None))


def by_key(rows: DataFrame, most: int | None = None) -> DataFrame:
    """The rows with those of each group together, in the order of their positions.

    ``most``: how many changes there may be; None where that is not known, and Spark chooses the number of tasks by what
    it shuffles.
    """
    tasks = () if most is None else (in_spark.tasks_for(rows, most),)
    # Numbers are sorted much faster than lists of texts; groups with the same number are then sorted by themselves.
    together = rows.withColumn(_SHARD, F.xxhash64("group")).repartition(*tasks, _SHARD)
    return together.sortWithinPartitions(_SHARD, "group", "what", "position").drop(_SHARD)
