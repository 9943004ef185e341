"""The newest change of each key, and what has to be known of its other changes to go by the newest alone.

Put here what Spark finds out about a key's changes without the fold. Not here: what follows when they meet gold
(``whole_images``).
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from assets.columns import types
from assets.columns.gold import EFFECT, EVENT_AT, EVENT_ID, POSITION
from assets.columns.quoting import all_quoted
from transforms.feed.feed import Table

# Declared columns may have any name that does not begin like these.
FIRST, SHORTEST = "_weir_first", "_weir_shortest"
EVENT, EVENTS = "_weir_event", "_weir_events"
IS_WHOLE, IS_MIXED = "_weir_is_whole", "_weir_is_mixed"
_ANY_MIXED, _IS_TIED, _IS_NEWEST = "_weir_any_mixed", "_weir_is_tied", "_weir_is_newest"


def newest_changes(new: DataFrame, table: Table) -> DataFrame:
    """One row per key: its newest change with typed values as gold has them, and facts about all its changes.

    ``FIRST``: the position of the oldest change. ``SHORTEST``: the least length of their positions. ``EVENT``: 1 where
    the newest change is a new event, 0 where it is an old one or follows from another event; ``EVENTS``: the sum over
    all changes. ``IS_WHOLE``: the newest change gives the whole row. ``IS_MIXED``: two changes have one position, or an
    event may come again at another position, so that the fold has to decide which one counts.
    """

    def text(name: str) -> Column:
        if name in table.key:
            return F.get("key", F.lit(table.key.index(name)))
        return F.try_element_at("after", F.lit(name))

    effect = F.col("effect")
    is_mentioned = [
        F.map_contains_key("after", F.lit(one)) for one in table.columns if one not in table.key
    ]
    is_whole = effect.isin("put", "remove") | reduce(
        Column.__and__, is_mentioned, effect == "merge"
    )
    rows = new.select(
        *[
            types.typed(text(name), kind, strictly=True).alias(name)
            for name, kind in table.columns.items()
        ],
        F.col("position").alias(POSITION),
        F.col("event_id").alias(EVENT_ID),
        F.col("event_at").alias(EVENT_AT),
        F.when(effect == "remove", "remove").otherwise("put").alias(EFFECT),
        is_whole.alias(IS_WHOLE),
        (F.col("stable_prefix") != F.size("position")).alias(IS_MIXED),
        (F.col("derived").isNull() & F.col("is_new")).cast("bigint").alias(EVENT),
    )
    by_position = Window.partitionBy(*all_quoted(table.key)).orderBy(POSITION)
    so_far = by_position.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # None of these depends on another, so that Spark goes through the rows once.
    found = rows.select(
        "*",
        F.max(IS_MIXED).over(so_far).alias(_ANY_MIXED),
        # Fewer positions than changes: two have the same.
        (F.dense_rank().over(by_position) < F.row_number().over(by_position)).alias(_IS_TIED),
        F.first(POSITION).over(so_far).alias(FIRST),
        F.min(F.size(POSITION)).over(so_far).alias(SHORTEST),
        F.sum(EVENT).over(so_far).alias(EVENTS),
        F.lead(POSITION).over(by_position).isNull().alias(_IS_NEWEST),
    )
    newest = found.where(_IS_NEWEST).withColumn(IS_MIXED, F.col(_ANY_MIXED) | F.col(_IS_TIED))
    return newest.drop(_ANY_MIXED, _IS_TIED, _IS_NEWEST)
