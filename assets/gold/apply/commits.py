"""The two commits of an apply by Spark: what keys are now, merged into gold and its tombstones, or written anew.

Tombstones come first: a crash between the two leaves a row that its tombstone is newer than, and the same run, once
more, removes it. Not here: what the keys are (``spark_apply``), and small tables (``gold_files``).
"""

from __future__ import annotations

from collections.abc import Mapping

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.arrow.gold.tally import Tally
from assets.columns.gold import (
    COPY,
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    MENTIONS,
    POSITION,
    RESET,
    key_columns,
    tombstone_columns,
)
from assets.delta.broadcasting import broadcast_if_small
from assets.delta.delta_rs import CHANGE_FEED
from assets.delta.lake_table import LakeTable
from transforms.feed.feed import Table

STANDS = (POSITION, EVENT_ID, EVENT_AT, RESET)


def create(
    gold: LakeTable,
    tombstones: LakeTable,
    rows: DataFrame,
    table: Table,
    properties: Mapping[str, str],
) -> None:
    """Write both tables anew."""
    tombstones.create(_absent(rows, table), {})
    gold.create(present(rows, table), properties)


def put(
    gold: LakeTable, tombstones: LakeTable, rows: DataFrame, table: Table, tally: Tally
) -> None:
    """Put what these keys are now in place of what they were; ``tally`` says what there is to do."""
    for one in (gold, tombstones):
        if RESET not in one.read().columns:
            # An earlier version of Weir made it.
            one.add_columns({RESET: "array<bigint>"})
    if tally.receded:
        # Another delivery may say that a delete stands earlier, and what came late that the last one met no row.
        own = tombstone_columns(table)
        whole = {f"`{name}`": F.col(f"new.`{name}`") for name in (*own, *STANDS)}
        every = F.lit(True)
        absent = broadcast_if_small(_absent(rows, table), tally.absent)
        tombstones.merge(absent, own, update=(every, whole), insert=(every, whole))
    elif tally.absent:
        # Those of keys that were deleted before stay beside the new ones until compaction: the newest counts.
        tombstones.append(_absent(rows, table))
    own = key_columns(table)
    # Without a key, a row's copies are many rows.
    known = broadcast_if_small(rows, tally.keys) if table.key else rows
    is_followed = table.change_feed or gold.properties().get(CHANGE_FEED) == "true"
    if not (tally.merged or is_followed):
        gold.replace_rows(known.select(*(f"`{name}`" for name in own)), present(rows, table))
    else:
        _merge(gold, known, table, tally)
    if tally.risen:
        # Only now: a tombstone that goes before its row is there would leave nothing that says what came before.
        _drop_above(tombstones, rows.where(F.col(EFFECT) != "remove"), table)


def _merge(gold: LakeTable, rows: DataFrame, table: Table, tally: Tally) -> None:
    """The same where something of the old rows stays, or where Delta has to tell others what changed."""
    own = key_columns(table)
    values = {
        f"`{name}`": F.col(f"new.`{name}`") if not tally.merged else _merged(name)
        for name in table.columns
        if name not in table.identity
    }
    values |= {name: F.col(f"new.{name}") for name in STANDS}
    new_row = {
        f"`{name}`": F.col(f"new.`{name}`")
        for name in dict.fromkeys((*table.columns, *own, *STANDS))
    }
    is_there = F.col(f"new.{EFFECT}") != "remove"
    # Every row is of a key that has changed: whether it is another is not asked once more.
    gold.merge(
        rows,
        own,
        delete=~is_there,
        update=(F.lit(True), values),
        insert=(is_there, new_row),
    )


def present(rows: DataFrame, table: Table) -> DataFrame:
    """The rows of gold among what keys are now."""
    own = [name for name in key_columns(table) if name not in table.columns]
    columns = [f"`{name}`" for name in table.columns]
    return rows.where(F.col(EFFECT) != "remove").select(*columns, *own, *STANDS)


def _absent(rows: DataFrame, table: Table) -> DataFrame:
    absent = rows.where(F.col(EFFECT) == "remove")
    if not table.key:
        # Of a row of which there is one copy less, the first is still there.
        absent = absent.where(F.col(COPY) == 1)
    return absent.select(*(f"`{name}`" for name in tombstone_columns(table)), *STANDS)


def _merged(name: str) -> Column:
    """The new value where the whole row is put or the column is mentioned, else the old one."""
    mentioned = (F.col(f"new.{EFFECT}") == "put") | F.array_contains(
        F.col(f"new.{MENTIONS}"), F.lit(name)
    )
    return F.when(mentioned, F.col(f"new.`{name}`")).otherwise(F.col(f"old.`{name}`"))


def _drop_above(tombstones: LakeTable, rows: DataFrame, table: Table) -> None:
    """Drop tombstones that stand behind the last change of a row that is there: what they say is known better now."""
    own = tombstone_columns(table)
    once = rows if table.key else rows.where(F.col(COPY) == 1)
    same = " AND ".join(f"old.`{key}` <=> row.`{key}`" for key in own)
    target = DeltaTable.forPath(rows.sparkSession, tombstones.path).alias("old")
    source = once.select(*(f"`{key}`" for key in own), POSITION).alias("row")
    target.merge(
        source, f"{same} AND old.{POSITION} > row.{POSITION}"
    ).whenMatchedDelete().execute()
