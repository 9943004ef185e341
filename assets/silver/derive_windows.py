"""One window's bronze to its silver, quarantine and accounts: what is refused first, and what is written then.

Not here: the stages in between (``spark_stages``), the Dagster asset (``silver``), and what the rules make of the
accounts (``violations``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow import in_spark
from assets.arrow.silver import covered_changes
from assets.bookkeeping import bases, open_transactions
from assets.bookkeeping.accounting import ACCOUNTING, StoredAccount
from assets.columns.silver import (
    ACCOUNT,
    CHANGES,
    COVERED,
    IN_BASE,
    OUTPUT_SCHEMA,
    REFUSALS,
    REFUSALS_ARROW,
    REFUSED,
    SILVER,
    SILVER_ARROW,
)
from assets.lake import Lake
from assets.layers import Layer
from assets.silver import local_stages, schema_changes, spark_stages
from assets.silver.bronze_files import BronzeFiles
from assets.silver.written_rows import as_arrow, as_table
from assets.task_errors import raise_clearly
from transforms.change_kinds import streams_word
from transforms.feed.digest import feed_digest
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.accounting import Account, Accounts

SMALL_RECORDS = 5_000
SMALL_BYTES = 8 << 20
"""So few records of so few bytes are worked on in this process: Spark's jobs alone would take longer."""


# Without slots: the frame is kept.
@dataclass(frozen=True)
class Made:
    """What becomes of some windows' records, before anything is written: the accounts, and the rows behind them.

    ``open_events``: how many of the rows are part of a transaction that their window does not hold whole. ``kept``:
    what Spark keeps, so that the rows are made once. ``here``: the rows (``OUTPUT``), where they are in this process.
    """

    landed: int
    accounts: list[Account]
    frame: Callable[[], DataFrame]
    open_events: int
    kept: Sequence[DataFrame] = ()
    here: pa.Table | None = None

    @cached_property
    def rows(self) -> DataFrame:
        """The rows, for Spark."""
        return self.frame()

    def let_go(self) -> None:
        """Free what Spark keeps of the rows."""
        for frame in self.kept:
            frame.unpersist()

    def of_kind(self, *kinds: str) -> DataFrame:
        """The rows of some kinds."""
        return self.rows.where(F.col("kind").isin(*kinds))

    def count(self, *names: str) -> int:
        """Some of the accounts' counts, over all windows and tables."""
        return sum(account[name] for account in self.accounts for name in names)


def made(lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None) -> Made:
    """Read, decode and classify these windows' records, once; ``judged_by``: the lake that tells repeats, if another.

    A proof in a lake of its own has no base rows, but what came too late there is so here.
    """
    base_lake = judged_by or lake
    horizons = bases.drawn(base_lake, feed)
    bronze = BronzeFiles.of(lake, feed, windows)
    landed = bronze.records()
    accounts = Accounts()
    with raise_clearly():
        is_small = landed <= SMALL_RECORDS and bronze.size <= SMALL_BYTES
        if is_small and bronze.payload_bytes() <= SMALL_BYTES:
            table = local_stages.classified(feed, bronze.batches(), horizons)
            for text in local_stages.texts_of(table, ACCOUNT):
                accounts.read(text)

            def frame(table: pa.Table = table) -> DataFrame:
                return lake.spark_planned_once.createDataFrame(table)

            if not accounts.left_out:
                return Made(landed, accounts.rows(), frame, accounts.open_events, here=table)
            rows = frame()
            kept: list[DataFrame] = []
        else:
            records = bronze.frame(lake.spark_planned_once)
            rows, kept = spark_stages.classified(feed, records, landed, horizons)
            for text in spark_stages.texts_of(rows, ACCOUNT):
                accounts.read(text)
        if accounts.left_out:
            keeps_known = judged_by is not None
            rows, judged = _with_covered(base_lake, feed, rows, accounts, keeps_known=keeps_known)
            kept.append(judged)
    return Made(landed, accounts.rows(), lambda: rows, accounts.open_events, kept)


def _with_covered(
    lake: Lake, feed: Feed, rows: DataFrame, accounts: Accounts, *, keeps_known: bool
) -> tuple[DataFrame, DataFrame]:
    """The rows, with those at or below a horizon judged by what the base has, and what is kept of these.

    Their accounts are added.
    """
    known = bases.with_known(lake, feed, rows.where(F.col("kind") == COVERED))
    stage = covered_changes.JudgeCovered(feed, keeps_known=keeps_known)
    judged = in_spark.staged(known, stage, OUTPUT_SCHEMA).persist(StorageLevel.MEMORY_AND_DISK)
    for text in spark_stages.texts_of(judged, ACCOUNT):
        accounts.read(text)
    return rows.where(F.col("kind") != COVERED).unionByName(judged), judged


