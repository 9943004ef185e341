"""The columns of gold and its tombstones that are Weir's own, and what tells their rows apart.

Not here: which rows there are (``transforms/gold``), and the commits (``commits``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.feed.feed import Table

POSITION, EVENT_ID, EVENT_AT = "_weir_position", "_weir_event_id", "_weir_event_at"
RESET = "_weir_reset_position"
"""Where the newest change stands after which nothing older can matter (``transforms/gold/onto_gold.py``)."""
KEY, COPY = "_weir_key", "_weir_copy"
EFFECT, MENTIONS = "_weir_effect", "_weir_mentions"
KIND, PARTS, BLOB = "_weir_kind", "_weir_parts", "_weir_blob"
"""On the way to gold: what a row is of (``gold_rows``), its key's parts as texts, and what is pickled."""


def key_columns(table: Table) -> tuple[str, ...]:
    """What tells the rows of gold apart: the key, or what stands for it in a table without one."""
    return table.key or (KEY, COPY)


def tombstone_columns(table: Table) -> tuple[str, ...]:
    """What tells tombstones apart."""
    return table.key or (KEY,)


def newest_tombstones(tombstones: DataFrame, table: Table) -> DataFrame:
    """One row per key: a key that was deleted several times has several until compaction, and the newest counts."""
    whole = F.struct(*(f"`{name}`" for name in tombstones.columns))
    newest = F.max_by(whole, F.struct(POSITION, EVENT_ID)).alias("newest")
    own = [f"`{name}`" for name in tombstone_columns(table)]
    return tombstones.groupBy(*own).agg(newest).select("newest.*")
