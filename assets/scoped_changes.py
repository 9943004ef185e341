"""What scoped changes did to a gold table: a truncate, a drop, a star delete is always reported with what it removed.

There may be as many as there are events (a star delete of Dgraph is an everyday one), so that only the widest are
named. Not here: which keys a scope has (``assets/gold_columns/scopes.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from assets.history import History
from assets.wording import counted

SHOWN = 5
"""So many of a run are named one by one, the widest and then those that did most; of the others the sum is told."""


@dataclass(frozen=True, slots=True)
class Reached:
    """One scoped change of a run, and how many rows it removed, or changed where it is a dropped column.

    Or ``events`` of them together, all of one operation: these have neither scope nor place.
    """

    operation: str
    scope: str
    place: str
    removed: int
    changed: int
    events: int = 1


def reached(history: History, net: DataFrame, *, anew: bool) -> tuple[Reached, ...]:
    """The scoped changes that these windows bring, and older ones that met rows in this run.

    ``net`` are the folded keys of the run, ``fold.folded``'s rows. Rows count that gold had before; in a table that is
    made anew, those that would be there without the change.
    """
    if not history.change_kinds.scopes:
        return ()
    there = F.lit(anew) | (F.coalesce("copies_before", F.lit(0)) > 0)
    met = (
        net.where(F.col("is_scoped") & there)
        .groupBy("event_id")
        .agg(
            F.count_if(F.col("effect") == "remove").alias("removed"),
            F.count_if(F.col("effect") != "remove").alias("changed"),
        )
    )
    told = (
        history.scoped.groupBy("event_id")
        .agg(
            F.first("operation").alias("operation"),
            F.first("scope").alias("scope"),
            F.min(F.struct("window", "object", "line")).alias("at"),
            F.bool_or("is_new").alias("is_new"),
        )
        .join(met, on="event_id", how="left")
        .where(F.col("is_new") | F.col("removed").isNotNull())
        .select(
            *("event_id", "operation", "at", F.to_json("scope").alias("scope")),
            F.size("scope").alias("width"),
            *[F.coalesce(name, F.lit(0)).alias(name) for name in ("removed", "changed")],
        )
    )
    did_most = (F.col("removed") + F.col("changed")).desc()
    widest = told.orderBy("width", did_most, "at", "event_id").limit(SHOWN + 1).collect()
    if len(widest) <= SHOWN:
        return tuple(_named(row) for row in widest)
    named = widest[:SHOWN]
    others = told.where(~F.col("event_id").isin([row["event_id"] for row in named]))
    sums = others.groupBy("operation").agg(
        *[F.sum(name).alias(name) for name in ("removed", "changed")], F.count("*").alias("events")
    )
    return (
        *[_named(row) for row in named],
        *[
            Reached(scope="", place="", **row.asDict())
            for row in sums.orderBy("operation").collect()
        ],
    )


def _named(row: Row) -> Reached:
    at = row["at"]
    place = f"{at['object']} line {at['line']}" if at["line"] else at["object"]
    return Reached(row["operation"], row["scope"], place, row["removed"], row["changed"])


def told(changes: tuple[Reached, ...]) -> list[str]:
    """One line for each that is named, and one per operation for the others."""
    lines = []
    for one in changes:
        of = "of the whole table" if one.scope == "{}" else f"of {one.scope}"
        what = f"{one.operation} {of} ({one.place})"
        if not one.place:
            what = f"{one.events:,} more of {one.operation}"
        did = f"removed {counted(one.removed, 'row')}"
        if one.changed:
            did = f"changed {counted(one.changed, 'row')}"
        lines.append(f"{what} {did}")
    return lines
