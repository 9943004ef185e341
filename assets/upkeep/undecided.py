"""What of a table is not decided yet, so that its history may not be compacted beyond it.

Put here each kind of thing that waits: for a person, or for the rest of its transaction. Not here: which horizon
follows (``horizon_plans``).
"""

from __future__ import annotations

from pyspark.sql import functions as F

from assets.bookkeeping import dismissals
from assets.columns import silver_rows, transactions
from assets.gold.silver_by_spark import SilverBySpark
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.horizons import Horizon


def quarantined_in(lake: Lake, feed: Feed, name: str) -> dict[str, int]:
    """How many events of the table, or of no table, are in quarantine and may yet be fixed, by their window."""
    refused = dismissals.waiting(lake, feed)
    if refused is None:
        return {}
    mine = (F.col("table") == name) | F.col("table").isNull()
    waits = ~F.col("window").isin(list(feed.retention.dismissed))
    found = refused.where(mine & waits).groupBy("window").count().collect()
    return {row["window"]: row["count"] for row in found}


def first_held(lake: Lake, feed: Feed, name: str) -> list[int] | None:
    """The smallest position of a scoped delete that waits for a decision."""
    silver = lake.table(Layer.SILVER, feed.name).read()
    held = silver.where(silver_rows.are_held(name))
    row = held.agg(F.min("position").alias("position")).first()
    assert row is not None  # an aggregate without groups has one row
    position: list[int] | None = row["position"]
    return position


def first_quarantined(lake: Lake, feed: Feed, name: str, old: Horizon | None) -> list[int] | None:
    """The smallest position of an event in quarantine that may yet be fixed, as far as positions are known.

    What came too late, below the ``old`` horizon, is decided. A record that cannot be read has no position: there its
    window counts.
    """
    refused = dismissals.waiting(lake, feed)
    if refused is None:
        return None
    mine = F.col("table") == name
    if old is not None:
        mine &= F.col("position") > F.array(*map(F.lit, old.position))
    waits = ~F.col("window").isin(list(feed.retention.dismissed))
    row = refused.where(mine & waits).agg(F.min("position").alias("position")).first()
    assert row is not None  # an aggregate without groups has one row
    position: list[int] | None = row["position"]
    return position


def first_open(silver: SilverBySpark) -> list[int] | None:
    """The smallest position of a change whose transaction is not complete."""
    plan = silver.plan
    if not plan.kinds.transactions:
        return None
    waiting = transactions.waiting(silver.silver.where(silver_rows.are_of(plan.name)))
    if plan.released:
        waiting = waiting.where(~F.col("id").isin([*plan.released]))
    row = waiting.agg(F.min("position").alias("position")).first()
    assert row is not None  # an aggregate without groups has one row
    position: list[int] | None = row["position"]
    return position
