"""Keys whose newest change alone decides what they are, picked out by Spark itself: the short way of an apply.

Most sources send whole rows. Where all new changes of a key are newer than what gold has of it, and the newest gives
the whole row, the others do not matter. Where all of them are older than gold's reset position, or the newest is gold's
own last change, the row stays as it is. A table that gets a million changes has few other keys, and only these go to
the fold in Python. The result is the same as if all went there, only sooner (``transforms/gold/onto_gold.py``; the laws
in tests hold the two together). Put here how such keys are picked out and counted. Not here: the other keys
(``spark_fold``), and what is done with the rows (``assets/gold/apply``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow.gold.gold_columns import CHANGED
from assets.arrow.gold.tally import Tally
from assets.columns.gold import (
    BLOB,
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    KIND,
    MENTIONS,
    PARTS,
    POSITION,
    RESET,
)
from assets.columns.quoting import all_quoted
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import current_rows
from assets.gold.fold.newest_changes import (
    EVENT,
    EVENTS,
    IS_MIXED,
    IS_WHOLE,
    newest_changes,
)
from assets.gold.fold.newest_outcomes import (
    LAST,
    NEWER,
    OLDER,
    OUTCOME,
    ROWS,
    UNSURE,
    last_changes,
    outcome,
)
from transforms.feed.feed import Table

LEAST = 20_000
"""From so many new changes on this way is taken: it saves 20 µs a change, and costs some queries."""


@dataclass(frozen=True, slots=True)
class ByNewest:
    """What the newest changes decide of a run's keys.

    ``rows``: one row per key that has changed, with the columns in which the fold gives them. ``unsure``: one row per
    key that they do not decide (``key``: its parts as canonical texts). ``tally``: the counts of the decided keys, and
    in ``needing_history`` how many are not.
    """

    rows: DataFrame
    unsure: DataFrame
    tally: Tally


def is_worthwhile(table_changes: TableChanges, *, full_rebuild: bool) -> bool:
    """Whether there are many new changes, each is for one row, and none depends on what the row was.

    ``full_rebuild``: whether all changes are folded, without a look at gold.
    """
    table, kinds = table_changes.table, table_changes.change_kinds
    return (
        table_changes.most_new >= LEAST
        and bool(table.key)
        and not table.history
        and not (kinds.depends or kinds.moves or kinds.scopes)
        and not (full_rebuild and table_changes.base is not None)
    )


def by_newest(table_changes: TableChanges, layers: Sequence[DataFrame] | None) -> ByNewest:
    """Decide of each key with new changes what becomes of it, or that the fold has to.

    Computed before anything is written: Spark would read the tables again after a commit.

    Args:
        table_changes: The gold table's changes.
        layers: Gold and its tombstones; None to decide of all keys by all their changes.
    """
    table = table_changes.table
    if layers is None:
        newest = newest_changes(table_changes.of_keys, table)
        is_decided = F.col(IS_WHOLE) & ~F.col(IS_MIXED)
        met = newest.withColumn(OUTCOME, F.when(is_decided, NEWER).otherwise(UNSURE))
    else:
        new = table_changes.of_keys.where("is_new")
        newest, before = newest_changes(new, table), last_changes(table_changes, new, layers)
        together = newest.join(before, on=[*table.key], how="left")
        met = together.withColumn(OUTCOME, outcome()).drop(LAST, ROWS)
    found = met.localCheckpoint()
    changed, unsure = (found.where(F.col(OUTCOME) == one) for one in (NEWER, UNSURE))
    return ByNewest(
        _as_folded(changed, table),
        unsure.select(current_rows.key_texts(table).alias("key")),
        _counted(found),
    )


def _counted(found: DataFrame) -> Tally:
    """The counts, as the fold would count these keys."""
    tally = Tally()
    counts = found.groupBy(OUTCOME, EFFECT).agg(
        F.count("*").alias("keys"), F.sum(EVENTS).alias("events"), F.sum(EVENT).alias("newest")
    )
    for outcome_of, effect, keys, events, newest in counts.collect():
        if outcome_of == UNSURE:
            tally.needing_history += keys
            continue
        tally.deliveries += events
        if outcome_of == NEWER:
            tally.keys += keys
            tally.absent += keys if effect == "remove" else 0
        elif outcome_of == OLDER:
            tally.superseded += events
        else:
            # The newest is a repeat of what gold has, and the ones before it are superseded by it.
            tally.repeats += newest
            tally.superseded += events - newest
    return tally


def _as_folded(rows: DataFrame, table: Table) -> DataFrame:
    """The rows with the columns in which the fold gives them (``gold_rows``)."""
    return rows.select(
        F.lit(CHANGED).alias(KIND),
        F.lit(None).cast("array<string>").alias(PARTS),
        F.lit(None).cast("binary").alias(BLOB),
        *all_quoted(table.columns),
        *(POSITION, EVENT_ID, EVENT_AT),
        # The change gives the whole row: nothing older can matter.
        F.col(POSITION).alias(RESET),
        EFFECT,
        F.lit(None).cast("array<string>").alias(MENTIONS),
    )
