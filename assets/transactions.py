"""Transactions over several windows: what is known of them, and which of them a run completes.

``landed.<feed>`` has the windows that are known to hold drops, ``transactions.<feed>`` the events of transactions that
no single window holds whole. Only feeds whose format has transactions have either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.lake import Lake
from assets.wording import counted
from transforms.feed import Feed
from transforms.gold import transactions
from transforms.windows import parse_window


def note_landed(lake: Lake, feed: Feed, windows: Iterable[str]) -> None:
    """Remember that these windows hold drops: a transaction may go through one that nobody has read yet."""
    table = lake.table("landed", feed.name)
    known = {row["window"] for row in table.read().collect()} if table.exists() else set()
    if new := sorted(set(windows) - known):
        rows = [(window,) for window in new]
        table.append(lake.spark.createDataFrame(rows, "window string").coalesce(1))


def unread(lake: Lake, feed: Feed, but: Sequence[str] = ()) -> list[str]:
    """The windows that are known to hold drops and that silver does not have, these left out."""
    landed, books = lake.table("landed", feed.name), lake.table("accounting", feed.name)
    progress = lake.table("progress", feed.name)
    read = set(but)
    # A window whose drops hold no record is in no books, but finished.
    for table in (books, progress):
        if table.exists():
            rows = table.read().select("window").distinct().collect()
            read |= {row["window"] for row in rows}
    known = landed.read().collect() if landed.exists() else []
    return sorted({row["window"] for row in known} - read)


def released(lake: Lake, feed: Feed, windows: Sequence[str]) -> DataFrame | None:
    """The complete ones of the transactions that no window holds whole: ``id``, ``commit``, ``is_new``.

    ``is_new``: complete only since these windows were read. None where all transactions are whole in their windows.
    """
    table = lake.table("transactions", feed.name)
    if not table.exists() or table.read().isEmpty():
        return None
    missing = unread(lake, feed, windows)
    landed = {row["window"] for row in lake.table("landed", feed.name).read().collect()}
    now = standing(lake, feed, missing, but=()).where("commit IS NOT NULL")
    earlier = standing(lake, feed, sorted({*missing, *landed.intersection(windows)}), but=windows)
    known = earlier.where("commit IS NOT NULL").select("id", F.lit(True).alias("known"))
    return (
        now.join(known, on="id", how="left")
        .select("id", "commit", F.col("known").isNull().alias("is_new"))
        .localCheckpoint()
    )


def standing(lake: Lake, feed: Feed, missing: Sequence[str], but: Sequence[str]) -> DataFrame:
    """``transactions.standing`` by what all windows but these hold, those that hold one whole included."""
    counted = ~F.col("window").isin(list(but))
    events = lake.table("transactions", feed.name).read().where(counted)
    found = transactions.standing(events, missing).localCheckpoint()
    waiting = found.where("commit IS NULL").select("id")
    if waiting.isEmpty():
        return found
    silver = lake.table("silver", feed.name).read().where(counted)
    whole = (
        silver.where(F.col("transaction.commit").isNotNull())
        .select("transaction.id", F.col("transaction.commit").alias("whole_by"))
        .join(waiting, on="id", how="left_semi")
        .distinct()
    )
    return (
        found.join(whole, on="id", how="left")
        .withColumn("commit", F.coalesce("commit", "whole_by"))
        .drop("whole_by")
    )


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """One transaction that is not complete: what waits for what."""

    id: str
    waiting: int
    has_commit: bool
    seen: int
    expected: int | None
    first_window: str
    first_at: datetime | None
    age: timedelta
    never_committed: bool


def still_open(lake: Lake, feed: Feed) -> list[OpenTransaction]:
    """The transactions that are open now, the oldest first.

    Their age is counted in landing windows, up to the newest that was read: a feed that stands still ages nothing. Past
    the feed's timeout one is ``never_committed``, which is what is thought of it and no more: its commit may yet come.
    """
    table = lake.table("transactions", feed.name)
    if not table.exists():
        return []
    now = standing(lake, feed, unread(lake, feed), but=()).where("commit IS NULL")
    rows = now.drop("commit").orderBy("first_window", "id").collect()
    if not rows:
        return []
    books = lake.table("accounting", feed.name).read().agg(F.max("window").alias("window")).first()
    assert books is not None  # an aggregate without groups has one row
    newest = parse_window(books["window"], feed.window)
    found = []
    for row in rows:
        age = newest - parse_window(row["first_window"], feed.window)
        overdue = age >= feed.transaction_timeout
        found.append(OpenTransaction(**row.asDict(), age=age, never_committed=overdue))
    return found


def told(waiting: Sequence[OpenTransaction]) -> str:
    """The open transactions, one line each: how much waits, since when, and for what."""
    return "\n".join(
        f"- {one.id}: {'never_committed' if one.never_committed else 'open'}:"
        f" {counted(one.waiting, 'change')} since window {one.first_window}"
        f" ({counted(int(one.age / timedelta(hours=1)), 'hour')}); {_lacks(one)}"
        for one in waiting
    )


def _lacks(one: OpenTransaction) -> str:
    if not one.has_commit:
        return "no commit seen"
    if one.expected is not None:
        return f"{one.seen:,} of {one.expected:,} events seen"
    return "its beginning, or a window before its commit, is not read yet"
