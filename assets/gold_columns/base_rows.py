"""Base rows: what a key is after all changes up to a horizon, in place of those changes.

Every later fold of the key begins with its base row. Not here: the horizon itself (``transforms/horizons.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.gold_columns import fold
from transforms.horizons import Horizon

HORIZON = (
    "struct<position:array<bigint>,drawn_at:timestamp,newest_window:string,declared:string,"
    "judged_by:string,added:array<string>>"
)

BASE = (
    f"table string, key array<string>, streams array<string>, state {fold.STATE}, horizon {HORIZON}"
)
"""One row per key that is present at the horizon, and one per table, without ``key``, that has the ``horizon``.

``table``: the gold table. ``streams``: those that the key's changes came from. ``state``: what the key is
(``fold.STATE``), with every column that its changes mentioned, declared or not. ``horizon.position``: up to where;
``drawn_at``: when that was decided; ``newest_window``: the newest landing window that had a change of the base;
``declared``: the feed file's name of the table; ``judged_by``: what the feed said that the base depends on, as JSON
(``compacted_past.Meaning``); ``added``: columns of gold that it had not declared.
"""


def of_folded(folded: DataFrame, streams: DataFrame, table: str) -> DataFrame:
    """``BASE`` rows of the keys that are present in ``fold.folded``'s rows; ``streams`` by ``key``."""
    last = F.struct("position", "event_id", "event_at", "is_scoped")
    state = F.struct("effect", "columns", "copies", last.alias("last")).cast(fold.STATE)
    present = folded.where(F.col("effect") != "remove").withColumn("state", state)
    return present.join(streams, on="key", how="left").select(
        F.lit(table).alias("table"),
        "key",
        F.coalesce("streams", F.array().cast("array<string>")).alias("streams"),
        "state",
        F.lit(None).cast(HORIZON).alias("horizon"),
    )


def marker(
    frame: DataFrame, table: str, horizon: Horizon, facts: Mapping[str, Column]
) -> DataFrame:
    """The one row that says up to where a table's base goes; ``facts`` are the other fields of ``HORIZON``."""
    position = F.array(*[F.lit(number) for number in horizon.position]).cast("array<bigint>")
    drawn = {"position": position, "drawn_at": F.current_timestamp(), **facts}
    names = ("position", "drawn_at", "newest_window", "declared", "judged_by", "added")
    of_horizon = F.struct(*[drawn[name].alias(name) for name in names])
    one = frame.sparkSession.range(1)
    return one.select(
        F.lit(table).alias("table"),
        F.lit(None).cast("array<string>").alias("key"),
        F.lit(None).cast("array<string>").alias("streams"),
        F.lit(None).cast(fold.STATE).alias("state"),
        of_horizon.cast(HORIZON).alias("horizon"),
    )
