"""Where an event stands in its commit: its ordinal in the longest delivery.

All events of a commit have one timestamp, and what orders them is the order in which they were sent. A restart sends
commits again, from their first event on, and a crash, the end of a file or of a window may cut one. So events are
numbered per delivery, and the smallest of the places that an event's deliveries have counts:

- a delivery whose beginning was seen comes before one that stands at the beginning of its object (a file, a partition
  in one window) and may be the rest of one, which comes last where the object goes on behind it;
- of those, the longest first: a shorter one is a beginning of it.

Only events of one predicate of one node need an order, and one leader sends them all; so a delivery is of these only,
and events of other groups may stand between its own. Behind such a gap a new delivery begins if any of the events up to
the next gap was there before. Without a gap, an event that comes again is another one: a commit may set, delete and set
again.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transforms.change import EPOCH, STREAM

_OBJECT = ("window", "object", "generation", "topic", "partition")
_COMMIT = (*_OBJECT, "is_export", "namespace", "commit_ts", "kind", "uid", "attr")

WHOLE, REST_AMID, REST = 0, 1, 2
"""What a delivery can be: begun in its object; the whole of an object; what stands at an object's beginning."""

EXPORTED = 3
"""An export stands behind all events of the commit whose timestamp it has."""


def with_places(said: DataFrame) -> DataFrame:
    """Add ``position``, ``identity``, ``settled``, and what stands beside the event.

    ``sets``: how many sets of its value the delivery has. ``is_behind``: something newer stands before it in the
    object, of its namespace, or of any if it is for all of them.
    """
    in_object = Window.partitionBy(*_OBJECT).orderBy("at")
    so_far = in_object.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    of_commit = Window.partitionBy(*_COMMIT).orderBy("at")
    commit_so_far = of_commit.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    of_namespace = Window.partitionBy(*_OBJECT, "namespace").orderBy("at")
    namespace_so_far = of_namespace.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    delivery = Window.partitionBy(*_COMMIT, "delivery")
    commit = F.struct("namespace", "commit_ts")
    seen = F.col("run") > F.min("run").over(Window.partitionBy(*_COMMIT, "words"))
    any_seen = F.bool_or("is_seen").over(Window.partitionBy(*_COMMIT, "run"))
    again = (F.col("run") != F.lag("run").over(of_commit)) & any_seen
    return (
        said.withColumn("at", at())
        .withColumn("words", F.struct("op", "value", "value_type"))
        .withColumn("is_new_run", ~commit.eqNullSafe(F.lag(commit).over(in_object)))
        .withColumn("run", F.sum(F.col("is_new_run").cast("int")).over(so_far))
        .withColumn(
            "newest",
            F.when(F.col("op") == "all", F.max("commit_ts").over(so_far)).otherwise(
                F.max("commit_ts").over(namespace_so_far)
            ),
        )
        .withColumn("is_behind", F.col("newest") > F.col("commit_ts"))
        .withColumn("runs", F.max("run").over(Window.partitionBy(*_OBJECT)))
        .withColumn("is_seen", seen)
        .withColumn("is_again", F.coalesce(again, F.lit(False)))
        .withColumn("delivery", F.sum(F.col("is_again").cast("int")).over(commit_so_far))
        .withColumn("place", F.dense_rank().over(delivery.orderBy("at")))
        .withColumn("size", F.max("place").over(delivery))
        .withColumn("sets", F.count_if(F.col("op") != "del").over(delivery))
        .withColumn("first_run", F.min("run").over(delivery))
        .withColumn("last_run", F.max("run").over(delivery))
        .withColumn(
            "copy",
            F.dense_rank().over(Window.partitionBy(*_COMMIT, "delivery", "words").orderBy("at")),
        )
        .withColumn("position", position())
        .withColumn("identity", identity())
        .withColumn("settled", F.lit(3))
    )


def at() -> Column:
    """Where a record stands in its object: its offset, or its line. One that is there twice stands at one place."""
    line = F.struct(F.col("line").alias("place"), F.col("byte_offset").alias("byte"))
    offset = F.struct(F.col("offset").alias("place"), F.lit(0).cast("bigint").alias("byte"))
    return F.when(F.col("offset").isNotNull(), offset).otherwise(line)


def position() -> Column:
    """Epoch, phase, timestamp of the commit; then the place within it, in which deliveries may differ."""
    kind = (
        F.when(F.col("is_export"), F.lit(EXPORTED))
        .when(F.col("first_run") > 1, F.lit(WHOLE))
        .when(F.col("last_run") == F.col("runs"), F.lit(REST_AMID))
        .otherwise(F.lit(REST))
    )
    place = [kind, -F.col("size"), F.col("place"), F.coalesce("offset", F.lit(0))]
    exported = [kind]
    start = [F.lit(EPOCH), F.lit(STREAM), F.col("commit_ts")]
    return F.when(F.col("is_export"), F.array(*start, *exported).cast("array<bigint>")).otherwise(
        F.array(*start, *place).cast("array<bigint>")
    )


def identity() -> Column:
    """Commit, namespace, the event, and the how-manyth of its kind it is in the commit."""
    parts = ["commit_ts", "namespace", "kind", "op", "uid", "attr", "value", "value_type"]
    texts = [F.coalesce(F.col(name).cast("string"), F.lit("")) for name in parts]
    return F.array(
        *texts, F.when(F.col("is_export"), F.lit("")).otherwise(F.col("copy").cast("string"))
    )
