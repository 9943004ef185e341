"""Streams whose positions started over, as after the restore of a source: recognized by the events' times.

Put here how that is recognized in silver. Not here: what a reader of the check sees
(``assets/gold/tigergraph_edges.py``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transforms.gold.streams.clocks import PLACE


def of_streams(silver: DataFrame, tolerance: str) -> DataFrame:
    """One row per stream that started over: ``stream``, ``place`` (where), ``newest`` from there on, ``newest_before``.

    All events from that place on are older, by more than ``tolerance`` (as a Spark SQL interval: ``1 HOUR``), than some
    event before it. A single older event means nothing: the source may have begun it long before.
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
