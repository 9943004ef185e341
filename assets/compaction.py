"""Upkeep of gold: forget tombstones that a newer row has made idle, and compact small files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.lake import Lake
from transforms.feed import Feed, Table
from transforms.gold.current_state import POSITION, grave_columns
from transforms.table_names import TOMBSTONES


@dataclass(frozen=True, slots=True)
class Compacted:
    """What one gold table kept and lost: tombstones by class, and files before and after."""

    table: str
    kept: int
    idle: int
    files_before: int
    files_after: int


def idle(graves: DataFrame, gold: DataFrame, table: Table) -> DataFrame:
    """Tombstones whose key has come back with a newer position: the row is the base of every later fold."""
    newer = [F.col(f"old.`{name}`") == F.col(f"row.`{name}`") for name in grave_columns(table)]
    condition = F.col(f"old.{POSITION}") < F.col(f"row.{POSITION}")
    for part in newer:
        condition = condition & part
    return graves.alias("old").join(gold.alias("row"), on=condition, how="left_semi")


def compact(lake: Lake, feed: Feed, table: Table, name: str, *, dry_run: bool) -> Compacted | None:
    """Compact one gold table and its tombstones; None where it does not exist yet.

    Tombstones of keys that are absent all stay: without a horizon nothing says that no older event can come.
    """
    gold, graves = (
        lake.table("gold", feed.name, name),
        lake.table("gold", feed.name, name + TOMBSTONES),
    )
    if not (gold.exists() and graves.exists()):
        return None
    before, all_graves = _files(lake, gold.path), graves.read().count()
    gone = idle(graves.read(), gold.read(), table)
    count = gone.count()
    if not dry_run:
        if count:
            same = " AND ".join(f"old.`{key}` = gone.`{key}`" for key in grave_columns(table))
            target = DeltaTable.forPath(lake.spark, graves.path).alias("old")
            target.merge(gone.alias("gone"), same).whenMatchedDelete().execute()
        for path in (gold.path, graves.path):
            DeltaTable.forPath(lake.spark, path).optimize().executeCompaction()
    return Compacted(name, all_graves - count, count, before, _files(lake, gold.path))


def compact_feed(
    lake: Lake, feed: Feed, names: dict[str, Table], *, dry_run: bool
) -> Iterator[Compacted]:
    """Compact every gold table of a feed, by name."""
    for name, table in names.items():
        done = compact(lake, feed, table, name, dry_run=dry_run)
        if done:
            yield done


def _files(lake: Lake, path: str) -> int:
    row = DeltaTable.forPath(lake.spark, path).detail().select("numFiles").first()
    return int(row["numFiles"]) if row else 0
