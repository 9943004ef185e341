"""Compaction: old history becomes base rows, tombstones that nothing needs go, small files become large ones.

The order of commits is what makes a crash harmless: identities, then base rows with their horizon (from here on silver
at or below it is not read), then silver's old rows go, then tombstones. Each step leaves what is right, and the next
compaction does what is left. Put here the order of those steps. Not here: how far history may be compacted
(``horizon_plans``), making a base (``new_base``), and which tombstones are dropped (``expired_tombstones``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import decisions
from assets.columns.horizons import covers
from assets.gold import gold_tables, table_faults, table_properties
from assets.gold.plan import plan_of
from assets.gold.silver_by_spark import SilverBySpark
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from assets.upkeep import horizon_plans, new_base
from assets.upkeep.expired_tombstones import drop, droppable
from assets.upkeep.file_sizes import count_files, tidy
from assets.upkeep.horizon_plans import Plan
from assets.upkeep.new_base import TableHistory
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import HISTORY, TOMBSTONES

TIDIED_WITHOUT_SPARK: frozenset[Layer] = frozenset(
    {
        *(Layer.PROGRESS, Layer.LANDED, Layer.DECISIONS, Layer.OFFSETS),
        *(Layer.LEDGER, Layer.RUNS, Layer.DRIFT, Layer.MENDED),
    }
)
"""Small tables, of which delta-rs makes large files of small ones (``small_table``), as it writes them."""

TIDIED: Sequence[Layer] = tuple(
    one for one in Layer if one is not Layer.GOLD and one not in TIDIED_WITHOUT_SPARK
)
"""The layers whose small files Spark makes large ones; gold's tables are compacted one by one."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What compaction did with one gold table: rows and files by what became of them, and why no more.

    ``folded``: silver rows that became part of the base; ``kept``: those above the horizon. ``base``: keys in the base.
    ``superseded``: dropped tombstones whose key has a row again or was deleted once more; ``expired``: dropped ones at
    or below the horizon; ``tombstones``: those that are left. ``digest``: of gold's rows, the same before and after;
    None where no history was folded.
    """

    table: str
    plan: Plan
    folded: int
    kept: int
    base: int
    superseded: int
    expired: int
    tombstones: int
    files_before: int
    files_after: int
    digest: str | None


def compact_feed(
    lake: Lake, feed: Feed, names: Mapping[str, Table], *, dry_run: bool
) -> Iterator[Compacted]:
    """Compact every gold table of a feed, by name, and then the files of its silver.

    A table that fails leaves the others alone, and its error is raised once all is done (``table_faults.refuse``).

    Args:
        lake: the warehouse.
        feed: the feed as its file declares it; recorded decisions are added.
        names: the declared table of each gold table.
        dry_run: write nothing, and count what would be written.

    Raises:
        CompactionRefused: base rows and newer changes do not make the gold that there is. Nothing of it is changed.
        GoldBehind: the table was made under another declaration, or is missing.
        TableBusy: another run writes it.
    """
    feed = decisions.with_recorded(lake, feed)
    faults: dict[str, Exception] = {}
    with writing(lake, Layer.SILVER, feed.name) if not dry_run else nullcontext():
        for name, table in names.items():
            done = None
            try:
                with (
                    writing(lake, Layer.GOLD, feed.name, table.name)
                    if not dry_run
                    else nullcontext()
                ):
                    done = compact(lake, feed, table, name, dry_run=dry_run)
            except Exception as fault:
                # Whatever it is, the other tables have nothing to do with it.
                faults[name] = fault
            if done:
                yield done
        if not dry_run:
            for layer in TIDIED:
                tidy(lake, lake.table(layer, feed.name).path)
            for layer in TIDIED_WITHOUT_SPARK:
                lake.small_table(layer, feed.name, pa.schema([])).tidy()
    table_faults.refuse(feed.name, faults)


def compact(lake: Lake, feed: Feed, table: Table, name: str, *, dry_run: bool) -> Compacted | None:
    """Compact one gold table (``name``) as far as its plan allows; None where it does not exist yet.

    Args:
        lake: the warehouse.
        feed: the feed with its recorded decisions.
        table: the declared table that gold mirrors.
        name: the gold table.
        dry_run: write nothing, and count what would be written.
    """
    gold = lake.table(Layer.GOLD, feed.name, name)
    tombstones = lake.table(Layer.GOLD, feed.name, name + TOMBSTONES)
    if not (gold.exists() and tombstones.exists()):
        return None
    gold_tables.refuse_behind(lake, feed, table, name)
    silver = SilverBySpark.read(lake, plan_of(lake, feed, table, name, []))
    plan = horizon_plans.planned(lake, silver)
    return to_horizon(TableHistory(lake, silver), plan, dry_run=dry_run)


def to_horizon(history: TableHistory, plan: Plan, *, dry_run: bool) -> Compacted:
    """Compact one gold table up to the horizon of a plan; a dry run writes nothing and counts the same.

    Raises:
        CompactionRefused: base rows and newer changes do not make the gold that there is. Nothing of it is changed.
    """
    lake, gold, tombstones = history.lake, history.gold(), history.gold(TOMBSTONES)
    before = count_files(lake, gold.path)
    if plan.old is not None and not dry_run:
        new_base.remove_from_silver(history, plan.old)
    folding = _fold(history, plan, dry_run=dry_run)
    # By the horizon that is committed, not by what a compaction that died had begun to write down.
    removable = droppable(
        history.table, gold.read(), tombstones.read(), plan.new or plan.old
    ).localCheckpoint()
    found, superseded = _counts(removable, F.col("is_superseded"))
    expired = found - superseded
    left = tombstones.read().count() - found
    if not dry_run:
        if found:
            drop(lake, tombstones, removable, history.table)
        table_properties.end_change_feed(gold, history.table)
        for table in (gold, tombstones, history.gold(HISTORY)):
            tidy(lake, table.path)
    return Compacted(
        table=history.name,
        plan=plan,
        folded=folding.folded,
        kept=folding.kept,
        base=folding.base,
        superseded=superseded,
        expired=expired,
        tombstones=left,
        files_before=before,
        files_after=before if dry_run else count_files(lake, gold.path),
        digest=folding.digest,
    )


@dataclass(frozen=True, slots=True)
class _Folding:
    """What became of a table's changes; the fields are those of ``Compacted``."""

    folded: int
    kept: int
    base: int
    digest: str | None


def _fold(history: TableHistory, plan: Plan, *, dry_run: bool) -> _Folding:
    """Make base rows of the changes up to the plan's new horizon, if it has one."""
    changes, old = history.silver.rows, history.silver.base_rows
    if plan.new is None:
        return _Folding(0, changes.count(), 0 if old is None else old.count(), None)
    count, folded = _counts(changes, covers(plan.new))
    base = new_base.base_at(history, plan.new)
    size = base.count()
    digest = new_base.proved(history, base, plan.new)
    if not dry_run:
        new_base.commit(history, base, plan.new)
        new_base.remove_from_silver(history, plan.new)
    return _Folding(folded, count - folded, size, digest)


def _counts(rows: DataFrame, condition: Column) -> tuple[int, int]:
    """How many rows there are, and for how many of them the condition is true: one pass for both."""
    (counts,) = rows.agg(F.count("*"), F.count_if(condition)).collect()
    return counts[0], counts[1]
