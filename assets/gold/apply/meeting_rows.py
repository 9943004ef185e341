"""The rows that meet in a task for one gold table, as Spark reads them from silver, gold, tombstones and bases.

Not here: which of them are brought together (``spark_apply``), and what is known of a key then (``meetings``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.meetings import BASE, CHANGE, COLUMNS, PLACE, VERSION
from assets.columns import types
from assets.columns.gold import EVENT_AT, EVENT_ID, KEY, POSITION, RESET
from assets.columns.history import BEGAN_BY, ENDED_BY, FROM_AT, TO_AT, VALID_FROM, VALID_TO
from transforms.feed.feed import Table

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


def typed_keys(table: Table, keys: DataFrame) -> DataFrame:
    """One row per row of ``keys`` (``key``): the key's columns as gold has them."""
    return keys.select(
        *[
            types.typed(F.get("key", F.lit(at)), table.columns[name]).alias(name)
            for at, name in enumerate(table.key)
        ]
    )


def key_texts(table: Table) -> Column:
    """The key of a row of gold as canonical texts; the table has one."""
    return F.array(*[types.text_of(F.col(f"`{name}`"), table.columns[name]) for name in table.key])


def stands(
    table: Table, layer: DataFrame, what: int, keys: DataFrame | None, *, with_values: bool
) -> DataFrame:
    """One row per row of gold, or per tombstone: ``key`` as canonical texts, and the place of its last change.

    ``keys``: those that are asked for (``key``), or None for all.
    """
    if table.key and keys is not None:
        # Compared as gold has them: to make texts of ten million keys takes half a minute.
        layer = layer.join(typed_keys(table, keys), on=[*table.key], how="left_semi")
    key = key_texts(table) if table.key else F.from_json(KEY, "array<string>")
    values = [_image(table)] if with_values else []
    found = layer.select(
        F.lit(what).alias("what"),
        key.alias("key"),
        F.col(POSITION).alias("position"),
        F.col(EVENT_ID).alias("event_id"),
        F.unix_micros(EVENT_AT).alias("event_at"),
        *([F.col(RESET).alias("reset")] if RESET in layer.columns else []),
        *values,
    )
    if not table.key and keys is not None:
        found = found.join(keys, on="key", how="left_semi")
    return found


def _image(table: Table) -> Column:
    """The values of a row as canonical texts."""
    texts = [types.text_of(F.col(f"`{name}`"), kind) for name, kind in table.columns.items()]
    names = [F.lit(name) for name in table.columns]
    return F.map_from_arrays(F.array(*names), F.array(*texts)).alias("after")


def versions(table: Table, layer: DataFrame, keys: DataFrame) -> DataFrame:
    """One row per version of these ``keys`` (``key``) in the table of versions."""
    mine = layer.join(typed_keys(table, keys), on=[*table.key], how="left_semi")
    return mine.select(
        F.lit(VERSION).alias("what"),
        key_texts(table).alias("key"),
        F.col(VALID_FROM).alias("position"),
        F.col(BEGAN_BY).alias("event_id"),
        F.unix_micros(FROM_AT).alias("event_at"),
        F.col(VALID_TO).alias("reset"),
        F.col(ENDED_BY).alias("ended_by"),
        F.unix_micros(TO_AT).alias("ended_at"),
        _image(table),
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
