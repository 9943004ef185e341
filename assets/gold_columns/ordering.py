"""The order of a key's changes: which deliveries are one event, and what applies after what.

Order within a key: position; at one position, removes before puts before merges; merges at one position in the order
in which their images chain (one's result is the other's before image), else by event id. docs/change_model.md has it
in full. Not here: what a change does to the row (``fold``).
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

RANKS = {
    **{"remove": 0, "remove_if": 0, "take": 0},
    **{"put": 1, "move": 1, "add": 1},
    "merge": 2,
}
"""What comes first at one position."""


def ordered(changes: DataFrame) -> DataFrame:
    """One row per key: ``key``, its distinct changes ``steps`` in the order in which they apply, and two counts.

    Takes changes of keys (``scopes.keyed`` makes some of scoped ones); ``is_past`` marks those of earlier windows.
    Several deliveries of one event are one step, at the smallest of their positions. ``deliveries`` counts them all,
    ``repeats`` those beyond the first; what is derived or scoped is in neither, for its event counts once.
    """
    step = F.struct(
        "position",
        F.coalesce(
            *[F.when(F.col("effect") == name, F.lit(rank)) for name, rank in RANKS.items()]
        ).alias("rank"),
        "event_id",
        "effect",
        F.array_sort(F.map_entries("before")).alias("before"),
        F.array_sort(F.map_entries("after")).alias("after"),
        F.array_sort(F.map_entries("attribute_ops")).alias("attribute_ops"),
        "moved_from",
        "event_at",
        "stable_prefix",
        F.col("scope").isNotNull().alias("is_scoped"),
        (F.col("derived").isNotNull() | F.col("scope").isNotNull()).alias("is_uncounted"),
        # Of several deliveries the newest counts: false sorts before true.
        (F.col("is_past") if "is_past" in changes.columns else F.lit(False)).alias("is_past"),
    )
    return (
        changes.select("key", step.alias("step"))
        # One shuffle serves both aggregations: rows of a key are together, so are those of a key and an event.
        .repartition("key")
        .groupBy("key", F.col("step.event_id").alias("event_id"))
        .agg(F.min("step").alias("step"), F.count("*").alias("copies"))
        .withColumn(
            "deliveries", F.when(F.col("step.is_uncounted"), F.lit(0)).otherwise(F.col("copies"))
        )
        .groupBy("key")
        .agg(
            F.array_sort(F.collect_list("step")).alias("steps"),
            F.sum("deliveries").alias("deliveries"),
            F.sum(F.greatest(F.col("deliveries") - 1, F.lit(0))).alias("repeats"),
        )
        .withColumn(
            "steps", F.when(has_tied_merges(), chained(F.col("steps"))).otherwise(F.col("steps"))
        )
        .select("key", "steps", "deliveries", "repeats")
    )


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """``body`` of a value that is computed once: a column used twice in a lambda is computed twice."""
    return F.transform(F.array(value), body)[0]


def has_ties() -> Column:
    """True where two different events of the key itself stand at one position."""

    def tie(one: Column, other: Column) -> Column:
        return (one["position"] == other["position"]) & ~one["is_scoped"] & ~other["is_scoped"]

    return F.exists(_neighbours(tie), lambda tied: tied)


def _neighbours(relation: Callable[[Column, Column], Column]) -> Column:
    """The relation between each step and the one after it."""
    following = F.slice("steps", F.lit(2), F.size("steps"))
    pairs = F.zip_with("steps", following, relation)
    # The last step has no follower: zip_with fills up with null.
    return F.transform(pairs, lambda holds: F.coalesce(holds, F.lit(False)))


def has_tied_merges() -> Column:
    """True where two merges of the key stand at one position: rare, and the only case in which images order."""
    return F.exists(_neighbours(is_tie_of_merges), lambda tied: tied)


def is_tie_of_merges(one: Column, other: Column) -> Column:
    """True for two merges at one position."""
    tie = (
        (one["position"] == other["position"])
        & (one["effect"] == "merge")
        & (other["effect"] == "merge")
    )
    return F.coalesce(tie, F.lit(False))


def chained(steps: Column) -> Column:
    """Reorder merges that stand at one position so that each follows the one whose result is its before image.

    Steps are taken one by one. Of the first remaining step's ties, the next is the one that continues the last taken,
    else the first that continues none of the others, else the first.
    """
    start = F.struct(F.slice(steps, 1, 0).alias("taken"), steps.alias("rest"))

    def take(state: Column, _: Column) -> Column:
        first = state["rest"][0]
        ties = F.filter(
            state["rest"],
            lambda step: (step["event_id"] == first["event_id"]) | is_tie_of_merges(first, step),
        )
        last = F.try_element_at(state["taken"], F.lit(-1))
        return let(
            let(ties, lambda those: following(those, last)), lambda chosen: moved(state, chosen)
        )

    def following(ties: Column, last: Column) -> Column:
        continuing = F.filter(
            ties,
            lambda step: F.coalesce(
                is_tie_of_merges(last, step) & continues(step, last), F.lit(False)
            ),
        )
        beginning = F.filter(
            ties,
            lambda step: (
                ~F.exists(
                    ties,
                    lambda other: (other["event_id"] != step["event_id"]) & continues(step, other),
                )
            ),
        )
        return F.coalesce(F.get(continuing, F.lit(0)), F.get(beginning, F.lit(0)), ties[0])

    def moved(state: Column, chosen: Column) -> Column:
        return F.struct(
            F.concat(state["taken"], F.array(chosen)).alias("taken"),
            F.filter(state["rest"], lambda step: step["event_id"] != chosen["event_id"]).alias(
                "rest"
            ),
        )

    return F.aggregate(steps, start, take, lambda state: state["taken"])


def continues(step: Column, other: Column) -> Column:
    """True where the step's before image is what the other leaves behind."""
    names = F.transform(other["after"], lambda entry: entry["key"])
    unchanged = F.filter(other["before"], lambda entry: ~F.array_contains(names, entry["key"]))
    result = F.array_sort(F.concat(unchanged, other["after"]))
    return (F.size(step["before"]) > 0) & (step["before"] == result)
