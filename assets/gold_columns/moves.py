"""Key changes whose images do not say the whole row: the new key's row is the old key's, as it was just before.

Only these link keys (``moved_from``). Where such a change is folded, what its old key was must be folded first; a chain
of key changes takes as many rounds as it is long. Not here: the loop over rounds (``assets/history.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.gold_columns import fold
from assets.gold_columns.fold import Folding
from assets.gold_columns.ordering import let


def links(changes: DataFrame) -> DataFrame:
    """One row per pair of keys that some change links: ``old`` and ``new``."""
    linked = changes.where(F.col("effect") == "move")
    return linked.select(F.col("moved_from").alias("old"), F.col("key").alias("new")).distinct()


def targets(keys: DataFrame, linked: DataFrame) -> DataFrame:
    """The keys, and those whose rows took values from them."""
    reached = linked.join(keys.withColumnRenamed("key", "old"), on="old", how="left_semi")
    return keys.unionByName(reached.select(F.col("new").alias("key"))).distinct()


def sources(keys: DataFrame, linked: DataFrame) -> DataFrame:
    """The keys, and those that their rows took values from."""
    reached = linked.join(keys.withColumnRenamed("key", "new"), on="new", how="left_semi")
    return keys.unionByName(reached.select(F.col("old").alias("key"))).distinct()


def is_open(step: Column) -> Column:
    """True for a key change that still lacks its old key's row."""
    return step["effect"] == "move"


def resolved_once(ordered_changes: DataFrame, folding: Folding) -> DataFrame:
    """Fill in the old key's row in every ``move`` whose old key has no open one before it; it is then a ``put``.

    Takes and gives ``ordering.ordered``'s rows of all linked keys, with ``before``: what each key is before them.
    """
    moved = ordered_changes.select(
        F.col("key").alias("new"), F.explode(F.filter("steps", is_open)).alias("move")
    ).select("new", F.col("move.event_id").alias("event_id"), F.col("move.moved_from").alias("key"))
    before = (
        moved.join(ordered_changes.select("key", "steps", "before"), on="key")
        .withColumn("steps", steps_before(F.col("steps"), F.col("event_id")))
        .where(~F.exists("steps", is_open))
        .withColumn("state", fold.composite(F.col("steps"), F.col("before"), folding))
        .withColumn("row", F.map_entries("state.columns"))
    )
    filled = before.groupBy(F.col("new").alias("key")).agg(
        F.map_from_entries(F.collect_list(F.struct("event_id", "row"))).alias("filled")
    )

    def resolved(step: Column) -> Column:
        row = F.try_element_at("filled", step["event_id"])
        return F.when(
            is_open(step) & row.isNotNull(),
            step.withField("effect", F.lit("put")).withField(
                "after", laid_over(row, step["after"])
            ),
        ).otherwise(step)

    return (
        ordered_changes.join(filled, on="key", how="left")
        .withColumn(
            "steps",
            F.when(F.col("filled").isNotNull(), F.transform("steps", resolved)).otherwise(
                F.col("steps")
            ),
        )
        .drop("filled")
    )


def steps_before(steps: Column, event_id: Column) -> Column:
    """The steps before the one that this event is for the key."""
    return let(
        F.array_position(F.transform(steps, lambda step: step["event_id"]), event_id),
        lambda at: F.slice(steps, F.lit(1), F.greatest(at.cast("int") - 1, F.lit(0))),
    )


def laid_over(row: Column, image: Column) -> Column:
    """The row's entries, with those of the image in place of the row's own."""
    names = F.transform(image, lambda entry: entry["key"])
    kept = F.filter(row, lambda entry: ~F.array_contains(names, entry["key"]))
    return F.array_sort(F.concat(kept, image))
