"""How new changes get into gold: many declared tables in one step, each by whichever executor fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Protocol

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from assets.control.live_rows import deleted_rows
from assets.control.progress import DECLARATION
from assets.executors.choice import IN_PROCESS
from assets.executors.executor import Frame
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.gold import held_losses, range_deletes, schema_changes
from assets.gold.fold import Applied, AppliedTable, Folded, Stored, TableFold
from assets.gold.plan import FeedPlan, TablePlan
from assets.gold.silver_by_spark import SilverBySpark
from assets.gold.silver_in_process import SilverInProcess, TooLarge
from assets.gold.stored_by_spark import StoredBySpark
from assets.gold.stored_in_process import StoredInProcess
from assets.gold.tables import GoldTable
from assets.storage.lake import Lake, Layer
from assets.storage.locks import exclusive_each, naming_spark_faults, writing
from transforms.feed.decisions import Hold
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table

TABLES_AT_ONCE = 4
"""How many tables of a feed are worked on at a time: while one waits for the store, or for Spark, another goes on.

Measured on two cores, 50 small tables in one step: 1.1 s one after another, 0.93 s two at a time, 0.74 s four and 0.77
s eight.
"""

_ONE_LARGE = Lock()
"""Many changes take gigabytes of memory while they are applied in this process: one such table at a time."""

TOGETHER = 50
"""How many tables' locks are held at a time: each is an open file, of which a process may have a thousand."""


@dataclass(frozen=True, slots=True)
class TableResult:
    """The result for one declared table: what was done, or the error that ended it; and how many seconds it took."""

    table: Table
    done: Applied
    error: Exception | None
    seconds: float


def apply_all(
    lake: Lake, feed: Feed, tables: Sequence[Table], windows: Sequence[str]
) -> Iterator[TableResult]:
    """Bring the gold tables of these declared tables up to the windows; gives the result of each as soon as it is done.

    One that fails leaves the others alone. The feed's accounts and decisions are read once for all of them.
    """
    for start in range(0, len(tables), TOGETHER):
        batch = tables[start : start + TOGETHER]
        with exclusive_each(lake, [_name(feed, table) for table in batch]) as not_locked:
            for table in batch:
                if fault := not_locked.get(_name(feed, table)):
                    yield TableResult(table, Applied(), fault, 0.0)
            locked = [table for table in batch if _name(feed, table) not in not_locked]
            yield from _side_by_side(lake, feed, locked, windows)


def _name(feed: Feed, table: Table) -> str:
    return f"gold.{feed.name}.{table.name}"


def _side_by_side(
    lake: Lake, feed: Feed, tables: Sequence[Table], windows: Sequence[str]
) -> Iterator[TableResult]:
    """Apply to tables whose locks are held. Accounts and decisions are read here, after the locks were taken."""
    known = FeedPlan.read(lake, feed, windows)

    def apply_one(table: Table) -> TableResult:
        started = monotonic()
        done, error = Applied(), None
        try:
            with naming_spark_faults(lake, _name(feed, table)):
                done = apply_locked(lake, known, table, full_rebuild=False)
        except Exception as fault:  # whatever it is, it must not end the other tables
            error = fault
        return TableResult(table, done, error, monotonic() - started)

    if len(tables) == 1:
        yield apply_one(tables[0])
        return
    with ThreadPoolExecutor(TABLES_AT_ONCE, thread_name_prefix="gold") as threads:
        work = _with_this_threads_jobs(apply_one)
        for done in as_completed([threads.submit(work, table) for table in tables]):
            yield done.result()


def _with_this_threads_jobs(work: Callable[[Table], TableResult]) -> Callable[[Table], TableResult]:
    """The work for another thread, whose Spark jobs then have this thread's job group and tags."""
    session = SparkSession.getActiveSession()
    if session is None:
        return work
    inheriting: Callable[[Table], TableResult] = inheritable_thread_target(session)(work)
    return inheriting


def apply_tables(
    lake: Lake, feed: Feed, tables: Sequence[Table], windows: Sequence[str]
) -> list[TableResult]:
    """The results of ``apply_all`` for all tables; raises the first error after every table has had its turn."""
    results = [*apply_all(lake, feed, tables, windows)]
    for result in results:
        if result.error is not None:
            raise result.error
    return results


