"""What Spark brings together for the keys of a gold table: rows of it, of its versions, of silver and of its bases.

Not here: what their columns are (``meeting_rows``), what is made of them (``spark_apply``), and silver as the table
sees it (``table_changes``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.arrow.meetings import CARRIED, GOLD, TOMBSTONE, Folding
from assets.delta.broadcasting import hinted
from assets.delta.lake_table import LakeTable
from assets.gold.apply import meeting_rows
from assets.gold.changes.table_changes import History


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is for.

    ``places``: of changes in other streams, None where scoped changes reach none. ``layers``: gold and its tombstones,
    None where they are made anew. ``history``: those that stand and that silver can tell, where the table keeps them.
    """

    history: History
    folding: Folding
    places: DataFrame | None
    layers: tuple[LakeTable, LakeTable] | None = None
    versions: DataFrame | None = None

    @property
    def hands_on(self) -> bool:
        """Whether the first stage has read all that tells whether a row is another, and hands it on to the second."""
        return not self.folding.moves and (self.folding.depends or not self.history.table.key)


def whole(run: Run, asked: DataFrame | None, count: int) -> DataFrame:
    """All that is known of all keys, or of those that are ``asked`` for and of what is linked with them."""
    history, folding = run.history, run.folding
    changes = history.of_keys if asked is None else history.of_few(asked, count)
    rows = meeting_rows.changes(changes)
    if run.places is not None:
        rows = rows.unionByName(meeting_rows.places(run.places), allowMissingColumns=True)
    if history.base is not None:
        base = meeting_rows.base(history.base)
        rows = rows.unionByName(base, allowMissingColumns=True)
    rows = _grouped(run, rows)
    if asked is not None:
        asked = _grouped(run, asked)
        groups = asked.select("group").distinct() if folding.moves else asked.select("group")
        rows = rows.join(hinted(groups, count), on="group", how="left_semi")
        standing = _standing(run, asked, count)
        if standing is not None:
            rows = _and(rows, _grouped(run, standing))
        if "carried" in asked.columns:
            if not run.hands_on:
                asked = asked.withColumn("carried", F.lit(None).cast("binary"))
            asked = asked.withColumn("what", F.lit(CARRIED))
            rows = _and(rows, asked)
    return meeting_rows.shaped(rows)


def with_linked(run: Run, asked: DataFrame) -> DataFrame:
    """The keys that are ``asked`` for, and all that are linked with them (``key``)."""
    if not run.folding.moves:
        return asked.select("key")
    groups = _grouped(run, asked).select(F.col("group").alias("root")).distinct()
    linked = run.history.roots.join(groups, on="root", how="left_semi").select("key")
    return asked.select("key").unionByName(linked).distinct()


def _grouped(run: Run, rows: DataFrame) -> DataFrame:
    """The rows with the ``group`` of their key: keys that key changes link are in one."""
    if not run.folding.moves:
        return rows.withColumn("group", F.col("key"))
    named = rows.join(run.history.roots, on="key", how="left")
    return named.withColumn("group", F.coalesce("root", "key")).drop("root")


def _standing(run: Run, asked: DataFrame, count: int) -> DataFrame | None:
    """What the tables have of the keys that are ``asked`` for, and of what is linked with them.

    But for what the first stage hands on.
    """
    table, found = run.history.table, []
    keys = hinted(with_linked(run, asked), count)
    if run.layers is not None and not run.hands_on:
        found = [
            meeting_rows.stands(table, layer.read(), what, keys, with_values=what == GOLD)
            for layer, what in zip(run.layers, (GOLD, TOMBSTONE), strict=True)
        ]
    if run.versions is not None:
        found.append(meeting_rows.versions(table, run.versions, keys))
    return reduce(_and, found) if found else None


def _and(some: DataFrame, others: DataFrame) -> DataFrame:
    return some.unionByName(others, allowMissingColumns=True)
