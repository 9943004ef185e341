"""How new changes get into the gold tables that mirror one declared table, by whichever executor fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from assets.bookkeeping.redeclared import DECLARATION
from assets.executors.executor import Frame
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.gold import held_losses, range_deletes
from assets.gold.applied import Applied, AppliedTable, shown_keys
from assets.gold.apply import full_rebuilds
from assets.gold.apply.stored_by_spark import StoredBySpark
from assets.gold.apply.stored_in_process import StoredInProcess
from assets.gold.folding import Folded, Stored, TableFold
from assets.gold.gold_table import GoldTable
from assets.gold.plan import FeedPlan, TablePlan
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess, TooLarge
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from transforms.feed.decisions import Hold
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table


def apply(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str], *, full_rebuild: bool = False
) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows.

    A gold table that cannot be made stays as it was (``discovered_tables.stopped``).

    Args:
        lake: The warehouse.
        feed: The feed.
        table: The declared table.
        windows: The landing windows whose changes are applied.
        full_rebuild: Whether to make the tables from all of silver.
    """
    with writing(lake, Layer.GOLD, feed.name, table.name):
        known = FeedPlan.read(lake, feed, windows)
        return apply_locked(lake, known, table, full_rebuild=full_rebuild)


def apply_locked(lake: Lake, known: FeedPlan, table: Table, *, full_rebuild: bool) -> Applied:
    """``apply`` for a caller that holds the lock of the table (``apply_feed``), by what is ``known`` of the feed."""
    stopped = {name: why for name, why in known.stopped.items() if table.name in why.declared}
    done = Applied(stopped=stopped)
    for name, is_brought in known.names_of(table).items():
        if name in known.stopped:
            continue
        plan = known.of_table(table, name)
        stored = StoredInProcess.of(lake, plan.feed, plan.table, name, plan.compaction_watermark)
        if is_brought or not _is_as_declared(plan, stored):
            done = done.plus(_apply_one(lake, plan, stored, full_rebuild=full_rebuild))
        else:
            done = done.plus(Applied(columns=plan.table.columns))
    return done


def _is_as_declared(plan: TablePlan, stored: StoredInProcess) -> bool:
    """Whether the gold table is there, and was made under the declaration that there is now."""
    declaration = stored.gold.properties.get(DECLARATION)
    return stored.exists and declaration == table_digest(plan.feed, plan.table)


def _apply_one(
    lake: Lake, plan: TablePlan, here: StoredInProcess, *, full_rebuild: bool
) -> Applied:
    """Apply the windows' changes to one gold table.

    A table that was made under another declaration is made from all of silver, once all windows of silver are derived
    under the new one; until then it stays as it is.
    """
    gold = GoldTable(lake, plan.feed, plan.table, plan.name)
    has_history = here.history is None or here.history.exists
    is_asked_for = full_rebuild
    full_rebuild = full_rebuild or not (_is_as_declared(plan, here) and has_history)
    rebuilt = full_rebuild and here.exists
    if full_rebuild and (
        stale := full_rebuilds.waits_for(
            *(gold, plan.accounts), has_rows=here.has_rows, is_asked_for=is_asked_for
        )
    ):
        return Applied(waits_for=stale)
    if _fits(lake, plan, here):
        try:
            fold = TableFold.of(InProcess(), plan, SilverInProcess.of(lake, plan), here)
            return _applied(gold, fold, here, full_rebuild=full_rebuild, rebuilt=rebuilt)
        except TooLarge:
            # Only now is it known that keys need a history that does not fit: nothing has been written.
            pass
    stored, silver = StoredBySpark(gold, plan.compaction_watermark), SilverBySpark.read(lake, plan)
    by_spark = TableFold.of(InSpark(lake.spark, plan.feed), plan, silver, stored)
    return _applied(gold, by_spark, stored, full_rebuild=full_rebuild, rebuilt=rebuilt)


def _fits(lake: Lake, plan: TablePlan, here: StoredInProcess) -> bool:
    """Whether a table is read, folded and written in this process."""
    if plan.table.change_feed or not here.may_be_written:
        # What changed would be missing from the files that tell it; or it has what only Spark can write.
        return False
    return lake.choice.fits_in_process(here.size, here.count, plan.most_new)


class Committing(Stored[Frame], Protocol[Frame]):
    """What a fold's result is written with."""

    def put(self, folded: Folded[Frame]) -> tuple[int, int]:
        """Put what keys are now in place of what they were; returns how many rows and tombstones there are then."""

    def create(self, folded: Folded[Frame], feed: Feed) -> tuple[int, int]:
        """Write the tables in place of what there was; returns how many rows and tombstones they have."""


def _applied(
    gold: GoldTable,
    fold: TableFold[Frame],
    stored: Committing[Frame],
    *,
    full_rebuild: bool,
    rebuilt: bool,
) -> Applied:
    """Fold, commit, and say what was done."""
    # Whatever new changes came, they may have moved where deletes of one stream stand among another's changes.
    held: Sequence[Hold] = ()
    if full_rebuild or fold.deletes.have_moved:
        folded = replace(fold, stored=None).from_history()
        sizes = stored.create(folded, fold.plan.feed)
    else:
        fold, folded, held = held_losses.guarded(gold.lake, fold)
        sizes = stored.put(folded)
    metrics, deletes, name = folded.metrics, fold.deletes, fold.plan.name
    waiting = [
        *held_losses.outstanding(fold.plan),
        *held,
        *held_losses.of_unproved(gold, fold.plan),
    ]
    effects = range_deletes.effects_of(
        deletes.by_event, deletes.source_locations, metrics.removed, metrics.changed
    )
    return Applied(
        tables=(AppliedTable(name, *sizes, metrics.repeats, effects),),
        changes=metrics.deliveries,
        in_gold_already=metrics.repeats,
        superseded=metrics.superseded,
        keys=metrics.keys,
        refolded=metrics.refolded,
        keys_with_late_events=metrics.keys_with_late_events,
        ties=metrics.ties,
        foreign_copies=metrics.foreign_copies,
        never_inserted=metrics.never_inserted,
        late_keys=shown_keys(name, metrics.late_keys),
        tied_keys=shown_keys(name, metrics.tied_keys),
        copied_keys=shown_keys(name, metrics.copied_keys),
        partial_keys=shown_keys(name, metrics.partial_keys),
        held=tuple(held_losses.held_in_words(gold.feed.name, waiting)),
        unnamed=tuple(held_losses.not_in_chunks(gold, fold.plan)),
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
        executors=(fold.executor.name,),
        columns=fold.plan.table.columns,
    )
