"""Weir's own columns of gold and its tombstones, and the columns that identify a row.

Put here a column of gold that no feed declares. Not here: which rows there are (``transforms/gold``), and the commits
(``assets/gold/apply``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.quoting import quoted
from transforms.feed.feed import Table

POSITION, EVENT_ID, EVENT_AT = "_weir_position", "_weir_event_id", "_weir_event_at"
RESET = "_weir_reset_position"
"""The position of the newest change below which nothing older can matter (``transforms/gold/onto_gold.py``)."""
KEY, COPY = "_weir_key", "_weir_copy"
EFFECT, MENTIONS = "_weir_effect", "_weir_mentions"
KIND, PARTS, BLOB = "_weir_kind", "_weir_parts", "_weir_blob"
"""On the way to gold: what a row is (``assets/arrow/gold/gold_columns.py``), its key as texts, and pickled values."""


def key_columns(table: Table) -> tuple[str, ...]:
    """The columns that identify a row of gold: the key, or in a table without one its values and the copy's number."""
    return table.key or (KEY, COPY)


def tombstone_columns(table: Table) -> tuple[str, ...]:
    """The columns that identify the key of a tombstone."""
    return table.key or (KEY,)


def newest_tombstones(tombstones: DataFrame, table: Table) -> DataFrame:
    """One row per key, the newest: a key that was deleted several times has several tombstones until compaction."""
    whole = F.struct(*(quoted(name) for name in tombstones.columns))
    newest = F.max_by(whole, F.struct(POSITION, EVENT_ID)).alias("newest")
    own = [quoted(name) for name in tombstone_columns(table)]
    return tombstones.groupBy(*own).agg(newest).select("newest.*")
