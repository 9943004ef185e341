"""Streams whose positions started over, as after the restore of a source: recognized by the events' times.

Put here how that is recognized in silver. Not here: what a reader of the check sees
(``assets/gold/tigergraph_edges.py``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transforms.gold.streams.clocks import CLOCK_NUMBERS


def of_streams(silver: DataFrame, tolerance: str) -> DataFrame:
    """One row per stream that started over: ``stream``, ``log_position``, ``newest`` from there on, ``newest_before``.

    All events from that position on are older, by more than ``tolerance`` (as a Spark SQL interval: ``1 HOUR``), than
    some event before it. A single older event means nothing: the source may have begun it long before.
    """
    of_epoch = Window.partitionBy("stream", F.get("log_position", F.lit(0))).orderBy("log_position")
    return (
        silver.where("stream IS NOT NULL")
        .groupBy("stream", F.slice("log_position", 1, CLOCK_NUMBERS).alias("log_position"))
        .agg(F.max("event_at").alias("at"))
        .select(
            *("stream", "log_position"),
            F.max("at").over(of_epoch.rowsBetween(0, Window.unboundedFollowing)).alias("newest"),
            F.max("at")
            .over(of_epoch.rowsBetween(Window.unboundedPreceding, -1))
            .alias("newest_before"),
        )
        .where(F.col("newest") + F.expr(f"INTERVAL {tolerance}") < F.col("newest_before"))
        .groupBy("stream")
        .agg(
            F.min_by(F.struct("log_position", "newest", "newest_before"), "log_position").alias(
                "first"
            )
        )
        .select("stream", "first.*")
    )
