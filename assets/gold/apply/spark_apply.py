"""One gold table's apply in Spark's tasks: which rows are brought together by key, and the commits of what comes out.

New changes meet what gold has of their keys in one shuffle; the few keys that this cannot tell are folded from their
history in a second one. Not here: what becomes of a key (``gold_fold``), what is read for it (``key_rows``).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.gold_fold import BASE_COLUMNS, FromHistory, OntoGold, ToBase
from assets.arrow.gold_rows import CHANGED, COUNTED, UNTOLD, VERSION, Tally, out_columns
from assets.arrow.meetings import GOLD, TOMBSTONE, Folding, met
from assets.arrow.stories import stories
from assets.columns.gold import BLOB, KIND, PARTS
from assets.delta.broadcasting import broadcast_if_small
from assets.delta.lake_table import LakeTable
from assets.gold.apply import meeting_rows, whole_images
from assets.gold.apply.key_rows import Run, whole, with_linked
from assets.gold.changes import scoped_delete_effects
from assets.gold.changes.scoped_delete_effects import Scoping
from assets.gold.changes.table_changes import TableChanges
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.fold import Fold
from transforms.gold.scopes import Scopes
from transforms.gold.state import ABSENT, State


@dataclass(frozen=True, slots=True)
class Folded:
    """What a run makes of one table: a row per key that has changed, or per copy of one, and the counts.

    ``history``: of these keys, where the table keeps versions, those that silver can tell.
    """

    rows: DataFrame
    versions: DataFrame
    tally: Tally


def folded(
    feed: Feed,
    table_changes: TableChanges,
    scoping: Scoping,
    gold: LakeTable | None = None,
    tombstones: LakeTable | None = None,
    versions: DataFrame | None = None,
) -> Folded:
    """Fold the run's changes onto the tables, or, where they are None, all changes there are.

    ``history``: those that stand and that silver can tell, where the table keeps them.
    """
    run = _run(feed, table_changes, scoping, full_rebuild=gold is None)
    if gold is not None and tombstones is not None:
        run = replace(run, layers=(gold, tombstones), versions=versions)
    rows, tally = _brought(run)
    if tally.untold:
        asked = rows.where(F.col(KIND) == UNTOLD)
        asked = asked.select(F.col(PARTS).alias("key"), F.col(BLOB).alias("carried"))
        others, counts = _from_history(run, asked, tally.untold)
        tally.add(counts)
        if run.folding.moves:
            # Of linked keys all are told there, also those that their new changes alone had told.
            told = with_linked(run, asked).select(F.col("key").alias(PARTS))
            rows = rows.join(told, on=PARTS, how="left_anti")
        rows = rows.unionByName(others)
    changed, of_versions = (rows.where(F.col(KIND) == one) for one in (CHANGED, VERSION))
    return Folded(changed, of_versions, tally)


def to_base(feed: Feed, table_changes: TableChanges) -> DataFrame:
    """What all keys are by all these changes (``BASE_COLUMNS``), computed once."""
    scoping = scoped_delete_effects.of_changes(feed, table_changes)
    assert scoping.across_streams is None  # where they reach other streams, nothing is compacted
    run = _run(feed, table_changes, scoping, full_rebuild=True)
    rows = meeting_rows.by_key(whole(run, None, 0))
    return in_spark.staged(rows, ToBase(run.folding), BASE_COLUMNS).localCheckpoint()


def story_of(feed: Feed, table_changes: TableChanges, key: Key) -> tuple[State, list[Change]]:
    """Everything that happened to one key: what it was at the table's horizon, and its changes in their order."""
    run = _run(
        feed,
        table_changes,
        scoped_delete_effects.of_changes(feed, table_changes),
        full_rebuild=True,
    )
    folding = run.folding
    asked = table_changes.changes.sparkSession.createDataFrame([(list(key),)], "key array<string>")
    rows = meeting_rows.by_key(whole(run, asked, 1), 1).toArrow()
    scopes = Scopes(folding.scoped, (fold := Fold.of(table_changes.table)).identity)
    for meetings in met(folding, rows.to_batches()):
        for one in stories(folding, fold, scopes, list(meetings)):
            if one.key.key == key:
                return one.key.base, [*one.changes]
    return ABSENT, []


