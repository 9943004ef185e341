"""Which tombstones no later change can need, and dropping them.

Put here what decides that a tombstone may go. Not here: when they are dropped (``compaction``), and how tombstones are
written (``gold/apply/spark_commits`` for large tables, ``gold/apply/gold_files`` for small ones).
"""

from __future__ import annotations

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.horizons import covers
from assets.columns.quoting import quoted
from assets.delta.lake_table import LakeTable
from assets.lake import Lake
from transforms.feed.feed import Table
from transforms.gold.columns import POSITION, tombstone_columns
from transforms.horizons import Horizon


def is_expired(horizon: Horizon | None) -> Column:
    """True for tombstones at or below the horizon: any older change of their keys would come too late anyway."""
    return F.lit(False) if horizon is None else covers(horizon, POSITION, F.size(POSITION))


def droppable(
    table: Table, gold: DataFrame, tombstones: DataFrame, horizon: Horizon | None
) -> DataFrame:
    """One row per tombstone that no later change can need: its key, its position, and ``is_superseded``.

    Superseded: the key has a row again, or a newer tombstone. The others are expired (``is_expired``).

    Args:
        table: the declared table.
        gold: the rows of its gold table.
        tombstones: all of its tombstones.
        horizon: of the gold table; None where its history is not compacted.
    """
    own = tombstone_columns(table)
    known = gold.select(*own, POSITION).unionByName(tombstones.select(*own, POSITION))
    newest = known.groupBy(*own).agg(F.max(POSITION).alias("row"))
    same = [F.col(f"old.{quoted(key)}").eqNullSafe(F.col(f"newest.{quoted(key)}")) for key in own]
    superseded = F.col("row").isNotNull() & (F.col(f"old.{POSITION}") < F.col("row"))
    with_rows = tombstones.alias("old").join(newest.alias("newest"), on=same, how="left")
    named = with_rows.select("old.*", F.coalesce(superseded, F.lit(False)).alias("is_superseded"))
    return named.where(F.col("is_superseded") | is_expired(horizon)).select(
        *own, POSITION, "is_superseded"
    )


def drop(lake: Lake, tombstones: LakeTable, removable: DataFrame, table: Table) -> None:
    """Drop these tombstones in one commit; one that a run wrote in the meantime has a newer position and stays.

    Args:
        lake: the warehouse.
        tombstones: the table they are in.
        removable: what ``droppable`` found.
        table: the declared table.
    """
    same = " AND ".join(
        f"old.{quoted(key)} <=> gone.{quoted(key)}" for key in tombstone_columns(table)
    )
    same += f" AND old.{POSITION} = gone.{POSITION}"
    target = DeltaTable.forPath(lake.spark, tombstones.path).alias("old")
    with tombstones.commits():
        target.merge(removable.alias("gone"), same).whenMatchedDelete().execute()
