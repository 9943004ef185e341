"""A table's new base: made of its old base and the changes above it, proved against gold, and committed.

Put here what turns changes into base rows. Not here: how far (``horizon_plans``), the order of a compaction's steps
(``compaction``), and the table of base rows (``bookkeeping/compacted``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.compacted import bases, compacted_identities
from assets.bookkeeping.compacted.bases import NewBase
from assets.columns import base_rows, digests, silver_rows
from assets.columns.horizons import covers
from assets.delta.lake_table import LakeTable
from assets.executors.spark import InSpark
from assets.gold.apply import spark_commits
from assets.gold.folding import TableFold
from assets.gold.silver_by_spark import SilverBySpark
from assets.lake import Lake
from assets.layers import Layer
from assets.silver import derive_windows
from transforms.errors import CompactionRefused
from transforms.feed.feed import Feed, Table
from transforms.horizons import Horizon


@dataclass(frozen=True, slots=True)
class TableHistory:
    """The history of one gold table (``name``): its base, where there is one, and its changes above it."""

    lake: Lake
    silver: SilverBySpark

    @property
    def feed(self) -> Feed:
        """The feed with its recorded decisions."""
        return self.silver.plan.feed

    @property
    def name(self) -> str:
        """The gold table's own name."""
        return self.silver.plan.name

    @property
    def table(self) -> Table:
        """The declared table that gold mirrors."""
        return self.silver.plan.table

    def gold(self, suffix: str = "") -> LakeTable:
        """The gold table, or one that lies beside it (``TOMBSTONES``, ``HISTORY``)."""
        return self.lake.table(Layer.GOLD, self.feed.name, self.name + suffix)

    def in_silver(self, horizon: Horizon) -> DataFrame:
        """The table's rows of silver at or below a horizon, as they are now."""
        silver = self.lake.table(Layer.SILVER, self.feed.name).read()
        return silver.where(silver_rows.are_of(self.name)).where(covers(horizon))


def base_at(history: TableHistory, horizon: Horizon) -> DataFrame:
    """The table's base rows at a new horizon: the old base, and the changes between the two (``base_rows``)."""
    base = _fold(history, history.silver.up_to(horizon)).to_base()
    return base_rows.of_states(base, history.name)


def _fold(history: TableHistory, silver: SilverBySpark) -> TableFold[DataFrame]:
    return TableFold.of(InSpark(history.lake.spark, history.feed), silver.plan, silver)


def proved(history: TableHistory, base: DataFrame, horizon: Horizon) -> str:
    """Fold the new base and all newer changes, and compare the rows with gold's; returns the digest of both.

    Raises:
        CompactionRefused: they differ. Nothing of the table has been changed.
    """
    lake, feed = history.lake, history.feed
    newer = history.silver.above(horizon, base.select("key", "streams", "state"))
    folded = _fold(history, newer).from_history()
    rows = spark_commits.present(folded.rows, history.table)
    ours, theirs = (digests.of_rows(one, history.table) for one in (history.gold().read(), rows))
    digest = digests.of_table(ours).first()
    again = digests.of_table(theirs).first()
    assert digest is not None  # an aggregate without groups has one row
    assert again is not None
    if digest["digest"] != again["digest"]:
        some = digests.differing(ours, theirs).orderBy("key").limit(3).collect()
        behind = window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
        raise CompactionRefused(feed.name, history.name, [row["key"] for row in some], behind)
    return str(digest["digest"])


def commit(history: TableHistory, base: DataFrame, horizon: Horizon) -> None:
    """Commit the new base; where a run brought older changes meanwhile, once more with them."""
    lake, feed, name = history.lake, history.feed, history.name
    # What the base was before is read before it is replaced.
    old = history.silver.base_rows
    before = None if old is None else old.localCheckpoint()
    earlier = bases.newest_window(lake, feed, name)
    while True:
        covered = history.in_silver(horizon)
        compacted_identities.remember(lake, feed, name, covered)
        row = covered.agg(F.max("window").alias("window")).first()
        assert row is not None  # an aggregate without groups has one row
        newest = max(row["window"] or "", earlier)
        bases.write(lake, feed, NewBase(name, history.table, base, horizon, newest))
        known = compacted_identities.with_known(lake, feed, history.in_silver(horizon))
        if known.where("NOT is_known").isEmpty():
            return
        # Spark reads silver again, with what was written meanwhile. The old base was kept, for it is replaced.
        again = replace(history, silver=replace(history.silver, base_rows=before))
        base = base_at(again, horizon)


def remove_from_silver(history: TableHistory, horizon: Horizon) -> None:
    """Remove from silver what the base has.

    Windows with events that came while the base was made are derived once more: by the new horizon these are too late.
    """
    lake, feed = history.lake, history.feed
    covered = history.in_silver(horizon)
    if covered.isEmpty():
        return
    unknown = compacted_identities.with_known(lake, feed, covered).where("NOT is_known")
    if windows := [row["window"] for row in unknown.select("window").distinct().collect()]:
        derive_windows.derive_alone(lake, feed, windows)
    silver = lake.table(Layer.SILVER, feed.name)
    silver.delete(silver_rows.are_of(history.name) & covers(horizon))