def _run(feed: Feed, table_changes: TableChanges, scoping: Scoping, *, full_rebuild: bool) -> Run:
    kinds, across_streams = table_changes.change_kinds, scoping.across_streams
    folding = Folding(
        *(feed, table_changes.table, scoping.every),
        depends=kinds.depends,
        keeps_history=kinds.moves or table_changes.table.history,
        moves=kinds.moves,
        full_rebuild=full_rebuild,
        crossing=across_streams.crossing if across_streams else None,
        horizon=table_changes.horizon,
    )
    return Run(
        table_changes, folding, across_streams.cross_stream_positions if across_streams else None
    )


def _brought(run: Run) -> tuple[DataFrame, Tally]:
    """What the changes make of what the tables have: by the newest ones where these tell it, else by the fold."""
    layers = run.layers
    if run.cross_stream_positions is not None or not whole_images.may_tell(
        run.table_changes, full_rebuild=layers is None
    ):
        return _folded(run, None, 0)
    told = whole_images.told(run.table_changes, layers and tuple(one.read() for one in layers))
    tally, rows = told.tally, told.rows
    if tally.untold:
        others, counts = _folded(run, told.unsure, tally.untold)
        tally.untold = 0
        tally.add(counts)
        rows = rows.unionByName(others)
    return rows, tally


def _folded(run: Run, asked: DataFrame | None, count: int) -> tuple[DataFrame, Tally]:
    """What the fold makes of all keys, or of so many that are ``asked`` for (``key``)."""
    if run.layers is None:
        return _from_history(run, asked, count)
    return _onto(run, *run.layers, None if asked is None else broadcast_if_small(asked, count))


def _onto(
    run: Run, gold: LakeTable, tombstones: LakeTable, asked: DataFrame | None
) -> tuple[DataFrame, Tally]:
    """What the new changes make of what the tables have."""
    table_changes, folding, table = run.table_changes, run.folding, run.table_changes.table
    new = table_changes.of_keys.where("is_new")
    if asked is not None:
        new = new.join(asked, on="key", how="left_semi")
    brings_scopes = not all(one.change.is_past for one in folding.scoped)
    rows = meeting_rows.changes(new)
    keys = table_changes.new_keys() if asked is None else asked
    if run.cross_stream_positions is not None:
        placed = run.cross_stream_positions.where("is_new")
        keys = keys.unionByName(placed.select("key"))
        rows = rows.unionByName(
            meeting_rows.cross_stream_positions(placed), allowMissingColumns=True
        )
    # A new scoped change is for all that stands.
    mine = None if brings_scopes else keys
    for layer, what, with_values in (
        (gold, GOLD, folding.depends),
        (tombstones, TOMBSTONE, False),
    ):
        stands = meeting_rows.stands(table, layer.read(), what, mine, with_values=with_values)
        rows = rows.unionByName(stands, allowMissingColumns=True)
    shaped = meeting_rows.shaped(rows.withColumn("group", F.col("key")))
    together = meeting_rows.by_key(shaped, None if brings_scopes else table_changes.most_new)
    return _staged(together, OntoGold(folding), table)


def _from_history(run: Run, asked: DataFrame | None, count: int) -> tuple[DataFrame, Tally]:
    """What all keys are, or those that are ``asked`` for (``key``, ``carried``), by all that silver has of them."""
    rows = meeting_rows.by_key(whole(run, asked, count))
    # What gold has of them is there with its values by now.
    folding = replace(run.folding, depends=True)
    return _staged(rows, FromHistory(folding), run.table_changes.table)


def _staged(
    rows: DataFrame, stage: OntoGold | FromHistory, table: Table
) -> tuple[DataFrame, Tally]:
    """What comes out of the tasks, computed once, and the sum of their counts.

    Computed before anything is written: Spark would read the tables anew after a commit.
    """
    found = in_spark.staged(rows, stage, out_columns(table)).localCheckpoint()
    tally = Tally()
    for row in found.where(F.col(KIND) == COUNTED).select(BLOB).collect():
        tally.add(pickle.loads(row[BLOB]))
    return found, tally
