"""Which of several deliveries of one event counts, and what became of each: the accounting of a window."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transforms.record import COORDINATES

CHANGE, DUPLICATE, QUARANTINED = "change", "duplicate", "quarantined"
TOO_LATE = "too_late"


def with_fate(conformed: DataFrame, is_covered: Column | None = None) -> DataFrame:
    """Add ``fate``: change, duplicate or quarantined. Of one window's deliveries, the one that stands first counts.

    First is the smallest position (replicas of one Cassandra mutation differ in it), then the smallest coordinates.
    ``payload`` stays with what is, or may yet be, refused: ``is_covered`` are events that may be too late.
    """
    faulty = F.col("fault").isNotNull()
    may_be_refused = faulty if is_covered is None else faulty | is_covered
    # A quarantined record has no identity; its own place keeps it apart from all others.
    place = F.concat_ws("/", *COORDINATES)
    same_event = Window.partitionBy("window", F.coalesce("event_id", place)).orderBy(
        "position", "event_at", *COORDINATES
    )
    return (
        conformed.withColumn("payload", F.when(may_be_refused, F.col("payload")))
        .withColumn("delivery", F.row_number().over(same_event))
        .withColumn("fate", fate(faulty, F.col("delivery")))
        .drop("delivery")
    )


def fate(faulty: Column, delivery: Column) -> Column:
    """What became of one source event."""
    return (
        F.when(faulty, F.lit(QUARANTINED))
        .when(delivery > 1, F.lit(DUPLICATE))
        .otherwise(F.lit(CHANGE))
    )
