"""The history of one gold table of any size: what a compaction asks Spark and lets it write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import gold
from assets.columns import silver as silver_rows
from assets.columns.quoting import quoted
from assets.columns.silver import covered_by
from assets.control import compacted, ledger, progress
from assets.control.compacted import NewBase
from assets.executors.spark import InSpark
from assets.gold import stored_by_spark, tables
from assets.gold.fold import TableFold
from assets.gold.plan import TablePlan
from assets.gold.silver_by_spark import SilverBySpark
from assets.silver import derive
from assets.silver.plan import SilverPlan
from assets.storage.in_process_table import KEPT_FILES_FOR_HOURS
from assets.storage.lake import Lake, Layer
from assets.storage.spark_table import SparkTable
from transforms.change import LogPosition
from transforms.compaction_watermarks import CompactionWatermark, Span
from transforms.errors import CompactionRefused
from transforms.feed.feed import Table
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.gold.columns import LOG_POSITION, tombstone_columns


@dataclass(frozen=True, slots=True)
class HistoryBySpark:
    """A ``compaction.History`` by Spark: bases and tombstones are frames."""

    lake: Lake
    silver: SilverBySpark

    @classmethod
    def of(cls, lake: Lake, plan: TablePlan) -> Self:
        """The table's changes above its present compaction watermark, and its base."""
        return cls(lake, SilverBySpark.read(lake, plan))

    @property
    def plan(self) -> TablePlan:
        return self.silver.plan

    def _gold(self, suffix: str = "") -> SparkTable:
        """The gold table, or one that lies beside it (``TOMBSTONES``, ``HISTORY``)."""
        return self.lake.table(Layer.GOLD, self.plan.feed.name, self.plan.name + suffix)

    def stand_at_commits(self) -> bool:
        return not self.silver.rows.where("transaction.at_commit").isEmpty()

    def first_held(self) -> LogPosition | None:
        return _least(self.silver.silver.where(silver_rows.are_held(self.plan.name)))

    def first_open(self) -> LogPosition | None:
        if not self.plan.kinds.transactions:
            return None
        waiting = silver_rows.waiting_changes(self.silver.silver.where(self._are_own()))
        if self.plan.released:
            waiting = waiting.where(~F.col("id").isin([*self.plan.released]))
        return _least(waiting)

    def spans(self, below: Sequence[LogPosition]) -> Mapping[str | None, Sequence[Span]]:
        found: dict[str | None, list[Span]] = defaultdict(list)
        of_windows = self._below(below).groupBy("stream", "window")
        rows = of_windows.agg(F.min("log_position"), F.max("log_position")).collect()
        for stream, window, oldest, newest in rows:
            found[stream].append(Span(window, tuple(oldest), tuple(newest)))
        return found

    def newest(
        self, below: Sequence[LogPosition], stream: str | None, last: str, within: LogPosition
    ) -> LogPosition | None:
        mine = F.col("stream").eqNullSafe(F.lit(stream)) & (F.col("window") <= last)
        reached = F.col("log_position") <= F.array(*map(F.lit, within))
        rows = self._below(below).where(mine & reached)
        found = _aggregate(rows, F.max("log_position"))
        return None if found is None else tuple(found)

    def _below(self, positions: Sequence[LogPosition]) -> DataFrame:
        # The deletes that complete snapshots stand for are in no stream.
        rows = self.silver.rows.where(~F.col("derived").eqNullSafe("epoch"))
        for one in positions:
            rows = rows.where(F.col("log_position") < F.array(*map(F.lit, one)))
        return rows

    def counts(self, compaction_watermark: CompactionWatermark | None) -> tuple[int, int]:
        covered = F.lit(False) if compaction_watermark is None else covered_by(compaction_watermark)
        return _counts(self.silver.rows, covered)

    def old_base(self) -> int:
        return 0 if self.silver.base_rows is None else self.silver.base_rows.count()

    def base_at(self, compaction_watermark: CompactionWatermark) -> DataFrame:
        return self._fold(self.silver.up_to(compaction_watermark)).to_base()

    def size(self, base: DataFrame) -> int:
        return base.count()

    def _fold(self, silver: SilverBySpark) -> TableFold[DataFrame]:
        return TableFold.of(InSpark(self.lake.spark, self.plan.feed), self.plan, silver)

    def proved(self, base: DataFrame, compaction_watermark: CompactionWatermark) -> str:
        feed, table = self.plan.feed, self.plan.table
        newer = self.silver.above(compaction_watermark, base)
        rows = stored_by_spark.present_rows(self._fold(newer).from_history().rows, table)
        ours, theirs = (gold.digests_of_rows(one, table) for one in (self._gold().read(), rows))
        digest, again = (
            gold.digest_of_table(one).select("digest").collect() for one in (ours, theirs)
        )
        if digest != again:
            some = gold.differing_keys(ours, theirs).orderBy("key").limit(3).collect()
            behind = progress.unfinished(self.lake, feed, ledger.read_objects(self.lake, feed))
            keys = [row["key"] for row in some]
            raise CompactionRefused(feed.name, self.plan.name, keys, behind)
        return str(digest[0]["digest"])

    def commit(self, base: DataFrame, compaction_watermark: CompactionWatermark) -> None:
        """Whoever compacts holds the lock of silver, so that nothing comes meanwhile."""
        lake, feed, name = self.lake, self.plan.feed, self.plan.name
        known = compacted.compaction_watermark_facts(lake, feed).get(name)
        earlier = known["newest_window"] if known else ""
        covered = self._in_silver(compaction_watermark)
        compacted.remember_identities(lake, feed, name, covered)
        newest = max(_aggregate(covered, F.max("window")) or "", earlier)
        new = NewBase(name, self.plan.table, base, compaction_watermark, newest)
        compacted.write_base(lake, feed, new)

    def _in_silver(self, compaction_watermark: CompactionWatermark) -> DataFrame:
        """The table's rows of silver at or below a compaction watermark, as they are now."""
        silver = self.lake.table(Layer.SILVER, self.plan.feed.name).read()
        return silver.where(self._are_own() & covered_by(compaction_watermark))

    def _are_own(self) -> Column:
        return silver_rows.are_of(self.plan.name)

    def _unknown(self, changes: DataFrame) -> DataFrame:
        """Those of these changes that no base has."""
        known = self.lake.in_process_table(Layer.COMPACTED, self.plan.feed.name)
        return compacted.with_known_identities(known, changes).where("NOT is_known")

    def remove_from_silver(self, compaction_watermark: CompactionWatermark) -> None:
        lake, feed = self.lake, self.plan.feed
        covered = self._in_silver(compaction_watermark)
        if covered.isEmpty():
            return
        unknown = self._unknown(covered).select("window").distinct()
        if windows := [row["window"] for row in unknown.collect()]:
            derive.derive_planned(lake, SilverPlan.read(lake, feed, windows))
        lake.table(Layer.SILVER, feed.name).delete(
            self._are_own() & covered_by(compaction_watermark)
        )

    def droppable(self, compaction_watermark: CompactionWatermark | None) -> DataFrame:
        """One row per such tombstone, its key, its position, and ``is_superseded``."""
        gold, tombstones = self._gold().read(), self._gold(TOMBSTONES).read()
        return _droppable(self.plan.table, gold, tombstones, compaction_watermark).localCheckpoint()

    def tombstone_counts(self, droppable: DataFrame) -> tuple[int, int, int]:
        found, superseded = _counts(droppable, F.col("is_superseded"))
        return superseded, found - superseded, self._gold(TOMBSTONES).read().count() - found

    def drop(self, droppable: DataFrame) -> None:
        """A tombstone that a run wrote in the meantime has a newer position and stays."""
        tombstones = self._gold(TOMBSTONES)
        same = " AND ".join(
            f"old.{quoted(key)} <=> gone.{quoted(key)}"
            for key in tombstone_columns(self.plan.table)
        )
        same += f" AND old.{LOG_POSITION} = gone.{LOG_POSITION}"
        target = DeltaTable.forPath(self.lake.spark, tombstones.path).alias("old")
        with tombstones.commits():
            target.merge(droppable.alias("gone"), same).whenMatchedDelete().execute()

    def tidy(self) -> None:
        tables.end_change_feed(self._gold(), self.plan.table)
        for suffix in ("", TOMBSTONES, HISTORY):
            tidy(self.lake, self._gold(suffix).path)

    def files(self) -> int:
        return len(self._gold().log().files())


