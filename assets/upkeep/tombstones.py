"""Which tombstones no later change can need, and dropping them.

Not here: when that is done (``assets/upkeep/compaction.py``).
"""

from __future__ import annotations

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.gold import POSITION, grave_columns
from assets.columns.horizons import covers
from assets.delta.lake_table import LakeTable
from assets.lake import Lake
from transforms.feed.feed import Table
from transforms.horizons import Horizon


def is_expired(horizon: Horizon | None) -> Column:
    """True for tombstones at or below the horizon: what is older than they are comes too late."""
    return F.lit(False) if horizon is None else covers(horizon, POSITION, F.size(POSITION))


def spare(table: Table, gold: DataFrame, graves: DataFrame, horizon: Horizon | None) -> DataFrame:
    """Tombstones that no later change can need, with ``is_idle``: the row is back, or was deleted once more, later.

    The others are expired.
    """
    own = grave_columns(table)
    known = gold.select(*own, POSITION).unionByName(graves.select(*own, POSITION))
    newest = known.groupBy(*own).agg(F.max(POSITION).alias("row"))
    same = [F.col(f"old.`{key}`").eqNullSafe(F.col(f"newest.`{key}`")) for key in own]
    idle = F.col("row").isNotNull() & (F.col(f"old.{POSITION}") < F.col("row"))
    with_rows = graves.alias("old").join(newest.alias("newest"), on=same, how="left")
    named = with_rows.select("old.*", F.coalesce(idle, F.lit(False)).alias("is_idle"))
    return named.where(F.col("is_idle") | is_expired(horizon)).select(*own, POSITION, "is_idle")


def drop(lake: Lake, graves: LakeTable, spare_ones: DataFrame, table: Table) -> None:
    """Drop these tombstones; a key that was deleted once more in the meantime has a newer one, which stays."""
    same = " AND ".join(f"old.`{key}` <=> gone.`{key}`" for key in grave_columns(table))
    same += f" AND old.{POSITION} = gone.{POSITION}"
    target = DeltaTable.forPath(lake.spark, graves.path).alias("old")
    target.merge(spare_ones.alias("gone"), same).whenMatchedDelete().execute()