def apply(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str], *, full_rebuild: bool = False
) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows.

    A gold table that cannot be made stays as it was (``FeedPlan.stopped``); ``full_rebuild``: from all of silver.
    """
    with writing(lake, Layer.GOLD, feed.name, table.name):
        known = FeedPlan.read(lake, feed, windows)
        return apply_locked(lake, known, table, full_rebuild=full_rebuild)


def apply_locked(lake: Lake, known: FeedPlan, table: Table, *, full_rebuild: bool) -> Applied:
    """``apply`` for a caller that holds the lock of the table, by what is ``known`` of the feed."""
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
    lake: Lake, plan: TablePlan, small: StoredInProcess, *, full_rebuild: bool
) -> Applied:
    """Apply the windows' changes to one gold table.

    A table that was made under another declaration is made from all of silver, once all windows of silver are derived
    under the new one; until then it stays as it is.
    """
    gold = GoldTable(lake, plan.feed, plan.table, plan.name)
    has_history = small.history is None or small.history.exists
    is_asked_for = full_rebuild
    full_rebuild = full_rebuild or not (_is_as_declared(plan, small) and has_history)
    rebuilt = full_rebuild and small.exists
    if full_rebuild and (
        stale := schema_changes.rebuild_waits_for(
            *(gold, plan.accounts), has_rows=small.has_rows, is_asked_for=is_asked_for
        )
    ):
        return Applied(waits_for=stale)
    if _fits(lake, plan, small, full_rebuild=full_rebuild):
        is_large = not lake.choice.fits_in_process(0, 0, plan.most_new)
        try:
            with _ONE_LARGE if is_large else nullcontext():
                fold = TableFold.of(InProcess(), plan, SilverInProcess.of(lake, plan), small)
                if fold.brings_deletes and not lake.choice.fits_in_process(small.size, small.count):
                    # A new range delete may be for any row.
                    raise TooLarge
                return _applied(gold, fold, small, full_rebuild=full_rebuild, rebuilt=rebuilt)
        except TooLarge:
            # Only now is it known that keys need a history that does not fit: nothing has been written.
            pass
    stored, silver = StoredBySpark(gold, plan.compaction_watermark), SilverBySpark.read(lake, plan)
    by_spark = TableFold.of(InSpark(lake.spark, plan.feed), plan, silver, stored)
    return _applied(gold, by_spark, stored, full_rebuild=full_rebuild, rebuilt=rebuilt)


def _fits(lake: Lake, plan: TablePlan, small: StoredInProcess, *, full_rebuild: bool) -> bool:
    """Whether a table is read, folded and written in this process."""
    if plan.table.change_feed or not small.may_be_written:
        # What changed would be missing from the files that tell it; or it has what only Spark can write.
        return False
    choice, rows = lake.choice, 0 if full_rebuild else small.count
    if plan.table.history:
        # All versions are written anew.
        return choice.fits_in_process(small.size, rows, plan.most_new)
    if rows and small.size > choice.memory and not small.takes_marks:
        # It would be rewritten whole.
        return choice.executor == IN_PROCESS
    if plan.by_newest:
        return choice.applies_in_process(plan.most_new, rows)
    return choice.fits_in_process(0, 0, plan.most_new) and choice.applies_in_process(0, rows)


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
    held: Sequence[Hold] = ()
    if full_rebuild:
        folded = replace(fold, stored=None).from_history()
        sizes = stored.create(folded, fold.plan.feed)
    else:
        fold, folded, held = held_losses.guarded(gold.lake, fold)
        sizes = stored.put(folded)
    metrics = folded.metrics
    waiting = [
        *held_losses.outstanding(fold.plan),
        *held,
        *held_losses.of_unknown_order(gold.lake, fold, metrics.in_doubt),
        *held_losses.of_unproved(gold, fold.plan),
    ]
    rows, stones = sizes
    marked = deleted_rows(gold.lake.in_process_table(Layer.GOLD, gold.feed.name, gold.name))
    effects = range_deletes.effects_of(fold.deletes, metrics.removed, metrics.changed)
    return Applied(
        tables=(AppliedTable(fold.plan.name, rows - marked, stones, metrics, effects, marked),),
        held=tuple(held_losses.held_in_words(gold.feed.name, waiting)),
        unnamed=tuple(held_losses.not_in_chunks(gold, fold.plan)),
        rebuilt=rebuilt,
        executors=(fold.executor.name,),
        columns=fold.plan.table.columns,
    )
