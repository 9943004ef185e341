"""The books of a feed, ``accounting.<feed>``: what is known of its windows beside their changes.

Not here: how events are counted (``transforms/silver_columns/accounting.py``), what the counts say (``violations``).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets.lake import LakeTable
from transforms.errors import TableNameCollision
from transforms.feed import Feed
from transforms.feed_digest import feed_digest
from transforms.formats import FORMATS
from transforms.silver_columns import accounting

ANNOUNCED = ""
"""The ``declaration`` of a row that only says what kinds of change are on their way: its window is not derived."""


def counted(feed: Feed, fated: DataFrame) -> list[Row]:
    """One row per window and table (``accounting.ACCOUNTING``), from events with their fate."""
    words = [remark.word for remark in FORMATS[feed.format].remarks]
    return [
        Row(**{**row.asDict(), "declaration": feed_digest(feed, row["window"])})
        for row in accounting.accounting(fated, words).collect()
    ]


def refuse_collisions(feed: Feed, books: Sequence[Row], earlier: DataFrame | None) -> None:
    """Raise before anything is written where two source tables would share a gold table."""
    pairs = {
        (row["table"], row["source_table"]) for row in books if row["changes"] and row["declared"]
    }
    if earlier is not None:
        to_gold = earlier.where("changes > 0 AND declared IS NOT NULL")
        known = to_gold.select("table", "source_table").distinct().collect()
        pairs |= {(row["table"], row["source_table"]) for row in known}
    for table, sources in accounting.collisions(pairs).items():
        raise TableNameCollision(feed.name, table, sources)


def announce(table: LakeTable, books: Sequence[Row], earlier: DataFrame | None) -> None:
    """Make known which kinds of change these windows bring, before silver has them.

    Gold folds by the kinds that all windows have together. Silver and its books are two commits: a run that dies
    between them, or one on other windows that looks just then, would fold these changes as if they were of no kind.
    """
    bringing = [row for row in books if row["traits"]]
    if not bringing:
        return
    known: dict[str | None, set[str]] = {}
    if earlier is not None:
        told = earlier.select("table", F.explode("traits").alias("trait")).distinct()
        for row in told.collect():
            known.setdefault(row["table"], set()).add(row["trait"])
    new = [row for row in bringing if not set(row["traits"]) <= known.get(row["table"], set())]
    if new:
        rows = table.spark.createDataFrame([_announced(row) for row in new], accounting.ACCOUNTING)
        table.append(rows.coalesce(1))


def _announced(row: Row) -> Row:
    """The row without anything that was counted."""
    empty: dict[str, object] = {
        field.name: 0 if isinstance(field.dataType, T.LongType) else []
        for field in accounting.ACCOUNTING.fields
        if isinstance(field.dataType, (T.LongType, T.ArrayType))
    } | {"remarks": {}}
    kept = {"traits": row["traits"], "declaration": ANNOUNCED}
    return Row(**{**row.asDict(), **empty, **kept})