def tidy(lake: Lake, path: str) -> None:
    """Compact and vacuum the table at this path, if there is one."""
    if DeltaTable.isDeltaTable(lake.spark, path):
        table = DeltaTable.forPath(lake.spark, path)
        table.optimize().executeCompaction()
        table.vacuum(KEPT_FILES_FOR_HOURS)


def _least(rows: DataFrame) -> LogPosition | None:
    found = _aggregate(rows, F.min("log_position"))
    return None if found is None else tuple(found)


def _aggregate(rows: DataFrame, value: Column) -> Any:
    """One value of all rows together."""
    ((found,),) = rows.agg(value).collect()
    return found


def _counts(rows: DataFrame, condition: Column) -> tuple[int, int]:
    """How many rows there are, and for how many of them the condition is true: one pass for both."""
    (counts,) = rows.agg(F.count("*"), F.count_if(condition)).collect()
    return counts[0], counts[1]


def is_expired(compaction_watermark: CompactionWatermark | None) -> Column:
    """True for tombstones at or below the watermark: any older change of their keys would come too late anyway."""
    return (
        F.lit(False)
        if compaction_watermark is None
        else covered_by(compaction_watermark, LOG_POSITION, F.size(LOG_POSITION))
    )


def _droppable(
    table: Table,
    gold: DataFrame,
    tombstones: DataFrame,
    compaction_watermark: CompactionWatermark | None,
) -> DataFrame:
    own = tombstone_columns(table)
    known = gold.select(*own, LOG_POSITION).unionByName(tombstones.select(*own, LOG_POSITION))
    newest = known.groupBy(*own).agg(F.max(LOG_POSITION).alias("row"))
    same = [F.col(f"old.{quoted(key)}").eqNullSafe(F.col(f"newest.{quoted(key)}")) for key in own]
    superseded = F.col("row").isNotNull() & (F.col(f"old.{LOG_POSITION}") < F.col("row"))
    with_rows = tombstones.alias("old").join(newest.alias("newest"), on=same, how="left")
    named = with_rows.select("old.*", F.coalesce(superseded, F.lit(False)).alias("is_superseded"))
    return named.where(F.col("is_superseded") | is_expired(compaction_watermark)).select(
        *own, LOG_POSITION, "is_superseded"
    )
