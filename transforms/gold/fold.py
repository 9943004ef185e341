"""The one fold: all changes of a key, in order, into one composite change.

The fold of changes is itself a change: it puts a whole row, merges some columns into whatever row there is, or removes
it. So the same fold serves a window on top of the table (``merge`` may remain) and a rebuild from the first event
(``whole`` turns what remains into a row), and the two agree because they are one piece of code.

Order within a key: position; at one position, removes before puts before merges; merges at one position in the order
in which their images chain (one's result is the other's before image), else by event id.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_COMPOSITE = "struct<effect:string,columns:map<string,string>>"

CLASSES = {"remove": 0, "put": 1, "merge": 2}


def ordered(changes: DataFrame) -> DataFrame:
    """One row per key: ``key``, its distinct changes ``steps`` in the order in which they apply, and two counts.

    Several deliveries of one event are one step, at the smallest of their positions. ``deliveries`` counts them all,
    ``repeats`` those beyond the first; the derived half of a key change is in neither, for its event counts once.
    """
    step = F.struct(
        "position",
        F.coalesce(
            *[F.when(F.col("effect") == name, F.lit(rank)) for name, rank in CLASSES.items()]
        ).alias("rank"),
        "event_id",
        "effect",
        F.array_sort(F.map_entries("before")).alias("before"),
        F.array_sort(F.map_entries("after")).alias("after"),
        "event_at",
        "settled",
        F.col("derived").isNotNull().alias("is_derived"),
    )
    return (
        changes.select("key", step.alias("step"))
        # One shuffle serves both aggregations: rows of a key are together, so are those of a key and an event.
        .repartition("key")
        .groupBy("key", F.col("step.event_id").alias("event_id"))
        .agg(F.min("step").alias("step"), F.count("*").alias("copies"))
        .withColumn(
            "deliveries", F.when(F.col("step.is_derived"), F.lit(0)).otherwise(F.col("copies"))
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


def folded(ordered_changes: DataFrame) -> DataFrame:
    """One row per key: the composite of its steps, and of the last step position, event id and time.

    ``key``, ``effect``, ``columns``, ``position``, ``event_id``, ``event_at``.
    """
    last = F.element_at("steps", -1)
    return ordered_changes.withColumn("composite", composite(F.col("steps"))).select(
        "key",
        F.col("composite.effect").alias("effect"),
        F.col("composite.columns").alias("columns"),
        last["position"].alias("position"),
        last["event_id"].alias("event_id"),
        last["event_at"].alias("event_at"),
    )


def whole(folded_changes: DataFrame) -> DataFrame:
    """Where nothing lies below, a merge is a new row: what it does not mention is null."""
    return folded_changes.withColumn(
        "effect", F.when(F.col("effect") == "merge", F.lit("put")).otherwise(F.col("effect"))
    )


def composite(steps: Column) -> Column:
    """Apply the steps one after the other, from a change that changes nothing."""

    def change(effect: Column, columns: Column) -> Column:
        return F.struct(effect.alias("effect"), columns.alias("columns")).cast(_COMPOSITE)

    def apply(state: Column, step: Column) -> Column:
        return let(
            F.map_from_entries(step["after"]),
            lambda mentioned: (
                F.when(step["effect"] == "remove", change(step["effect"], no_columns()))
                .when(step["effect"] == "put", change(step["effect"], mentioned))
                .otherwise(merged(state, mentioned))
            ),
        )

    def merged(state: Column, mentioned: Column) -> Column:
        kept = F.map_filter(state["columns"], lambda name, _: ~F.map_contains_key(mentioned, name))
        # A merge onto a removed row makes a new one, of which only the mentioned columns are known.
        effect = F.when(state["effect"] == "remove", F.lit("put")).otherwise(state["effect"])
        return change(effect, F.map_concat(kept, mentioned))

    return F.aggregate(steps, change(F.lit("merge"), no_columns()), apply)


def no_columns() -> Column:
    """The empty image."""
    return F.create_map().cast("map<string,string>")


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """``body`` of a value that is computed once: a column used twice in a lambda is computed twice."""
    return F.transform(F.array(value), body)[0]


def has_ties() -> Column:
    """True where two different events of the key stand at one position."""
    return F.exists(
        _neighbours(lambda one, other: one["position"] == other["position"]), lambda tied: tied
    )


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
