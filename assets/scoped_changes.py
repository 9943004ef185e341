"""What scoped changes did to a gold table: a truncate, a drop, a star delete is always reported with what it removed.

Not here: which keys a scope has (``transforms/gold/scopes.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from assets.history import History
from assets.wording import counted

SHOWN = 20
"""So many of a run are named one by one; of more, the sum is told."""


@dataclass(frozen=True, slots=True)
class Reached:
    """One scoped change of a run, and how many rows it removed, or changed where it is a dropped column."""

    operation: str
    scope: str
    place: str
    removed: int
    changed: int


def reached(history: History, net: DataFrame, *, anew: bool) -> tuple[Reached, ...]:
    """The scoped changes that these windows bring, and older ones that met rows in this run.

    ``net`` are the folded keys of the run, ``fold.folded``'s rows. Rows count that gold had before; in a table that is
    made anew, those that would be there without the change.
    """
    if not history.traits.scopes:
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
            F.to_json(F.first("scope")).alias("scope"),
            F.min(F.struct("window", "object", "line")).alias("at"),
            F.bool_or("is_new").alias("is_new"),
        )
        .join(met, on="event_id", how="left")
        .where(F.col("is_new") | F.col("removed").isNotNull())
        .orderBy("at")
    )
    return tuple(_reached(row) for row in told.collect())


def _reached(row: Row) -> Reached:
    at = row["at"]
    place = f"{at['object']} line {at['line']}" if at["line"] else at["object"]
    return Reached(row["operation"], row["scope"], place, row["removed"] or 0, row["changed"] or 0)


def told(changes: tuple[Reached, ...]) -> list[str]:
    """One line for each of the first, and one for the rest."""
    lines = []
    for one in changes[:SHOWN]:
        of = "of the whole table" if one.scope == "{}" else f"of {one.scope}"
        did = f"removed {counted(one.removed, 'row')}"
        if one.changed:
            did = f"changed {counted(one.changed, 'row')}"
        lines.append(f"{one.operation} {of} ({one.place}) {did}")
    if rest := changes[SHOWN:]:
        removed = sum(one.removed for one in rest)
        lines.append(f"{len(rest):,} more scoped changes removed {counted(removed, 'row')}")
    return lines
