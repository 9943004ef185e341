"""One window's bronze to its silver, quarantine and accounts: what is refused first, and what is written then.

Not here: the stages in between (``silver_frames``), the Dagster asset (``silver``), and what the rules make of the
accounts (``violations``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets import (
    arrow_outcomes,
    bases,
    open_transactions,
    schema_changes,
    silver_frames,
    silver_local,
)
from assets.accounting import ACCOUNTING, StoredAccount
from assets.bronze_files import BronzeFiles
from assets.lake import Lake
from assets.silver_schema import (
    ACCOUNT,
    CHANGES,
    COVERED,
    IN_BASE,
    OUTPUT_SCHEMA,
    REFUSALS,
    REFUSED,
    SILVER,
)
from assets.task_errors import raise_clearly
from transforms.feed import Feed
from transforms.feed_digest import feed_digest
from transforms.formats import FORMATS
from transforms.silver.accounting import Account, Accounts

SMALL_RECORDS = 5_000
SMALL_BYTES = 8 << 20
"""So few records of so few bytes are worked on in this process: Spark's jobs alone would take longer."""


@dataclass(frozen=True, slots=True)
class Made:
    """What becomes of some windows' records, before anything is written: the accounts, and the rows behind them.

    ``open_events``: how many of the rows are part of a transaction that their window does not hold whole.
    """

    landed: int
    accounts: list[Account]
    rows: DataFrame
    open_events: int

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
        if landed <= SMALL_RECORDS and bronze.size <= SMALL_BYTES:
            table = silver_local.classified(feed, bronze.batches(), horizons)
            texts: Sequence[str] = silver_local.texts_of(table, ACCOUNT)
            rows = lake.spark_planned_once.createDataFrame(table)
        else:
            records = bronze.frame(lake.spark_planned_once)
            rows = silver_frames.classified(feed, records, landed, horizons)
            texts = silver_frames.texts_of(rows, ACCOUNT)
        for text in texts:
            accounts.read(text)
        if accounts.left_out:
            rows = _with_covered(base_lake, feed, rows, accounts, keeps_known=judged_by is not None)
    return Made(landed, accounts.rows(), rows, accounts.open_events)


def _with_covered(
    lake: Lake, feed: Feed, rows: DataFrame, accounts: Accounts, *, keeps_known: bool
) -> DataFrame:
    """The rows, with those at or below a horizon judged by what the base has; their accounts are added."""
    known = bases.with_known(lake, feed, rows.where(F.col("kind") == COVERED))
    stage = arrow_outcomes.JudgeCovered(feed, keeps_known=keeps_known)
    judged = silver_frames.staged(known, stage, OUTPUT_SCHEMA).persist(StorageLevel.MEMORY_AND_DISK)
    for text in silver_frames.texts_of(judged, ACCOUNT):
        accounts.read(text)
    return rows.where(F.col("kind") != COVERED).unionByName(judged)


def refuse(feed: Feed, found: Made, accounts: Sequence[StoredAccount]) -> None:
    """Raise before anything is written where these windows bring what the feed does not take."""
    rows = found.of_kind(CHANGES, REFUSED)
    told = F.when(F.col("reason").isNotNull(), F.struct("reason", "detail")).alias("fault")
    schema_changes.refuse_in_stream(feed, accounts, rows.select("*", told))


def stored(feed: Feed, accounts: Sequence[Account]) -> list[StoredAccount]:
    """The accounts as their table has them (``ACCOUNTING``)."""
    return [
        {
            **{name: account[name] for name in _SAME},
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
                }
                for said in account["stream_schemas"]
            ],
            "declaration": feed_digest(feed, account["window"]),
        }
        for account in accounts
    ]


_SAME = tuple(
    field.name
    for field in ACCOUNTING.fields
    if field.name not in ("segments", "stream_schemas", "declaration")
)
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _1970 + timedelta(microseconds=microseconds)


def write(lake: Lake, feed: Feed, found: Made, windows: Sequence[str]) -> tuple[int, int]:
    """Replace these windows in silver and quarantine; how many rows each commit says that it wrote."""
    silver, quarantine = lake.table("silver", feed.name), lake.table("quarantine", feed.name)
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


def as_table(rows: DataFrame, feed: Feed, schema: T.StructType) -> DataFrame:
    """Exactly the columns of the table."""

    def column(field: T.StructField) -> Column:
        if field.name == "feed":
            return F.lit(feed.name)
        if isinstance(field.dataType, T.TimestampType):
            return F.timestamp_micros(field.name)
        return F.col(field.name)

    return rows.select(*[column(one).alias(one.name) for one in schema.fields])
