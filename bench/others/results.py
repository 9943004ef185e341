"""What a table holds after the changes, and what it should hold, as far as every tool can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from bench.rivals import textbook
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import LOG_POSITION


class ResultsDiffer(Exception):
    """A tool made another table of the changes than it should."""


@dataclass(frozen=True, slots=True)
class Result:
    """How many rows a table has, and the sum of their quantities."""

    rows: int
    quantity: int


def result_of(rows: DataFrame) -> Result:
    """Count the rows and add up their quantities."""
    counted = rows.agg(F.count("*").alias("rows"), F.sum("quantity").alias("quantity")).first()
    assert counted is not None  # an aggregate without groups has one row
    return Result(counted["rows"], counted["quantity"])


def newest_delivered(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str]
) -> tuple[int, Result]:
    """What a table holds if the newest delivered change of each key wins even over a row that is newer.

    Returns how many rows are older for that than they should be, and the whole table's result.

    On the bench's drops a late change is an update of a row that is there, so that counting rows would not tell.
    """
    changes = textbook.typed(textbook.of_windows(lake, feed, table, windows), table)
    kept = ("quantity", LOG_POSITION, "is_delete")
    newest = changes.groupBy("id").agg(
        F.max_by(F.struct(*kept), F.col(LOG_POSITION)).alias("newest")
    )
    newest = newest.select("id", "newest.*")
    old = lake.table(Layer.GOLD, feed.name, table.name).read()
    before = old.select("id", F.col(LOG_POSITION).alias("before"))
    late = newest.join(before, on="id", how="inner").where(F.col("before") > F.col(LOG_POSITION))
    untouched = old.join(newest, on="id", how="left_anti").select("quantity")
    arrived = newest.where("NOT is_delete").select("quantity")
    return late.count(), result_of(untouched.unionByName(arrived))
