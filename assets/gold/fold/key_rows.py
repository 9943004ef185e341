"""What Spark brings together for the keys of a gold table: its own rows and versions, silver's changes, and base rows.

Put here which rows are read for which keys. Not here: their columns (``change_rows``, ``current_rows``), what is made
of them (``spark_fold``), and silver as the table sees it (``assets/gold/changes/table_changes.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow.gold.fold_row_columns import CARRIED, GOLD, TOMBSTONE
from assets.arrow.gold.key_groups import Folding
from assets.delta.broadcasting import broadcast_if_small
from assets.delta.lake_table import LakeTable
from assets.gold.changes.scoping import Scoping
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import change_rows, current_rows
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class CurrentTables:
    """One gold table as it is before a run.

    ``versions``: those that can still be derived from silver; None where the table keeps none.
    """

    rows: LakeTable
    tombstones: LakeTable
    versions: DataFrame | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What one run folds.

    Args:
        table_changes: The changes of the gold table.
        folding: What the tasks have to know of it.
        cross_stream_positions: Positions of changes in other streams than their own; None where scoped changes reach
            only their own stream.
        current: The gold table before the run; None where it is made from all changes.
    """

    table_changes: TableChanges
    folding: Folding
    cross_stream_positions: DataFrame | None
    current: CurrentTables | None = None

    @classmethod
    def of(
        cls,
        feed: Feed,
        table_changes: TableChanges,
        scoping: Scoping,
        current: CurrentTables | None = None,
    ) -> Self:
        """A run over these changes and scoped changes, onto the gold table as it is or from all changes."""
        kinds, across_streams = table_changes.change_kinds, scoping.across_streams
        folding = Folding(
            *(feed, table_changes.table, scoping.every),
            depends=kinds.depends,
            keeps_history=kinds.moves or table_changes.table.history,
            moves=kinds.moves,
            full_rebuild=current is None,
            crossing=across_streams.crossing if across_streams else None,
            horizon=table_changes.horizon,
        )
        positions = across_streams.cross_stream_positions if across_streams else None
        return cls(table_changes, folding, positions, current)

    @property
    def passes_on(self) -> bool:
        """Whether the first stage hands what it read of gold to the second (``CARRIED``), so that it is read once."""
        return not self.folding.moves and (self.folding.depends or not self.table_changes.table.key)


def whole(run: Run, asked: DataFrame | None, count: int) -> DataFrame:
    """One row per change, base row, version and gold row of all keys, or of some keys and those linked with them.

    Args:
        run: The run.
        asked: One row per key that is asked for (``key``, and ``carried`` from an earlier stage); None for all keys.
        count: How many these are at most.
    """
    table_changes, folding = run.table_changes, run.folding
    changes = table_changes.of_keys if asked is None else table_changes.of_few(asked, count)
    rows = change_rows.changes(changes)
    if run.cross_stream_positions is not None:
        rows = rows.unionByName(
            change_rows.cross_stream_positions(run.cross_stream_positions),
            allowMissingColumns=True,
        )
    if table_changes.base is not None:
        base = change_rows.base(table_changes.base)
        rows = rows.unionByName(base, allowMissingColumns=True)
    rows = _grouped(run, rows)
    if asked is not None:
        asked = _grouped(run, asked)
        groups = asked.select("group").distinct() if folding.moves else asked.select("group")
        rows = rows.join(broadcast_if_small(groups, count), on="group", how="left_semi")
        before = _before(run, asked, count)
        if before is not None:
            rows = _union(rows, _grouped(run, before))
        if "carried" in asked.columns:
            if not run.passes_on:
                asked = asked.withColumn("carried", F.lit(None).cast("binary"))
            asked = asked.withColumn("what", F.lit(CARRIED))
            rows = _union(rows, asked)
    return change_rows.shaped(rows)


def with_linked(run: Run, asked: DataFrame) -> DataFrame:
    """One row per key that is ``asked`` for, and per key that is linked with one of these: ``key``."""
    if not run.folding.moves:
        return asked.select("key")
    groups = _grouped(run, asked).select(F.col("group").alias("root")).distinct()
    linked = run.table_changes.roots.join(groups, on="root", how="left_semi").select("key")
    return asked.select("key").unionByName(linked).distinct()


def _grouped(run: Run, rows: DataFrame) -> DataFrame:
    """The rows with the ``group`` of their key: keys that key changes link share one."""
    if not run.folding.moves:
        return rows.withColumn("group", F.col("key"))
    named = rows.join(run.table_changes.roots, on="key", how="left")
    return named.withColumn("group", F.coalesce("root", "key")).drop("root")


def _before(run: Run, asked: DataFrame, count: int) -> DataFrame | None:
    """What gold and its versions have of the keys that are ``asked`` for, and of those linked with them.

    Without what the first stage passes on; None where nothing is left.
    """
    table, found = run.table_changes.table, []
    keys = broadcast_if_small(with_linked(run, asked), count)
    if run.current is not None and not run.passes_on:
        both = ((run.current.rows, GOLD), (run.current.tombstones, TOMBSTONE))
        found = [
            current_rows.last_changes(table, layer.read(), what, keys, with_values=what == GOLD)
            for layer, what in both
        ]
    if run.current is not None and run.current.versions is not None:
        found.append(current_rows.versions(table, run.current.versions, keys))
    return reduce(_union, found) if found else None


def _union(rows: DataFrame, others: DataFrame) -> DataFrame:
    return rows.unionByName(others, allowMissingColumns=True)
