"""Which of silver's rows count for gold, at which position, and rows as silver and quarantine are written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets.columns.layers import KEY_TEXT, Columns
from transforms.change import CONTROL, HOLD
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed

BETWEEN: Final = "\x1f"
"""The sign between the parts of a key in ``key_text``."""

NAMED_AT_ONCE: Final = 100
"""Maximum number of values in a list by which Parquet's pages are passed over.

Spark makes a chain of it, and Java reads a chain of a thousand with so many calls within each other that it ends."""


def are_of(name: str, declared: str | None = None) -> Column:
    """True for the rows of one gold table that count; ``declared``: those of this declared table only.

    Begins, commits and notes name a table and change nothing in it. Changes of a table that the feed does not declare
    have no key, and wait, even if the name is a gold table's.
    """
    counts = ~F.col("effect").isin(HOLD, *CONTROL) & F.col("declared").isNotNull()
    mine = (F.col("table") == name) & counts
    return mine if declared is None else mine & (F.col("declared") == declared)


def are_held(name: str) -> Column:
    """True for range deletes of one gold table that wait for a decision."""
    return (F.col("effect") == HOLD) & (F.col("table") == name)


def key_text(key: Column) -> Column:
    """The parts of a key in one text; null where one of them is, as in a table without a key."""
    has_null = F.exists(key, lambda part: part.isNull())
    return F.when(~has_null, F.array_join(key, BETWEEN))


def key_text_of(key: Sequence[str | None]) -> str | None:
    """``key_text`` of a key in this process."""
    parts = [part for part in key if part is not None]
    return BETWEEN.join(parts) if len(parts) == len(key) else None


def may_be_of(texts: Collection[str | None]) -> Column:
    """False only for rows of other keys: Parquet's pages know their least and greatest text, and can be passed over."""
    known = sorted(text for text in texts if text is not None)
    found = F.col(KEY_TEXT).isNull()
    for at in range(0, len(known), NAMED_AT_ONCE):
        found |= F.col(KEY_TEXT).isin(known[at : at + NAMED_AT_ONCE])
    return found


def written_rows(
    rows: DataFrame | pa.Table, feed: Feed, columns: type[Columns]
) -> DataFrame | pa.Table:
    """Classified rows with exactly the columns of silver or of quarantine (``columns``), those made last among them."""
    if isinstance(rows, pa.Table):
        return written_in_process(rows, feed, columns.schema)

    def column(field: T.StructField) -> Column:
        if field.name == "feed":
            return F.lit(feed.name)
        if field.name == KEY_TEXT:
            return key_text(F.col("key"))
        if isinstance(field.dataType, T.TimestampType):
            return F.timestamp_micros(field.name)
        return F.col(field.name)

    return rows.select(*[column(one).alias(one.name) for one in columns.spark.fields])


def written_in_process(rows: pa.Table, feed: Feed, schema: pa.Schema) -> pa.Table:
    """``written_rows`` in this process."""

    def cells(field: pa.Field) -> pa.ChunkedArray | pa.Array:
        if field.name == "feed":
            return pa.repeat(feed.name, rows.num_rows)
        if field.name == KEY_TEXT:
            return pc.binary_join(rows["key"].cast(pa.list_(pa.string())), BETWEEN)
        return rows[field.name].cast(field.type)

    return pa.table([cells(one) for one in schema], schema=schema)


def visible_changes(changes: DataFrame, released: DataFrame | None) -> DataFrame:
    """One row per change that counts, at its position; ``is_new``: its transaction has been released by the run.

    ``changes``: rows that count for gold. ``released``: one row per complete transaction that no window holds whole,
    with ``id``, ``commit`` and ``is_new``; None where there are none.
    """
    at_once = changes.where(F.col("transaction").isNull() | F.col("transaction.commit").isNotNull())
    found = at_log_position(at_once, F.col("transaction.commit")).withColumn("is_new", F.lit(False))
    if released is None:
        return found
    joined = waiting_changes(changes).join(released, on="id")
    return found.unionByName(
        at_log_position(joined, F.col("commit")).select(*changes.columns, "is_new")
    )


def waiting_changes(changes: DataFrame) -> DataFrame:
    """The changes whose transaction no window holds whole, with its ``id``."""
    apart = changes.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    return apart.withColumn("id", F.col("transaction.id"))


def at_log_position(changes: DataFrame, commit: Column) -> DataFrame:
    """The changes, those that take effect at their commit moved to its position, in their own order."""
    moves = F.coalesce(F.col("transaction.at_commit"), F.lit(False))
    return changes.withColumn(
        "dedup_prefix",
        F.when(moves, F.col("dedup_prefix") + F.size(commit)).otherwise(F.col("dedup_prefix")),
    ).withColumn(
        "log_position",
        F.when(moves, F.concat(commit, F.col("log_position"))).otherwise(F.col("log_position")),
    )


def covered_by(
    compaction_watermark: CompactionWatermark,
    log_position: str | Column = "log_position",
    dedup_prefix: str | Column = "dedup_prefix",
) -> Column:
    """True for a change at or below the watermark, by the numbers of its position that every delivery has in common."""
    whole = F.array(*[F.lit(number) for number in compaction_watermark.log_position]).cast(
        "array<bigint>"
    )
    size = F.col(dedup_prefix) if isinstance(dedup_prefix, str) else dedup_prefix
    return F.slice(log_position, F.lit(1), size) <= F.slice(whole, F.lit(1), size)


def kept_identity() -> Column:
    """What is kept of a compacted change's ``event_id``: 16 of its 32 bytes."""
    return F.unhex(F.substring("event_id", 1, 32))
