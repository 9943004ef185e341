"""How new changes get into the gold tables that mirror one declared table, by whichever executor fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from assets.bookkeeping import decisions, discovered_tables
from assets.executors.executor import Frame
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.gold import range_deletes
from assets.gold.added_columns import with_added
from assets.gold.applied import Applied, AppliedTable, shown_keys
from assets.gold.apply import full_rebuilds
from assets.gold.apply.read_once import ReadOnce
from assets.gold.apply.stored_by_spark import StoredBySpark
from assets.gold.apply.stored_in_process import StoredInProcess
from assets.gold.folding import Folded, Stored, TableFold
from assets.gold.gold_table import GoldTable
from assets.gold.gold_tables import due_tables
from assets.gold.plan import TablePlan, plan_of
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess, TooLarge
from assets.gold.table_properties import DECLARATION
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.silver.conforming.discovered_tables import Stopped


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
        return apply_locked(ApplyContext.of(lake, feed), table, windows, full_rebuild=full_rebuild)


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """The warehouse and the feed as one step reads them, for the applies of several tables.

    Make one only while the tables' locks are held: what another run commits between the reading and the taking of a
    lock would be undone.

    Args:
        lake: The warehouse.
        once: The same warehouse, whose accounts and decisions are read once.
        feed: The feed with its recorded decisions.
        stopped: The gold tables that cannot be made, by name.
    """

    lake: Lake
    once: ReadOnce
    feed: Feed
    stopped: Mapping[str, Stopped]

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> Self:
        """What the accounts and decisions of the feed say now."""
        once = ReadOnce.of(lake)
        # Before the accounts: a kind of change is in these before it is in silver.
        once.opened(Layer.SILVER, feed.name)
        feed = decisions.with_recorded(once, feed)
        # Too many tables are refused where all tables of the feed are asked for, and not for one.
        return cls(lake, once, feed, discovered_tables.everything(once, feed).stopped)


def apply_locked(
    known: ApplyContext, table: Table, windows: Sequence[str], *, full_rebuild: bool
) -> Applied:
    """``apply`` for a caller that holds the lock of the table (``apply_feed``)."""
    stopped = {name: why for name, why in known.stopped.items() if table.name in why.declared}
    done = Applied(stopped=stopped)
    for name in due_tables(known.once, known.feed, table, windows):
        if name not in known.stopped:
            done = done.plus(_apply_one(known, table, name, windows, full_rebuild=full_rebuild))
    return done


def _apply_one(
    known: ApplyContext, table: Table, name: str, windows: Sequence[str], *, full_rebuild: bool
) -> Applied:
    """Apply these windows' changes to one gold table.

    A table that was made under another declaration is made from all of silver, once all windows of silver are derived
    under the new one; until then it stays as it is.
    """
    feed, table = known.feed, with_added(known.once, known.feed, table, name)
    plan = plan_of(known.once, feed, table, name, windows)
    here = StoredInProcess.of(known.lake, feed, table, name, plan.horizon)
    gold = GoldTable(known.once, feed, table, name)
    exists = here.exists
    is_declared_so = here.gold.properties.get(DECLARATION) == table_digest(feed, table)
    has_history = here.history is None or here.history.table is not None
    full_rebuild = full_rebuild or not (exists and is_declared_so and has_history)
    if full_rebuild and (stale := full_rebuilds.waits_for(gold, exists=exists)):
        return Applied(waits_for=stale)
    rebuilt = full_rebuild and exists
    if _fits(known.lake, plan, here):
        try:
            silver = SilverInProcess.of(known.once, plan)
            fold = TableFold.of(InProcess(), plan, silver, here)
            return _applied(fold, here, full_rebuild=full_rebuild, rebuilt=rebuilt)
        except TooLarge:
            # Only now is it known that keys need a history that does not fit: nothing has been written.
            pass
    large = GoldTable(known.lake, feed, table, name)
    stored = StoredBySpark(large, plan.horizon)
    by_spark = SilverBySpark.read(known.lake, plan)
    spark_fold = TableFold.of(InSpark(known.lake.spark, feed), plan, by_spark, stored)
    return _applied(spark_fold, stored, full_rebuild=full_rebuild, rebuilt=rebuilt)


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
    fold: TableFold[Frame], stored: Committing[Frame], *, full_rebuild: bool, rebuilt: bool
) -> Applied:
    """Fold, commit, and say what was done."""
    # Whatever new changes came, they may have moved where deletes of one stream stand among another's changes.
    if full_rebuild or fold.deletes.have_moved:
        folded = replace(fold, stored=None).from_history()
        sizes = stored.create(folded, fold.plan.feed)
    else:
        folded = fold.onto_gold()
        sizes = stored.put(folded)
    metrics, deletes, name = folded.metrics, fold.deletes, fold.plan.name
    effects = range_deletes.effects_of(
        deletes.by_event, deletes.places, metrics.removed, metrics.changed
    )
    return Applied(
        tables=(AppliedTable(name, *sizes, metrics.repeats, effects),),
        changes=metrics.deliveries,
        repeats=metrics.repeats,
        superseded=metrics.superseded,
        keys=metrics.keys,
        refolded=metrics.refolded,
        keys_with_late_events=metrics.keys_with_late_events,
        ties=metrics.ties,
        foreign_copies=metrics.foreign_copies,
        late_keys=shown_keys(name, metrics.late_keys),
        tied_keys=shown_keys(name, metrics.tied_keys),
        copied_keys=shown_keys(name, metrics.copied_keys),
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
        executors=(fold.executor.name,),
    )
