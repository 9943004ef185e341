"""One window's bronze to its silver, quarantine and accounts: what is refused first, and what is written then.

Not here: the stages in between (``silver_frames``), the Dagster asset (``silver``), and what the rules make of the
accounts (``violations``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets import arrow, bases, schema_changes, silver_frames
from assets import books as books_of
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
from transforms.silver_columns.accounting import ACCOUNTING
from transforms.silver_columns.transactions import OPEN


@dataclass(frozen=True, slots=True)
class Made:
    """What becomes of some windows' records, before anything is written: the accounts, and the rows behind them."""

    accounts: list[Account]
    rows: DataFrame

    def of_kind(self, *kinds: str) -> DataFrame:
        """The rows of some kinds."""
        return self.rows.where(F.col("kind").isin(*kinds))


def made(lake: Lake, feed: Feed, bronze: DataFrame, records: int, judged_by: Lake | None) -> Made:
    """Read, decode and classify these records, once; ``judged_by``: the lake whose base rows tell repeats, if another.

    A proof in a lake of its own has no base rows, but what came too late there is so here.
    """
    base_lake = judged_by or lake
    horizons = bases.drawn(base_lake, feed)
    rows = silver_frames.classified(feed, bronze, records, horizons)
    accounts = Accounts()
    with raise_clearly():
        for text in silver_frames.texts_of(rows, ACCOUNT):
            accounts.read(text)
        if horizons:
            rows = _with_covered(base_lake, feed, rows, accounts, keeps_known=judged_by is not None)
    return Made(accounts.rows(), rows)


def _with_covered(
    lake: Lake, feed: Feed, rows: DataFrame, accounts: Accounts, *, keeps_known: bool
) -> DataFrame:
    """The rows, with those at or below a horizon judged by what the base has; their accounts are added."""
    covered = rows.where(F.col("kind") == COVERED)
    if covered.isEmpty():
        return rows
    known = bases.with_known(lake, feed, covered)
    stage = arrow.JudgeCovered(feed, keeps_known=keeps_known)
    judged = silver_frames.staged(known, stage, OUTPUT_SCHEMA).persist(StorageLevel.MEMORY_AND_DISK)
    for text in silver_frames.texts_of(judged, ACCOUNT):
        accounts.read(text)
    return rows.where(F.col("kind") != COVERED).unionByName(judged)


def refuse(feed: Feed, found: Made, earlier: DataFrame | None) -> None:
    """Raise before anything is written where these windows bring what the feed does not take."""
    books = stored(feed, found.accounts)
    books_of.refuse_collisions(feed, books, earlier)
    rows = found.of_kind(CHANGES, REFUSED)
    told = F.when(F.col("reason").isNotNull(), F.struct("reason", "detail")).alias("fault")
    schema_changes.refuse_in_stream(feed, books, rows.select("*", told))


def stored(feed: Feed, accounts: Sequence[Account]) -> list[Row]:
    """The accounts as their table has them (``ACCOUNTING``)."""
    return [
        Row(
            **{
                **{name: account[name] for name in _SAME},
                "traits": account["change_kinds"],
                "segments": [
                    Row(
                        epoch=epoch,
                        segment=segment,
                        event_at=_moment(made_at),
                        extracted_at=_moment(read_at),
                    )
                    for epoch, segment, made_at, read_at in account["segments"]
                ],
                "remarks": account["warnings"],
                "told": [
                    Row(
                        key=told["key"],
                        columns=[Row(name=name, type=kind) for name, kind in told["columns"]],
                    )
                    for told in account["stream_schemas"]
                ],
                "declaration": feed_digest(feed, account["window"]),
            }
        )
        for account in accounts
    ]


_SAME = tuple(
    field.name
    for field in ACCOUNTING.fields
    if field.name not in ("traits", "segments", "remarks", "told", "declaration")
)


_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(microseconds: int | None) -> object:
    if microseconds is None:
        return None
    return _1970 + timedelta(microseconds=microseconds)


def write(lake: Lake, feed: Feed, found: Made, windows: Sequence[str]) -> tuple[int, int]:
    """Replace these windows in silver and quarantine; how many rows each commit says that it wrote."""
    silver, quarantine = lake.table("silver", feed.name), lake.table("quarantine", feed.name)
    written = silver.replace_windows_counted(
        as_table(found.of_kind(CHANGES), feed, SILVER), windows
    )
    refused = quarantine.replace_windows_counted(
        as_table(found.of_kind(REFUSED), feed, REFUSALS), windows
    )
    if FORMATS[feed.format].transactional:
        waiting = open_events(found.of_kind(CHANGES, IN_BASE)).coalesce(1)
        lake.table("transactions", feed.name).replace_windows(waiting, windows, partition_by=())
    return written, refused


def open_events(rows: DataFrame) -> DataFrame:
    """The events of transactions that their window does not hold whole (``OPEN``).

    Those in the base count, too: a transaction does not open again because its changes were compacted.
    """
    waiting = rows.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    special: Mapping[str, Column] = {
        **{name: F.col(f"transaction.{name}") for name in ("id", "expected", "has_begin")},
        "is_derived": F.col("derived").isNotNull(),
        "event_at": F.timestamp_micros("event_at"),
    }
    return waiting.select(
        *[special.get(one.name, F.col(one.name)).alias(one.name) for one in OPEN.fields]
    )


def as_table(rows: DataFrame, feed: Feed, schema: T.StructType) -> DataFrame:
    """Exactly the columns of the table."""

    def column(field: T.StructField) -> Column:
        if field.name == "feed":
            return F.lit(feed.name)
        if isinstance(field.dataType, T.TimestampType):
            return F.timestamp_micros(field.name)
        return F.col(field.name)

    return rows.select(*[column(one).alias(one.name) for one in schema.fields])
