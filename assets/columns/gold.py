"""The newest tombstone of each key, as Spark finds it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.quoting import quoted
from transforms.feed.feed import Table
from transforms.gold.columns import EVENT_ID, LOG_POSITION, tombstone_columns


def newest_tombstones(tombstones: DataFrame, table: Table) -> DataFrame:
    """One row per key, the newest: a key that was deleted several times has several tombstones until compaction."""
    whole = F.struct(*(quoted(name) for name in tombstones.columns))
    newest = F.max_by(whole, F.struct(LOG_POSITION, EVENT_ID)).alias("newest")
    own = [quoted(name) for name in tombstone_columns(table)]
    return tombstones.groupBy(*own).agg(newest).select("newest.*")
