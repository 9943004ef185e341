"""Scoped changes beyond their own stream: where one of another stream stands among a key's changes.

Positions of two streams do not compare. Time does, roughly: a change is after a scoped one of another stream where some
event up to it, in its own stream's order, is newer. A change that has a place in the other stream, too, is after it
where that place is. Not here: which keys a scope has (``scopes``), and which formats want this (``spec.SourceFormat``).

A scoped change is put right behind the last of the key's changes that it is after, so that it stands where it does
whatever comes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from assets.gold_columns import scopes
from transforms.change_kinds import Shape

PLACE: Final = 3
"""Epoch, phase and the source's first number: what of a position time is measured at."""


def clock(silver: DataFrame) -> DataFrame:
    """One row per stream and place: ``stream``, ``place``, and ``reached``, the newest time up to it."""
    so_far = (
        Window.partitionBy("stream")
        .orderBy("place")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    return (
        silver.where("stream IS NOT NULL")
        .groupBy("stream", F.slice("position", 1, PLACE).alias("place"))
        .agg(F.max("event_at").alias("newest"))
        .select("stream", "place", F.max("newest").over(so_far).alias("reached"))
    )


def spread(
    changes: DataFrame,
    silver: DataFrame,
    shapes: Sequence[Shape],
    identity: Sequence[str],
    elsewhere: tuple[str, DataFrame] | None,
) -> DataFrame:
    """One row per scoped change of a stream and key of another that it removes something of: the change, keyed.

    ``changes`` are a table's, ``silver`` is all of the feed's. ``elsewhere``: for scopes that name this column, changes
    have a place in another stream: rows of ``event_id``, ``stream``, ``position``; one without is before the scope.
    """
    times = clock(silver)
    scoped = changes.where("scope IS NOT NULL AND stream IS NOT NULL")
    own = changes.where("scope IS NULL AND stream IS NOT NULL AND key IS NOT NULL")
    pairs = scopes.keyed(
        scoped.select(
            *("event_id", "scope", "position", "event_at"),
            F.col("stream").alias("origin"),
            F.lit(None).cast("string").alias("stream"),
            F.lit(None).cast("array<string>").alias("key"),
        ),
        own.select("key", F.lit(None).cast("string").alias("stream")).distinct(),
        [Shape(shape.columns, of_stream=False) for shape in shapes if shape.of_stream],
        identity,
    ).select(
        *("key", "origin", "scope"),
        F.col("event_id").alias("scope_id"),
        F.col("position").alias("scope_position"),
        F.col("event_at").alias("scope_at"),
    )
    steps = own.select(
        "key", "stream", "position", "event_id", F.slice("position", 1, PLACE).alias("place")
    ).join(times, on=["stream", "place"], how="left")
    is_before = F.coalesce(F.col("reached") <= F.col("scope_at"), F.lit(False))
    if elsewhere is not None:
        column, places = elsewhere
        there = (
            places.withColumn("place", F.slice("position", 1, PLACE))
            .join(times.withColumnRenamed("reached", "reached_there"), ["stream", "place"])
            .select(
                "event_id",
                F.struct("position", "stream", "reached_there").alias("there"),
            )
            .groupBy("event_id")
            .agg(F.max("there").alias("there"))
        )
        steps = steps.join(there, on="event_id", how="left")
        is_before_there = F.when(
            F.col("there.stream") == F.col("origin"),
            F.col("there.position") < F.col("scope_position"),
        ).otherwise(F.col("there.reached_there") <= F.col("scope_at"))
        is_before = F.when(
            F.map_contains_key("scope", F.lit(column)), F.coalesce(is_before_there, F.lit(True))
        ).otherwise(is_before)
    behind = (
        pairs.join(steps, on="key")
        .where((F.col("stream") != F.col("origin")) & is_before)
        .groupBy(F.col("key").alias("its_key"), "scope_id")
        .agg(F.max("position").alias("last"))
    )
    # A position that begins with another comes right after it.
    moved = F.concat("last", F.array(F.lit(1).cast("bigint")))
    return (
        scoped.join(behind, scoped["event_id"] == behind["scope_id"])
        .withColumns(
            {"key": F.col("its_key"), "position": moved, "stable_prefix": F.size("last") + 1}
        )
        .select(*changes.columns)
    )


def restarts(silver: DataFrame, tolerance: str) -> DataFrame:
    """One row per stream whose places began anew: ``stream``, ``place``, ``newest`` from there on, ``newest_before``.

    All that stands from that place on is older, by more than ``tolerance``, than something before it. One event that is
    older than those before it means nothing: the source may have begun it long before.
    """
    of_epoch = Window.partitionBy("stream", F.get("place", F.lit(0))).orderBy("place")
    return (
        silver.where("stream IS NOT NULL")
        .groupBy("stream", F.slice("position", 1, PLACE).alias("place"))
        .agg(F.max("event_at").alias("at"))
        .select(
            *("stream", "place"),
            F.max("at").over(of_epoch.rowsBetween(0, Window.unboundedFollowing)).alias("newest"),
            F.max("at")
            .over(of_epoch.rowsBetween(Window.unboundedPreceding, -1))
            .alias("newest_before"),
        )
        .where(F.col("newest") + F.expr(f"INTERVAL {tolerance}") < F.col("newest_before"))
        .groupBy("stream")
        .agg(F.min_by(F.struct("place", "newest", "newest_before"), "place").alias("first"))
        .select("stream", "first.*")
    )
