"""What becomes of a key when its newest change meets the row or the tombstone that gold has of it.

Put here the comparison of the two, as columns. Not here: the newest change itself (``newest_changes``), and what is
made of the outcome (``whole_images``).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.gold import EVENT_ID, POSITION, RESET
from assets.columns.quoting import all_quoted
from assets.delta.broadcasting import broadcast_if_small
from assets.gold.changes.table_changes import TableChanges
from assets.gold.fold import current_rows
from assets.gold.fold.newest_changes import FIRST, IS_MIXED, IS_WHOLE, SHORTEST

OUTCOME, LAST, ROWS = "_weir_outcome", "_weir_last", "_weir_rows"
NEWER, OLDER, SAME, UNSURE = "newer", "older", "same", "unsure"
"""All changes are newer than what gold has; all are older; the newest is what gold has; or the fold has to decide."""


def last_changes(
    table_changes: TableChanges, new: DataFrame, layers: Sequence[DataFrame]
) -> DataFrame:
    """One row per key that gold has: its ``LAST`` change, and how many ``ROWS`` gold has of it."""
    table = table_changes.table
    own = all_quoted(table.key)
    asked = broadcast_if_small(current_rows.typed_keys(table, new), table_changes.most_new)

    def lasts_in(layer: DataFrame, *, is_row: bool) -> DataFrame:
        # A table that an earlier version of Weir made has no such column.
        reset = F.col(RESET) if RESET in layer.columns else F.lit(None).cast("array<bigint>")
        last = F.struct(POSITION, EVENT_ID, reset.alias(RESET), F.lit(is_row).alias("is_row"))
        return layer.select(*own, last.alias(LAST), F.lit(int(is_row)).alias(ROWS))

    gold, tombstones = layers
    both = lasts_in(gold, is_row=True).unionByName(lasts_in(tombstones, is_row=False))
    mine = both.join(asked, on=[*table.key], how="left_semi")
    return mine.groupBy(*own).agg(F.max(LAST).alias(LAST), F.sum(ROWS).alias(ROWS))


def outcome() -> Column:
    """What becomes of a key, by its newest change and what gold has of it."""
    position = F.col(POSITION)
    last, reset, event_id = (F.col(f"{LAST}.{name}") for name in (POSITION, RESET, EVENT_ID))
    rows = F.coalesce(ROWS, F.lit(0))
    # Several rows were written by somebody else, and a row beside a newer tombstone is left by a crash.
    is_clean = ~F.col(IS_MIXED) & ((rows == 0) | ((rows == 1) & F.col(f"{LAST}.is_row")))
    is_newer = F.col(IS_WHOLE) & (F.col(LAST).isNull() | (F.col(FIRST) > last))
    # Of a shorter position only as much is compared as it has: a matter for the fold.
    is_within_prefix = F.size(reset) <= F.col(SHORTEST)
    is_older = is_within_prefix & (position < reset)
    is_last = (position == last) & (F.col(EVENT_ID) == event_id)
    is_same = is_within_prefix & is_last & (reset == last)
    return (
        F.when(is_clean & is_newer, NEWER)
        .when(is_clean & is_older, OLDER)
        .when(is_clean & is_same, SAME)
        .otherwise(UNSURE)
    )
