"""Streams whose places began anew, as a source's do that was restored: found by their times.

Not here: what a reader of the check is told (``assets/gold/tigergraph_checks.py``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transforms.gold.streams.clocks import PLACE


def of_streams(silver: DataFrame, tolerance: str) -> DataFrame:
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
