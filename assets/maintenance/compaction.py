"""Compaction: old history becomes base rows, tombstones that nothing needs go, small files become large ones.

The order of commits is what makes a crash harmless: identities, then base rows with their compaction watermark (from
here on silver at or below it is not read), then silver's old rows go, then tombstones. Each step leaves what is
right, and the next compaction does what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeVar

from assets.control import decisions
from assets.cuts import manifest
from assets.gold import tables
from assets.gold.plan import TablePlan, plan_of
from assets.gold.silver_in_process import TooLarge
from assets.maintenance import history_by_spark
from assets.maintenance.history_by_spark import HistoryBySpark
from assets.maintenance.history_in_process import HistoryInProcess
from assets.maintenance.plan import CompactionPlan, Positions, planned
from assets.storage import step_faults
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table

Base = TypeVar("Base")
"""The base rows that a compaction makes, as its executor has them."""


class History(Positions, Protocol[Base]):
    """The history of one gold table, and what a compaction does with it."""

    def counts(self, compaction_watermark: CompactionWatermark | None) -> tuple[int, int]:
        """How many changes there are above the present watermark, and how many of them are at or below another."""

    def old_base(self) -> int:
        """How many base rows there are now."""

    def base_at(self, compaction_watermark: CompactionWatermark) -> Base:
        """The base rows at a new compaction watermark: the old base, and the changes between the two."""

    def size(self, base: Base) -> int:
        """How many base rows these are."""

    def proved(self, base: Base, compaction_watermark: CompactionWatermark) -> str:
        """Fold the new base and all newer changes, and compare the rows with gold's; returns the digest of both.

        Raises:
            CompactionRefused: they differ. Nothing of the table has been changed.
        """

    def commit(self, base: Base, compaction_watermark: CompactionWatermark) -> None:
        """Commit the identities of what the base has, and then the base with its compaction watermark."""

    def remove_from_silver(self, compaction_watermark: CompactionWatermark) -> None:
        """Remove from silver what the base has.

        Windows with events that came while the base was made are derived once more: by the compaction watermark these
        are too late.
        """

    def droppable(self, compaction_watermark: CompactionWatermark | None) -> Base:
        """The tombstones that no later change can need.

        Superseded: the key has a row again, or a newer tombstone. The others are expired: at or below the compaction
        watermark, so that any older change of their keys would come too late anyway.
        """

    def tombstone_counts(self, droppable: Base) -> tuple[int, int, int]:
        """How many of these are superseded, and how many expired; and how many tombstones are left without them."""

    def drop(self, droppable: Base) -> None:
        """Drop these tombstones in one commit."""

    def tidy(self) -> None:
        """Make large files of small ones, and remove those that nobody needed for ``KEPT_FILES_FOR_HOURS``."""

    def files(self) -> int:
        """How many files gold's rows are in."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What compaction did with one gold table: rows and files by what became of them, and why no more.

    ``folded``: silver rows that became part of the base; ``kept``: those above the compaction watermark. ``base``: keys
    in the base. ``superseded``: dropped tombstones whose key has a row again or was deleted once more; ``expired``:
    dropped ones at or below the watermark; ``tombstones``: those that are left. ``digest``: of gold's rows, the same
    before and after; None where no history was folded.
    """

    table: str
    plan: CompactionPlan
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
    """Compact every gold table of a feed, by name, and then the files of its silver; its cut is recorded again.

    A table that fails leaves the others alone, and its error is raised once all is done. A dry run writes nothing, and
    counts what would be written. ``names``: the declared table of each gold table.

    Raises:
        CompactionRefused: base rows and newer changes do not make the gold that there is. Nothing of it is changed.
        GoldBehind: the table was made under another declaration, or is missing.
        TableBusy: another run writes it.
    """
    feed = decisions.with_recorded(lake, feed)
    faults: dict[str, Exception] = {}

    def alone(layer: Layer, table: str | None = None) -> AbstractContextManager[None]:
        return nullcontext() if dry_run else writing(lake, layer, feed.name, table)

    with alone(Layer.SILVER):
        for name, table in names.items():
            done = None
            try:
                with alone(Layer.GOLD, table.name):
                    done = compact(lake, feed, table, name, dry_run=dry_run)
            except Exception as fault:
                # Whatever it is, the other tables have nothing to do with it.
                faults[name] = fault
            if done:
                yield done
        if not dry_run:
            _tidy_layers(lake, feed)
    if not dry_run:
        manifest.published_again(lake, feed)
    step_faults.refuse_failed_tables(feed.name, faults)


def _tidy_layers(lake: Lake, feed: Feed) -> None:
    """Make large files of small ones in every table of a feed but gold's, which are compacted one by one."""
    for layer in Layer:
        if layer is Layer.GOLD:
            continue
        table = lake.in_process_table(layer, feed.name)
        if not table.tidy():
            # Only Spark can rewrite it.
            history_by_spark.tidy(lake, table.path)


def compact(lake: Lake, feed: Feed, table: Table, name: str, *, dry_run: bool) -> Compacted | None:
    """Compact one gold table (``name``) as far as its plan allows; None where it does not exist yet.

    ``feed``: with its recorded decisions.
    """
    if not tables.exists(lake, feed, name):
        return None
    tables.refuse_behind(lake, feed, table, name)
    return with_history(lake, plan_of(lake, feed, table, name, []), None, dry_run=dry_run)


def with_history(
    lake: Lake, known: TablePlan, plan: CompactionPlan | None, *, dry_run: bool
) -> Compacted:
    """Compact one gold table up to the watermark of a plan, or else as far as may be, by whichever executor fits."""
    try:
        history = HistoryInProcess.of(lake, known)
        return _compacted(history, plan or planned(lake, history), dry_run=dry_run)
    except TooLarge:
        # It is known before anything is written.
        by_spark = HistoryBySpark.of(lake, known)
        return _compacted(by_spark, plan or planned(lake, by_spark), dry_run=dry_run)


def _compacted(history: History[Base], plan: CompactionPlan, *, dry_run: bool) -> Compacted:
    before = history.files()
    if plan.old is not None and not dry_run:
        history.remove_from_silver(plan.old)
    count, folded = history.counts(plan.new)
    digest = None
    if plan.new is None:
        size, folded = history.old_base(), 0
    else:
        base = history.base_at(plan.new)
        size, digest = history.size(base), history.proved(base, plan.new)
        if not dry_run:
            history.commit(base, plan.new)
            history.remove_from_silver(plan.new)
    # By the compaction watermark that is committed, not by what a compaction that died had begun to write down.
    droppable = history.droppable(plan.new or plan.old)
    superseded, expired, left = history.tombstone_counts(droppable)
    if not dry_run:
        if superseded + expired:
            history.drop(droppable)
        history.tidy()
    return Compacted(
        table=history.plan.name,
        plan=plan,
        folded=folded,
        kept=count - folded,
        base=size,
        superseded=superseded,
        expired=expired,
        tombstones=left,
        files_before=before,
        files_after=before if dry_run else history.files(),
        digest=digest,
    )
