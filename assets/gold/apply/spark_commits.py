"""The two commits of an apply by Spark: changed keys, merged into gold and its tombstones, or both tables rewritten.

Tombstones come first: a crash between the two commits leaves a row beside a newer tombstone, and the same run removes
it when it is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.quoting import quoted
from assets.delta.delta_rs import CHANGE_FEED
from assets.delta.spark_table import SparkTable
from assets.executors.in_spark import broadcast_if_small
from transforms.feed.feed import Table
from transforms.gold.columns import (
    COPY,
    EFFECT,
    LAST_CHANGE,
    LOG_POSITION,
    MENTIONS,
    key_columns,
    tombstone_columns,
)
from transforms.gold.metrics import FoldMetrics


def create(
    gold: SparkTable,
    tombstones: SparkTable,
    rows: DataFrame,
    table: Table,
    properties: Mapping[str, str],
) -> None:
    """Write both tables, in place of what there was.

    Args:
        gold: The table of rows.
        tombstones: The table of deleted keys.
        rows: What every key is now (``folded_rows.schema_of``).
        table: The declared table.
        properties: The properties that the table of rows is made with.
    """
    tombstones.create(_absent(rows, table), {})
    gold.create(present(rows, table), properties)


def put(
    gold: SparkTable, tombstones: SparkTable, rows: DataFrame, table: Table, metrics: FoldMetrics
) -> None:
    """Put what keys are now in place of what they were.

    Args:
        gold: The table of rows.
        tombstones: The table of deleted keys.
        rows: What the changed keys are now (``folded_rows.schema_of``).
        table: The declared table.
        metrics: The counts of the fold, by which commits that have nothing to do are left out.
    """
    if metrics.needs_tombstone_merge:
        # Another delivery may have put a delete at an earlier position, or a late event may show that it met no row.
        own = tombstone_columns(table)
        whole = {quoted(name): F.col(f"new.{quoted(name)}") for name in (*own, *LAST_CHANGE)}
        every = F.lit(True)
        absent = broadcast_if_small(_absent(rows, table), metrics.absent)
        tombstones.merge(absent, own, update=(every, whole), insert=(every, whole))
    elif metrics.absent:
        # Older tombstones of the same keys stay beside the new ones until compaction: the newest counts.
        tombstones.append(_absent(rows, table))
    own = key_columns(table)
    # Without a key, a row's copies are many rows.
    known = broadcast_if_small(rows, metrics.keys) if table.key else rows
    is_followed = table.change_feed or gold.properties().get(CHANGE_FEED) == "true"
    if not (metrics.updated or is_followed):
        gold.replace_rows(known.select(*(quoted(name) for name in own)), present(rows, table))
    else:
        _merge(gold, known, table, metrics)
    if metrics.drops_tombstone:
        # Only now: were the tombstone deleted first, a crash would leave neither it nor the row.
        _drop_above(tombstones, rows.where(F.col(EFFECT) != "remove"), table)


def _merge(gold: SparkTable, rows: DataFrame, table: Table, metrics: FoldMetrics) -> None:
    """Merge the rows where old values stay, or where Delta's change data feed has to say what changed."""
    own = key_columns(table)
    values = {
        quoted(name): F.col(f"new.{quoted(name)}") if not metrics.updated else _kept(name)
        for name in table.columns
        if name not in table.identity
    }
    values |= {name: F.col(f"new.{name}") for name in LAST_CHANGE}
    new_row = {
        quoted(name): F.col(f"new.{quoted(name)}")
        for name in dict.fromkeys((*table.columns, *own, *LAST_CHANGE))
    }
    is_there = F.col(f"new.{EFFECT}") != "remove"
    # Every row is of a key that has changed, so that old and new values need not be compared.
    gold.merge(
        rows,
        own,
        delete=~is_there,
        update=(F.lit(True), values),
        insert=(is_there, new_row),
    )


def present(rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that is present, or per copy of it, with gold's columns."""
    own = [name for name in key_columns(table) if name not in table.columns]
    columns = [quoted(name) for name in table.columns]
    return rows.where(F.col(EFFECT) != "remove").select(*columns, *own, *LAST_CHANGE)


def _absent(rows: DataFrame, table: Table) -> DataFrame:
    """One row per key that is absent, with the columns of tombstones."""
    absent = rows.where(F.col(EFFECT) == "remove")
    if not table.key:
        # Where only some copies of a row are gone, the first is still there.
        absent = absent.where(F.col(COPY) == 1)
    return absent.select(*(quoted(name) for name in tombstone_columns(table)), *LAST_CHANGE)


def _kept(name: str) -> Column:
    """The new value where the whole row is replaced or the column is mentioned, else the old one."""
    mentioned = (F.col(f"new.{EFFECT}") == "replace") | F.array_contains(
        F.col(f"new.{MENTIONS}"), F.lit(name)
    )
    return F.when(mentioned, F.col(f"new.{quoted(name)}")).otherwise(F.col(f"old.{quoted(name)}"))


def _drop_above(tombstones: SparkTable, rows: DataFrame, table: Table) -> None:
    """Delete tombstones at a later position than the last change of a row that is present: the row is right."""
    own = tombstone_columns(table)
    once = rows if table.key else rows.where(F.col(COPY) == 1)
    same = " AND ".join(f"old.{quoted(key)} <=> row.{quoted(key)}" for key in own)
    target = DeltaTable.forPath(rows.sparkSession, tombstones.path).alias("old")
    source = once.select(*(quoted(key) for key in own), LOG_POSITION).alias("row")
    merge = target.merge(source, f"{same} AND old.{LOG_POSITION} > row.{LOG_POSITION}")
    with tombstones.commits():
        merge.whenMatchedDelete().execute()
