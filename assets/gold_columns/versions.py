"""The versions of a row: what a key was after each of its changes, from when to when.

Not here: the fold itself (``fold``), and how versions get into a table (``assets/versions.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.gold_columns import fold
from assets.gold_columns import typed as types
from assets.gold_columns.fold import Folding
from assets.gold_columns.ordering import let
from transforms.feed import Table

VALID_FROM, VALID_TO = "_weir_valid_from", "_weir_valid_to"
FROM_AT, TO_AT = "_weir_valid_from_at", "_weir_valid_to_at"
BEGAN_BY, ENDED_BY = "_weir_began_by", "_weir_ended_by"
OWN = (VALID_FROM, VALID_TO, FROM_AT, TO_AT, BEGAN_BY, ENDED_BY)
"""Positions, times (UTC) and identities of the changes that began and ended a version; null where it stands."""


def of_steps(steps: DataFrame, table: Table, folding: Folding) -> DataFrame:
    """One row per version of each key: the table's columns and ``OWN``.

    Takes ``key``, ``steps`` and ``before`` (see ``fold.folded``). Every change that counts ends the version before it,
    and begins one where the row is there after it, also where no column has another value. A key whose history is
    compacted begins with the version that stood at the horizon.
    """
    each = F.posexplode(states(F.col("steps"), F.col("before"), folding)).alias("at", "state")
    following = F.try_element_at("states", F.col("at") + 2)
    return (
        steps.withColumn("states", states(F.col("steps"), F.col("before"), folding))
        .select("key", "states", each)
        .withColumn("next", following)
        .where((F.col("state.effect") != "remove") & F.col("state.last").isNotNull())
        .select(
            *[_value(name, table).alias(name) for name in table.columns],
            F.col("state.last.position").alias(VALID_FROM),
            F.col("next.last.position").alias(VALID_TO),
            F.col("state.last.event_at").alias(FROM_AT),
            F.col("next.last.event_at").alias(TO_AT),
            F.col("state.last.event_id").alias(BEGAN_BY),
            F.col("next.last.event_id").alias(ENDED_BY),
        )
    )


def states(steps: Column, before: Column, folding: Folding) -> Column:
    """The state before the steps, and that after each of them that counted."""
    kind = f"struct<now:{fold.STATE},all:array<{fold.STATE}>>"
    start = F.struct(before.alias("now"), F.array(before).alias("all")).cast(kind)

    def grown(acc: Column, step: Column) -> Column:
        def appended(new: Column) -> Column:
            counted = ~new["last"].eqNullSafe(acc["now"]["last"])
            more = F.when(counted, F.concat(acc["all"], F.array(new))).otherwise(acc["all"])
            return F.struct(new.alias("now"), more.alias("all")).cast(kind)

        return let(fold.stepped(acc["now"], step, folding), appended)

    return F.aggregate(steps, start, grown, lambda acc: acc["all"])


def _value(name: str, table: Table) -> Column:
    if name in table.key:
        text = F.get("key", F.lit(table.key.index(name)))
    else:
        text = F.try_element_at("state.columns", F.lit(name))
    return types.typed(text, table.columns[name])
