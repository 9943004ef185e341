"""The fold of one large gold table in Spark's tasks, in two shuffles at most.

In the first, new changes meet what gold has of their keys; the few keys that this does not decide are folded from all
their changes in the second. Put here in which order that happens. Not here: what becomes of a key
(``assets/arrow/gold/gold_fold.py``), what is read for it (``key_rows``), and the commits (``assets/gold/apply``).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.gold.fold_row_columns import GOLD, TOMBSTONE
from assets.arrow.gold.gold_columns import CHANGED, COUNTED, NEEDS_HISTORY, VERSION, out_columns
from assets.arrow.gold.gold_fold import OntoGold
from assets.arrow.gold.history_fold import FromHistory
from assets.arrow.gold.tally import Tally
from assets.columns.gold import BLOB, KIND, PARTS
from assets.delta.broadcasting import broadcast_if_small
from assets.gold.changes.scoping import Scoping
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import change_rows, current_rows, whole_images
from assets.gold.fold.key_rows import CurrentTables, Run, whole, with_linked
from transforms.feed.feed import Feed, Table


@dataclass(frozen=True, slots=True)
class Folded:
    """What a run makes of one table.

    ``rows``: one row per key that has changed, in a table without a key one per copy
    (``assets.arrow.gold.gold_columns``). ``versions``: one row per version of these keys, where the table keeps them.
    ``tally``: the counts.
    """

    rows: DataFrame
    versions: DataFrame
    tally: Tally


def folded(
    feed: Feed,
    table_changes: TableChanges,
    scoping: Scoping,
    current: CurrentTables | None = None,
) -> Folded:
    """Fold the run's changes onto the gold table as it is, or, where ``current`` is None, fold all changes.

    Args:
        feed: The feed.
        table_changes: The gold table's changes.
        scoping: Its scoped changes, and whom they reach.
        current: The gold table before the run.
    """
    run = Run.of(feed, table_changes, scoping, current)
    rows, tally = _brought(run)
    if tally.needing_history:
        asked = rows.where(F.col(KIND) == NEEDS_HISTORY)
        asked = asked.select(F.col(PARTS).alias("key"), F.col(BLOB).alias("carried"))
        others, counts = _from_history(run, asked, tally.needing_history)
        tally.add(counts)
        if run.folding.moves:
            # Linked keys are all decided there, also those that their new changes alone had decided.
            decided = with_linked(run, asked).select(F.col("key").alias(PARTS))
            rows = rows.join(decided, on=PARTS, how="left_anti")
        rows = rows.unionByName(others)
    changed, of_versions = (rows.where(F.col(KIND) == one) for one in (CHANGED, VERSION))
    return Folded(changed, of_versions, tally)


def _brought(run: Run) -> tuple[DataFrame, Tally]:
    """What the changes make of the keys: by their newest ones alone where these decide, else by the fold."""
    current = run.current
    if run.cross_stream_positions is not None or not whole_images.is_worthwhile(
        run.table_changes, full_rebuild=current is None
    ):
        return _folded(run, None, 0)
    layers = None if current is None else (current.rows.read(), current.tombstones.read())
    newest = whole_images.by_newest(run.table_changes, layers)
    tally, rows = newest.tally, newest.rows
    if tally.needing_history:
        others, counts = _folded(run, newest.unsure, tally.needing_history)
        tally.needing_history = 0
        tally.add(counts)
        rows = rows.unionByName(others)
    return rows, tally


def _folded(run: Run, asked: DataFrame | None, count: int) -> tuple[DataFrame, Tally]:
    """What the fold makes of all keys, or of the ``count`` keys that are ``asked`` for (``key``)."""
    if run.current is None:
        return _from_history(run, asked, count)
    return _onto(run, run.current, None if asked is None else broadcast_if_small(asked, count))


def _onto(run: Run, current: CurrentTables, asked: DataFrame | None) -> tuple[DataFrame, Tally]:
    """What the new changes make of the tables' rows; keys whose history has to be read come out ``NEEDS_HISTORY``."""
    table_changes, folding, table = run.table_changes, run.folding, run.table_changes.table
    new = table_changes.of_keys.where("is_new")
    if asked is not None:
        new = new.join(asked, on="key", how="left_semi")
    brings_scopes = not all(one.change.is_past for one in folding.scoped)
    rows = change_rows.changes(new)
    keys = table_changes.new_keys() if asked is None else asked
    if run.cross_stream_positions is not None:
        placed = run.cross_stream_positions.where("is_new")
        keys = keys.unionByName(placed.select("key"))
        rows = rows.unionByName(
            change_rows.cross_stream_positions(placed), allowMissingColumns=True
        )
    # A new scoped change may be for any row.
    mine = None if brings_scopes else keys
    for layer, what, with_values in (
        (current.rows, GOLD, folding.depends),
        (current.tombstones, TOMBSTONE, False),
    ):
        before = current_rows.last_changes(table, layer.read(), what, mine, with_values=with_values)
        rows = rows.unionByName(before, allowMissingColumns=True)
    shaped = change_rows.shaped(rows.withColumn("group", F.col("key")))
    together = change_rows.by_key(shaped, None if brings_scopes else table_changes.most_new)
    return _staged(together, OntoGold(folding), table)


def _from_history(run: Run, asked: DataFrame | None, count: int) -> tuple[DataFrame, Tally]:
    """What all keys are, or those that are ``asked`` for (``key``, ``carried``), by all their changes in silver."""
    rows = change_rows.by_key(whole(run, asked, count))
    # Gold's rows of these keys are read with their values by now.
    folding = replace(run.folding, depends=True)
    return _staged(rows, FromHistory(folding), run.table_changes.table)


def _staged(
    rows: DataFrame, stage: OntoGold | FromHistory, table: Table
) -> tuple[DataFrame, Tally]:
    """What comes out of the tasks, and the sum of their counts.

    Computed once, and before anything is written: Spark would read the tables again after a commit.
    """
    found = in_spark.staged(rows, stage, out_columns(table)).localCheckpoint()
    tally = Tally()
    for row in found.where(F.col(KIND) == COUNTED).select(BLOB).collect():
        tally.add(pickle.loads(row[BLOB]))
    return found, tally
