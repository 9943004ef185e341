"""Whether two ways of applying the same changes make the same table."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.storage.lake import Lake, Layer
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import RESET


class TablesDiffer(Exception):
    """Weir and the textbook made different tables of the same changes."""


def agree(lake: Lake, other: Lake, feed: Feed, table: Table) -> None:
    """Make sure that gold is the same in Weir's warehouse and in the textbook's.

    Raises:
        TablesDiffer: it is not.
    """
    tables = (place.table(Layer.GOLD, feed.name, table.name).read() for place in (lake, other))
    # The column by which Weir recognises late changes is one that the textbook does not have.
    own, textbook = (fingerprint(rows.drop(RESET)) for rows in tables)
    if own != textbook:
        raise TablesDiffer(f"Weir's table and the textbook's differ: {own} and {textbook}")


def fingerprint(rows: DataFrame) -> tuple[int, str]:
    """How many rows there are, and a sum that every one of their values has a part in."""
    digest = F.xxhash64(*rows.columns).cast("decimal(38,0)")
    counted = rows.agg(F.count("*").alias("rows"), F.sum(digest).alias("digest")).first()
    assert counted is not None  # an aggregate without groups has one row
    return counted["rows"], str(counted["digest"])
