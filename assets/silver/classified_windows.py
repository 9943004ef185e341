"""What becomes of every record of some windows: read, decoded and classified once, before anything is written.

Put here what decides whether that is done in this process or by Spark. Not here: the stages in between
(``local_stages``, ``spark_stages``), and writing their results (``commits``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow.silver import covered_changes
from assets.bookkeeping.compacted import bases, compacted_identities
from assets.columns.silver import (
    ACCOUNT,
    COVERED,
    OUTPUT_SCHEMA,
)
from assets.executors import in_spark
from assets.executors.choice import IN_PROCESS, SPARK
from assets.lake import Lake
from assets.silver import local_stages, spark_stages
from assets.silver.bronze_files import BronzeFiles
from assets.task_errors import raise_clearly
from transforms.feed.feed import Feed
from transforms.silver.accounting import Account, Accounts


# Without slots: the frame is kept.
@dataclass(frozen=True)
class ClassifiedWindows:
    """What becomes of some windows' records, before anything is written: the accounts, and the rows behind them.

    ``landed``: how many records bronze has of these windows. ``frame``: makes the frame of rows (``OUTPUT_SCHEMA``).
    ``open_events``: how many of the rows are part of a transaction that their window does not hold whole. ``kept``:
    frames that Spark has persisted, so that the rows are made once. ``here``: the rows (``OUTPUT``), where they were
    made in this process.
    """

    landed: int
    accounts: list[Account]
    frame: Callable[[], DataFrame]
    open_events: int
    kept: Sequence[DataFrame] = ()
    here: pa.Table | None = None

    @property
    def executor(self) -> str:
        """Which executor has classified the records."""
        return SPARK if self.here is None else IN_PROCESS

    @cached_property
    def rows(self) -> DataFrame:
        """The rows, for Spark."""
        return self.frame()

    def unpersist(self) -> None:
        """Free what Spark keeps of the rows."""
        for frame in self.kept:
            frame.unpersist()

    def of_kind(self, *kinds: str) -> DataFrame:
        """The rows of some kinds."""
        return self.rows.where(F.col("kind").isin(*kinds))

    def count(self, *names: str) -> int:
        """Some of the accounts' counts, over all windows and tables."""
        return sum(account[name] for account in self.accounts for name in names)


def made(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None
) -> ClassifiedWindows:
    """Read, decode and classify these windows' records, once.

    Args:
        lake: the warehouse with these windows' bronze.
        feed: the feed with its recorded decisions.
        windows: all of them are read.
        judged_by: the warehouse whose horizons say what comes too late; None for the same one. The proof of
            `weir verify` works in a scratch warehouse, which has no base rows of its own.
    """
    base_lake = judged_by or lake
    horizons = bases.horizons(base_lake, feed)
    bronze = BronzeFiles.of(lake, feed, windows)
    of_windows = bronze.records()
    landed = of_windows.total()
    accounts = Accounts()
    with raise_clearly():
        # A file that repeats one record is much smaller than its records are together.
        is_small = lake.choice.decodes_in_process(bronze.size, landed)
        if is_small and lake.choice.decodes_in_process(bronze.payload_bytes()):
            table = local_stages.classified(feed, bronze.batches(), horizons)
            for text in local_stages.texts_of(table, ACCOUNT):
                accounts.read(text)

            def frame(table: pa.Table = table) -> DataFrame:
                return lake.spark_planned_once.createDataFrame(table)

            if not accounts.left_out:
                return ClassifiedWindows(
                    landed, accounts.rows(), frame, accounts.open_events, here=table
                )
            rows = frame()
            kept: list[DataFrame] = []
        else:
            records = bronze.frame(lake.spark_planned_once)
            rows, kept = spark_stages.classified(feed, records, of_windows, horizons)
            for text in spark_stages.texts_of(rows, ACCOUNT):
                accounts.read(text)
        if accounts.left_out:
            keeps_known = judged_by is not None
            rows, judged = _with_covered(base_lake, feed, rows, accounts, keeps_known=keeps_known)
            kept.append(judged)
    return ClassifiedWindows(landed, accounts.rows(), lambda: rows, accounts.open_events, kept)


def _with_covered(
    lake: Lake, feed: Feed, rows: DataFrame, accounts: Accounts, *, keeps_known: bool
) -> tuple[DataFrame, DataFrame]:
    """The rows, those at or below a horizon classified by what the base has; and the frame that is persisted for it.

    Events that the base has are repeats, the others are too late. Their accounts are added to ``accounts``.
    """
    known = compacted_identities.with_known(lake, feed, rows.where(F.col("kind") == COVERED))
    stage = covered_changes.JudgeCovered(feed, keeps_known=keeps_known)
    judged = in_spark.kept(in_spark.staged(known, stage, OUTPUT_SCHEMA))
    for text in spark_stages.texts_of(judged, ACCOUNT):
        accounts.read(text)
    return rows.where(F.col("kind") != COVERED).unionByName(judged), judged
