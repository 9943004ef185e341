"""The current-state table of one source table, its tombstones, and how new changes meet what is already there.

Not here: the order and the fold of changes (``fold``), and the commits (``assets``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms import types
from transforms.feed import Table

POSITION, EVENT_ID, EVENT_AT = "_weir_position", "_weir_event_id", "_weir_event_at"
EFFECT, MENTIONS = "_weir_effect", "_weir_mentions"


def rows(net: DataFrame, table: Table) -> DataFrame:
    """One row per key of ``net`` (folded changes): what a merge into gold needs to know, typed.

    The table's columns, ``_weir_position``, ``_weir_event_id`` and ``_weir_event_at`` of the last change, and two that
    gold does not keep: ``_weir_effect``, and ``_weir_mentions``, the columns that the changes mention.
    """
    return net.select(
        *[_value(name, table).alias(name) for name in table.columns],
        F.col("position").alias(POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        F.col("effect").alias(EFFECT),
        F.map_keys("columns").alias(MENTIONS),
    )


def _value(name: str, table: Table) -> Column:
    if name in table.key:
        return types.typed(F.get("key", F.lit(table.key.index(name))), table.columns[name])
    return types.typed(F.try_element_at("columns", F.lit(name)), table.columns[name])


def gold(net_rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that is present: the declared columns and Weir's three."""
    present = net_rows.where(F.col(EFFECT) != "remove")
    return present.select(*table.columns, POSITION, EVENT_ID, EVENT_AT)


def tombstones(net_rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that was seen and is absent: the key columns and the position of its last change."""
    absent = net_rows.where(F.col(EFFECT) == "remove")
    return absent.select(*table.key, POSITION, EVENT_ID, EVENT_AT)


def base(table: Table, gold_rows: DataFrame, tombstone_rows: DataFrame) -> DataFrame:
    """One row per key in gold or tombstones: ``key`` as canonical texts, and ``base``, the newer of its positions.

    ``copies`` counts the key's rows in gold: more than one means that something else wrote to the table. ``is_torn``:
    the tombstone is newer than a row that is still there, as a run leaves it that ended between the two commits.
    """
    return (
        _stands(table, gold_rows, 1)
        .unionByName(_stands(table, tombstone_rows, 0))
        .groupBy("key")
        .agg(
            F.max("base").alias("base"),
            F.sum("copy").alias("copies"),
            F.max(F.when(F.col("copy") == 1, F.col("base.position"))).alias("row"),
            F.max(F.when(F.col("copy") == 0, F.col("base.position"))).alias("grave"),
        )
        .withColumn("is_torn", F.coalesce(F.col("grave") > F.col("row"), F.lit(False)))
        .drop("row", "grave")
    )


def _stands(table: Table, layer: DataFrame, copy: int) -> DataFrame:
    key = F.array(*[F.col(f"`{name}`").cast("string") for name in table.key])
    newest = F.struct(F.col(POSITION).alias("position"), F.col(EVENT_ID).alias("event_id"))
    return layer.select(key.alias("key"), newest.alias("base"), F.lit(copy).alias("copy"))


def against(ordered_changes: DataFrame, based: DataFrame) -> DataFrame:
    """Add what the base says of each key: ``is_late``, ``is_known`` and ``copies``.

    ``is_late``: some change is not newer than the base, or the base is torn, so the key must be folded anew from its
    whole history.
    ``is_known``: the key's last applied event came again; it is no news and dropped from ``steps``.
    """
    last = F.col("base")

    def is_news(step: Column) -> Column:
        same = (step["event_id"] == last["event_id"]) & (step["position"] == last["position"])
        return ~F.coalesce(same, F.lit(False))

    def is_old(step: Column) -> Column:
        # Another delivery may stand at a larger position: only the settled part says that an event is new.
        whole, settled = last["position"], step["settled"]
        older = F.slice(step["position"], F.lit(1), settled) <= F.slice(whole, F.lit(1), settled)
        return F.coalesce(older, F.lit(False))

    news = F.filter("steps", is_news)
    return (
        ordered_changes.join(based, on="key", how="left")
        .withColumn("is_known", F.size(news) < F.size("steps"))
        .withColumn("steps", news)
        .withColumn(
            "is_late", F.exists("steps", is_old) | F.coalesce(F.col("is_torn"), F.lit(False))
        )
        .withColumn("copies", F.coalesce("copies", F.lit(0)))
        .drop("base", "is_torn")
    )


def without_base(ordered_changes: DataFrame) -> DataFrame:
    """The same columns as ``against``, where there is no table yet."""
    return (
        ordered_changes.withColumn("is_known", F.lit(False))
        .withColumn("is_late", F.lit(False))
        .withColumn("copies", F.lit(0).cast("bigint"))
    )