def refuse(feed: Feed, found: Made, accounts: Sequence[StoredAccount]) -> None:
    """Raise before anything is written where these windows bring what the feed does not take."""

    def classified_rows() -> DataFrame:
        told = F.when(F.col("reason").isNotNull(), F.struct("reason", "detail")).alias("fault")
        return found.of_kind(CHANGES, REFUSED).select("*", told)

    schema_changes.refuse_in_stream(feed, accounts, classified_rows)


def stored(feed: Feed, accounts: Sequence[Account]) -> list[StoredAccount]:
    """The accounts as their table has them (``ACCOUNTING``)."""
    return [
        {
            **{name: account[name] for name in _SAME},
            "change_kinds": _change_kinds(feed, account),
            "segments": [
                {
                    **{"epoch": epoch, "segment": segment},
                    **{"event_at": _moment(made_at), "extracted_at": _moment(read_at)},
                }
                for epoch, segment, made_at, read_at in account["segments"]
            ],
            "stream_schemas": [
                {
                    "key": said["key"],
                    "columns": [{"name": name, "type": kind} for name, kind in said["columns"]],
                    "encoded": said["encoded"],
                }
                for said in account["stream_schemas"]
            ],
            "declaration": feed_digest(feed, account["window"]),
        }
        for account in accounts
    ]


def _change_kinds(feed: Feed, account: Account) -> list[str]:
    """The kinds of change, and from which streams they came where the fold asks whether there are several."""
    told = [streams_word(account["streams"])] if FORMATS[feed.format].crosses_streams else []
    return [*account["change_kinds"], *told]


_SAME = tuple(
    field.name
    for field in ACCOUNTING.fields
    if field.name not in ("change_kinds", "segments", "stream_schemas", "declaration")
)
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _1970 + timedelta(microseconds=microseconds)


def write(lake: Lake, feed: Feed, found: Made, windows: Sequence[str]) -> tuple[int, int]:
    """Replace these windows in silver and quarantine; how many rows each commit says that it wrote."""
    if found.here is not None:
        done = _put_here(lake, feed, found.here, windows)
        if done is not None:
            return done
    silver, quarantine = (
        lake.table(Layer.SILVER, feed.name),
        lake.table(Layer.QUARANTINE, feed.name),
    )
    changes, refusals = found.of_kind(CHANGES), found.of_kind(REFUSED)
    any_changes = found.count("changes", "control", "held", "derived") > 0
    any_refused = found.count("quarantined", "too_late", "derived_quarantined") > 0
    written = silver.put_windows(as_table(changes, feed, SILVER), windows, any_rows=any_changes)
    refused = quarantine.put_windows(
        as_table(refusals, feed, REFUSALS), windows, any_rows=any_refused
    )
    if FORMATS[feed.format].transactional:
        waiting = open_transactions.events_of(found.of_kind(CHANGES, IN_BASE))
        open_transactions.put(lake, feed, waiting, found.open_events, windows)
    return written, refused


def _put_here(
    lake: Lake, feed: Feed, found: pa.Table, windows: Sequence[str]
) -> tuple[int, int] | None:
    """The same in this process; None, and nothing is written, where only Spark may write the tables."""
    silver, quarantine = (
        lake.local_table(one, feed.name) for one in (Layer.SILVER, Layer.QUARANTINE)
    )
    if not (silver.can_put(windows) and quarantine.can_put(windows)):
        return None
    changes, refusals = (_of_kind(found, one) for one in (CHANGES, REFUSED))
    written = silver.put_windows(as_arrow(changes, feed, SILVER_ARROW), windows)
    refused = quarantine.put_windows(as_arrow(refusals, feed, REFUSALS_ARROW), windows)
    if FORMATS[feed.format].transactional:
        waiting = open_transactions.events_here(_of_kind(found, CHANGES, IN_BASE))
        open_transactions.put(lake, feed, waiting, waiting.num_rows, windows)
    return written, refused


def _of_kind(found: pa.Table, *kinds: str) -> pa.Table:
    return found.filter(pc.is_in(found["kind"], pa.array(kinds, pa.string())))
