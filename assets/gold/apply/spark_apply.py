"""An apply in Spark's tasks: for a gold table that is large, or a run that brings much for it.

Put here the steps of such an apply, in their order. Not here: small tables (``local_apply``), the fold
(``assets/gold/fold/spark_fold.py``), and how its result is committed (``history``, ``spark_commits``).
"""

from __future__ import annotations

from collections.abc import Sequence

from assets.bookkeeping.compacted import bases
from assets.columns.gold import PARTS
from assets.gold.applied import Applied, AppliedTable
from assets.gold.apply import full_rebuilds, history, spark_commits
from assets.gold.changes import scoping
from assets.gold.changes.scoped_delete_effects import effects_of_counts
from assets.gold.changes.scoping import Scoping
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import spark_fold
from assets.gold.fold.key_rows import CurrentTables
from assets.gold.fold.spark_fold import Folded
from assets.gold.gold_table import GoldTable
from assets.gold.table_properties import properties_of, upgrade_properties
from transforms.feed.digest import table_digest
from transforms.horizons import Horizon


def apply_one(gold: GoldTable, windows: Sequence[str], *, full_rebuild: bool) -> Applied:
    """Fold these windows' changes onto one gold table; tombstones first, so that a crash in between loses none.

    Keys whose changes are all newer than what gold has of them are folded onto it; the others from all of silver.
    """
    changes = TableChanges.read(gold.lake, gold.feed, gold.table, gold.name, windows)
    exists = gold.exists()
    properties = gold.rows.properties() if exists else {}
    scoped = scoping.of_changes(gold.feed, changes)
    has_history = gold.table.history and gold.history.exists()
    full_rebuild = full_rebuild or full_rebuilds.is_due(
        gold, properties, exists=exists, has_history=has_history
    )
    if not full_rebuild:
        upgrade_properties(gold.rows, gold.table, properties)
    elif stale := full_rebuilds.waits_for(gold, exists=exists):
        return Applied(waits_for=stale)
    rebuilt = exists and full_rebuild
    across = scoped.across_streams
    # Whatever new changes came, they may have moved where deletes of one stream stand among another's changes.
    full_rebuild = full_rebuild or (across is not None and across.crossing.has_moved)
    horizon = bases.horizons(gold.lake, gold.feed).get(gold.name)
    current = None if full_rebuild else _current(gold, horizon)
    found = spark_fold.folded(gold.feed, changes, scoped, current)
    _write(gold, found, horizon, full_rebuild=full_rebuild)
    return _applied(gold, scoped, found, rebuilt=rebuilt)


def _current(gold: GoldTable, horizon: Horizon | None) -> CurrentTables:
    """The tables as they are before the run; of the versions those that can still be derived from silver."""
    kept = history.above(gold.history.read(), horizon) if gold.table.history else None
    return CurrentTables(gold.rows, gold.tombstones, kept)


def _write(gold: GoldTable, found: Folded, horizon: Horizon | None, *, full_rebuild: bool) -> None:
    """Commit what keys are now: versions first, then tombstones and rows."""
    table, tally = gold.table, found.tally
    if table.history and (full_rebuild or tally.keys):
        keys = found.rows.select(PARTS)
        history.write_versions(
            gold, found.versions, keys, full_rebuild=full_rebuild, horizon=horizon
        )
    if full_rebuild:
        properties = properties_of(table, table_digest(gold.feed, table))
        spark_commits.create(gold.rows, gold.tombstones, found.rows, table, properties)
    elif tally.keys:
        spark_commits.put(gold.rows, gold.tombstones, found.rows, table, tally)


def _applied(gold: GoldTable, scoped: Scoping, found: Folded, *, rebuilt: bool) -> Applied:
    """What was done, in numbers."""
    tally = found.tally
    sizes = gold.rows.count(), gold.tombstones.count()
    effects = effects_of_counts(scoped.by_event, scoped.places, tally.removed, tally.changed)
    return Applied(
        tables=(AppliedTable(gold.name, *sizes, tally.repeats, effects),),
        changes=tally.deliveries,
        repeats=tally.repeats,
        superseded=tally.superseded,
        keys=tally.keys,
        refolded=tally.refolded,
        keys_with_late_events=tally.keys_with_late_events,
        ties=tally.ties,
        foreign_copies=tally.foreign_copies,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
    )
