"""Which tombstones no later change can need, and dropping them.

Not here: when that is done (``assets/compaction.py``).
"""

from __future__ import annotations

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets import bases
from assets.history import History
from assets.lake import Lake, LakeTable
from transforms.feed import Feed, Table
from transforms.gold.current_state import EVENT_ID, POSITION, grave_columns
from transforms.horizons import Horizon


def spare(
    lake: Lake,
    feed: Feed,
    history: History,
    name: str,
    gold: DataFrame,
    graves: DataFrame,
    horizon: Horizon | None,
) -> DataFrame:
    """Tombstones that no later change can need, with ``is_idle``: the row is back, else its last event is compacted."""
    own = grave_columns(history.table)
    newest = gold.groupBy(*own).agg(F.max(POSITION).alias("row"))
    same = [F.col(f"old.`{key}`").eqNullSafe(F.col(f"newest.`{key}`")) for key in own]
    idle = F.col("row").isNotNull() & (F.col(f"old.{POSITION}") < F.col("row"))
    with_rows = graves.alias("old").join(newest.alias("newest"), on=same, how="left")
    named = with_rows.select("old.*", idle.alias("is_idle")).withColumns(
        {"table": F.lit(name), "event_id": F.col(EVENT_ID)}
    )
    known = bases.with_known(lake, feed, named)
    expired = F.col("is_known")
    if horizon is not None:
        # A dry run has written no identities yet: what the horizon would cover is known to the history.
        covered = history.changes.where(horizon.covers()).select("event_id").distinct()
        known = known.join(covered.withColumn("soon", F.lit(True)), on="event_id", how="left")
        expired = expired | F.coalesce("soon", F.lit(False))
    return known.where(F.col("is_idle") | expired).select(*own, POSITION, "is_idle")


def drop(lake: Lake, graves: LakeTable, spare_ones: DataFrame, table: Table) -> None:
    """Drop these tombstones; a key that was deleted once more in the meantime has a newer one, which stays."""
    same = " AND ".join(f"old.`{key}` <=> gone.`{key}`" for key in grave_columns(table))
    same += f" AND old.{POSITION} = gone.{POSITION}"
    target = DeltaTable.forPath(lake.spark, graves.path).alias("old")
    target.merge(spare_ones.alias("gone"), same).whenMatchedDelete().execute()
