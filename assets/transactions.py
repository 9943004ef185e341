"""Transactions over several windows: what is known of them, and which of them a run completes.

``landed.<feed>`` has the objects that are known to have landed, ``transactions.<feed>`` the events of transactions that
no single window holds whole. Only feeds whose format has transactions have either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets import ledger
from assets.gold_columns import transactions
from assets.lake import Lake
from assets.wording import counted
from transforms.feed import Feed
from transforms.windows import parse_window

OPEN = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("id", T.StringType(), False),
        T.StructField("event_id", T.StringType(), False),
        T.StructField("effect", T.StringType(), False),
        T.StructField("is_derived", T.BooleanType(), False),
        T.StructField("expected", T.LongType(), True),
        T.StructField("has_begin", T.BooleanType(), True),
        T.StructField("position", T.ArrayType(T.LongType()), False),
        T.StructField("event_at", T.TimestampType(), True),
    ]
)
"""One row per event of a transaction that its window does not hold whole: ``transactions.<feed>``.

``effect``, ``event_id``, ``position``, ``event_at`` as in ``change.CHANGE``; ``id``, ``expected``, ``has_begin`` as in
its ``transaction``.
"""

LANDED = pa.schema([(name, pa.string()) for name in ("window", "object", "generation")])
"""One row per object generation that was in the landing and not in bronze when a run looked: ``landed.<feed>``."""


def note_landed(lake: Lake, feed: Feed, objects: Iterable[tuple[str, str, str]]) -> None:
    """Remember that these object generations have landed: a transaction may go through one that nobody has read yet."""
    new = set(objects)
    table = lake.small_table("landed", feed.name, LANDED)
    if new:
        noted = table.rows(where={"window": {one[0] for one in new}})
        new -= {tuple(row.values()) for row in noted}
    if new:
        table.append([dict(zip(LANDED.names, one, strict=True)) for one in sorted(new)])


def unread(lake: Lake, feed: Feed, but: Sequence[str] = ()) -> list[str]:
    """The windows of which something is known to have landed that silver does not have, these left out."""
    noted = _landed(lake, feed)
    progress = lake.small_table("progress", feed.name, ledger.PROGRESS)
    finished = {row["window"]: row["objects"] for row in progress.rows(["window", "objects"])}
    doubtful = [
        window
        for window, count in noted.items()
        if window not in but and finished.get(window, -1) < count
    ]
    if not doubtful:
        return []
    # Few: those of this run and of runs that did not come to their end.
    held = ledger.read_objects(lake, feed, doubtful)
    objects = ledger.amounts(feed, held)
    behind = ledger.behind(lake, feed, held)
    return sorted(one for one in doubtful if objects[one] < noted[one] or one in behind)


def _landed(lake: Lake, feed: Feed) -> dict[str, int]:
    """How many object generations are known to have landed, by window; of topics, how many records bronze has."""
    if feed.reads_topics:
        # All that a run has seen of a topic is in bronze.
        return ledger.amounts(feed, ledger.read_objects(lake, feed))
    noted = lake.small_table("landed", feed.name, LANDED).read()
    # Two runs may have noted one object.
    windows = noted.group_by(LANDED.names).aggregate([])["window"].value_counts()
    return {one["values"]: one["counts"] for one in windows.to_pylist()}


def released(lake: Lake, feed: Feed, windows: Sequence[str]) -> DataFrame | None:
    """The complete ones of the transactions that no window holds whole: ``id``, ``commit``, ``is_new``.

    ``is_new``: complete only since these windows were read. None where all transactions are whole in their windows.
    """
    table = lake.table("transactions", feed.name)
    if not table.exists() or table.read().isEmpty():
        return None
    missing = unread(lake, feed, windows)
    of_these = set(windows).intersection(_landed(lake, feed))
    now = standing(lake, feed, missing, but=()).where("commit IS NOT NULL")
    earlier = standing(lake, feed, sorted({*missing, *of_these}), but=windows)
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
    unread: tuple[str, ...] = ()


def still_open(lake: Lake, feed: Feed) -> list[OpenTransaction]:
    """The transactions that are open now, the oldest first.

    Their age is counted in landing windows, up to the newest that was read: a feed that stands still ages nothing. Past
    the feed's timeout one is ``never_committed``, which is what is thought of it and no more: its commit may yet come.
    """
    table = lake.table("transactions", feed.name)
    if not table.exists():
        return []
    missing = unread(lake, feed)
    now = standing(lake, feed, missing, but=()).where("commit IS NULL")
    rows = now.drop("commit").orderBy("first_window", "id").collect()
    if not rows:
        return []
    accounts = (
        lake.table("accounting", feed.name).read().agg(F.max("window").alias("window")).first()
    )
    assert accounts is not None  # an aggregate without groups has one row
    newest = parse_window(accounts["window"], feed.window)
    found = []
    for row in rows:
        age = newest - parse_window(row["first_window"], feed.window)
        overdue = age >= feed.transaction_timeout
        found.append(
            OpenTransaction(**row.asDict(), age=age, never_committed=overdue, unread=tuple(missing))
        )
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
    if one.unread:
        return f"windows with drops that are not read yet: {', '.join(one.unread[:5])}{', …' if one.unread[5:] else ''}"
    return "its beginning is not read yet"
