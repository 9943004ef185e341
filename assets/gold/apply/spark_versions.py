"""The commit of a large gold table's versions, ``gold.<feed>.<table>__history``, for tables declared with ``history``.

Each key that a run touches is folded from all its changes, so that late events are woven in at their position. Silver
no longer knows versions that ended before the compaction watermark, and these stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import types
from assets.columns.quoting import quoted
from assets.delta.spark_table import SparkTable
from assets.gold.gold_table import GoldTable
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Table
from transforms.gold.columns import BEGAN_BY, OF_VERSION, PARTS, VALID_FROM, VALID_TO

PROPERTIES = {"delta.enableDeletionVectors": "true"}


def write_versions(
    gold: GoldTable,
    new: DataFrame,
    keys: DataFrame,
    *,
    full_rebuild: bool,
    compaction_watermark: CompactionWatermark | None,
) -> None:
    """Put the versions of some keys that can be derived from silver in place of those before, in one commit.

    Runs before gold is written: where a run ends in between, the next one meets the same keys again.

    Args:
        gold: The gold table whose versions they are.
        new: One row per version, with the declared columns and ``transforms.gold.columns.OF_VERSION``.
        keys: One row per key that the run touches, its canonical texts in ``PARTS``.
        full_rebuild: Whether ``new`` has the versions of all keys.
        compaction_watermark: Up to where silver's changes are compacted; versions that ended there or before stay as
            they are.
    """
    table, declared = gold.history, gold.table
    new = new.select(*(quoted(name) for name in declared.columns), *OF_VERSION)
    if full_rebuild:
        whole = new
        if compaction_watermark is not None and table.exists():
            whole = whole.unionByName(
                _ended(table.read(), declared, compaction_watermark)
            ).localCheckpoint()
        table.create(whole, PROPERTIES)
        return
    named = keys.select(
        *[
            types.typed(F.get(PARTS, F.lit(at)), declared.columns[name]).alias(name)
            for at, name in enumerate(declared.key)
        ]
    )
    # What ended at or below the compaction watermark is not among the new versions, and stays.
    present = above(table.read(), compaction_watermark).alias("old")
    same = [
        F.col(f"old.{quoted(name)}")
        .cast(types.stored(declared.columns[name]))
        .eqNullSafe(F.col(f"touched.{quoted(name)}"))
        for name in declared.key
    ]
    mine = present.join(named.alias("touched"), on=same, how="left_semi")
    own = [*declared.key, VALID_FROM, BEGAN_BY]
    gone = mine.join(new.select(*own), on=own, how="left_anti").withColumn("is_gone", F.lit(True))
    source = new.withColumn("is_gone", F.lit(False)).unionByName(gone).localCheckpoint()
    _merge(table, declared, source, own)


def _merge(table: SparkTable, declared: Table, source: DataFrame, own: Sequence[str]) -> None:
    """Merge versions by the columns that tell them apart (``own``); ``is_gone``: the version is to be deleted."""
    values: dict[str, str | Column] = {
        quoted(name): F.col(f"new.{quoted(name)}") for name in (*declared.columns, *OF_VERSION)
    }
    condition = " AND ".join(f"old.{quoted(name)} = new.{quoted(name)}" for name in own)
    merge = (
        DeltaTable.forPath(table.spark, table.path)
        .alias("old")
        .merge(source.alias("new"), condition)
        .whenMatchedDelete("new.is_gone")
        .whenMatchedUpdate(set=values)
        .whenNotMatchedInsert("NOT new.is_gone", values)
    )
    with table.commits():
        merge.execute()


def above(kept: DataFrame, compaction_watermark: CompactionWatermark | None) -> DataFrame:
    """The versions that can still be derived from silver: those that had not ended at the watermark, and later ones."""
    if compaction_watermark is None:
        return kept
    return kept.where(F.coalesce(F.col(VALID_TO) > _position(compaction_watermark), F.lit(True)))


def _ended(
    kept: DataFrame, declared: Table, compaction_watermark: CompactionWatermark
) -> DataFrame:
    """The versions that can no longer be derived from silver, with the columns that are declared now."""
    ended = kept.where(F.col(VALID_TO) <= _position(compaction_watermark))
    columns = [
        (F.col(quoted(name)) if name in kept.columns else F.lit(None))
        .cast(types.stored(kind))
        .alias(name)
        for name, kind in declared.columns.items()
    ]
    return ended.select(*columns, *OF_VERSION)


def _position(compaction_watermark: CompactionWatermark) -> Column:
    return F.array(*[F.lit(number) for number in compaction_watermark.log_position]).cast(
        "array<bigint>"
    )
