"""An apply for many declared tables of a feed in one step: several at a time, each under its own lock.

Put here what concerns many tables at once. Not here: what becomes of one table (``apply_table``), and what Dagster
reports of it (``assets/gold/gold_asset.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from time import monotonic

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from assets.gold.applied import Applied
from assets.gold.apply import apply_table
from assets.gold.plan import FeedPlan
from assets.lake import Lake
from assets.locks import exclusive_each, explaining_failures
from transforms.feed.feed import Feed, Table

TABLES_AT_ONCE = 4
"""How many tables of a feed are worked on at a time: while one waits for the store, or for Spark, another goes on.

Measured on two cores, 50 small tables in one step: 1.1 s one after another, 0.93 s two at a time, 0.74 s four and 0.77
s eight.
"""

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
    for batch in batched(tables, TOGETHER):
        with exclusive_each(lake, [_name(feed, table) for table in batch]) as not_locked:
            for table in batch:
                if fault := not_locked.get(_name(feed, table)):
                    yield TableResult(table, Applied(), fault, 0.0)
            locked = [table for table in batch if _name(feed, table) not in not_locked]
            yield from _side_by_side(lake, feed, locked, windows)


def _name(feed: Feed, table: Table) -> str:
    return f"gold.{feed.name}.{table.name}"


def batched(tables: Sequence[Table], count: int) -> Iterator[Sequence[Table]]:
    """The tables in sequences of at most ``count``."""
    for start in range(0, len(tables), count):
        yield tables[start : start + count]


def _side_by_side(
    lake: Lake, feed: Feed, tables: Sequence[Table], windows: Sequence[str]
) -> Iterator[TableResult]:
    """Apply to tables whose locks are held. Accounts and decisions are read here, after the locks were taken."""
    known = FeedPlan.read(lake, feed, windows)

    def apply_one(table: Table) -> TableResult:
        started = monotonic()
        done, error = Applied(), None
        try:
            with explaining_failures(lake, _name(feed, table)):
                done = apply_table.apply_locked(lake, known, table, full_rebuild=False)
        except Exception as fault:  # whatever it is, it must not end the other tables
            error = fault
        return TableResult(table, done, error, monotonic() - started)

    if len(tables) == 1:
        yield apply_one(tables[0])
        return
    with ThreadPoolExecutor(TABLES_AT_ONCE, thread_name_prefix="gold") as threads:
        work = [threads.submit(_with_this_threads_jobs(apply_one), table) for table in tables]
        for done in as_completed(work):
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
