"""The columns of silver and quarantine, and which of silver's rows count for gold, at which position."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from transforms.change import CONTROL, HOLD
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed

TEXTS = T.MapType(T.StringType(), T.StringType(), True)
"""Column name to value as text. A name that is missing was not mentioned (absent); a null value is null."""

TRANSACTION = T.StructType(
    [
        T.StructField("id", T.StringType(), True),
        T.StructField("expected", T.LongType(), True),
        T.StructField("has_begin", T.BooleanType(), True),
        T.StructField("at_commit", T.BooleanType(), True),
        T.StructField("commit", T.ArrayType(T.LongType()), True),
    ]
)
"""Which transaction a change is part of (docs/change_model.md); ``expected`` only on its ``commit`` row.

``commit``: the position of its commit, where this window alone holds all of it; else null, and gold asks
``transactions.<feed>`` whether it is complete by now. A format's decoder leaves it null; silver's stages fill it in.
"""

KEY_TEXT = "key_text"

CHANGE = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("feed", T.StringType(), False),
        T.StructField("table", T.StringType(), True),
        T.StructField("source_table", T.StringType(), True),
        T.StructField("declared", T.StringType(), True),
        T.StructField("operation", T.StringType(), False),
        T.StructField("effect", T.StringType(), False),
        T.StructField("key", T.ArrayType(T.StringType()), True),
        T.StructField("moved_from", T.ArrayType(T.StringType()), True),
        T.StructField("derived", T.StringType(), True),
        T.StructField("before", TEXTS, False),
        T.StructField("after", TEXTS, False),
        T.StructField("attribute_ops", TEXTS, False),
        T.StructField("scope", TEXTS, True),
        T.StructField("stream", T.StringType(), True),
        T.StructField("transaction", TRANSACTION, True),
        T.StructField("log_position", T.ArrayType(T.LongType()), False),
        T.StructField("dedup_prefix", T.IntegerType(), False),
        T.StructField("event_id", T.StringType(), False),
        T.StructField("event_at", T.TimestampType(), True),
        T.StructField("extracted_at", T.TimestampType(), True),
        T.StructField("object", T.StringType(), False),
        T.StructField("generation", T.StringType(), False),
        T.StructField("line", T.LongType(), False),
        T.StructField("byte_offset", T.LongType(), False),
        T.StructField("ordinal", T.IntegerType(), False),
        T.StructField(KEY_TEXT, T.StringType(), True),
    ]
)
"""One row per change of one key, per range delete, or per control row. docs/change_model.md is the reference.

``table``: the gold table (null only on control rows); ``source_table``: the table as the stream names it,
``catalog.schema.table``; ``declared``: the feed file's name for it; of a table that it does not declare, the stream's,
where that tells the key and the types; else null.
``operation``: what the source did: insert, update, delete, replace, read (a snapshot row), truncate and so on.
``effect``: what it does to the current row: replace, update, remove, remove_if, move, increment, decrement;
begin, commit and note for control rows, hold for range deletes that wait for a decision.
``key``: the key's values as canonical text, in declared order; null where the table is not declared, and on rows of
range deletes and control rows.
``moved_from``: the old key, on the second half of a key change; ``derived``: why a change that is no event of its own
exists (``key_change``), null for the others.
``before``, ``after``: the images, absent and null kept apart; ``attribute_ops``: what is done to columns in ``after``
that are not plainly overwritten.
``scope``: of a range delete, the key columns' values that it is for (empty: the whole table); null for the others.
``stream``: the part of the source within which positions compare, and which a scope with a stream is bound to.
``log_position``: epoch, phase (0 snapshot, 1 stream), then the format's own numbers; compared element by element.
``dedup_prefix``: how many of its leading numbers are the same in every delivery of the event; replicas of a Cassandra
mutation differ in the others, and the smallest position counts.
``event_id``: the same for every delivery of one event; what a format makes it of is in the format's page in ``docs``.
``event_at``: when the source made the change; ``extracted_at``: when the extractor read it (both UTC).
``object`` to ``ordinal`` are the bronze record's source location, and which of its events this is: provenance, never
order. ``key_text``: the key's parts joined into one text. A file's rows are in the order of their keys, so that
Parquet's statistics let a reader of a few keys skip most of the file (``may_be_of``). Null where a part of
the key is null.
"""

QUARANTINE = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("feed", T.StringType(), False),
        T.StructField("table", T.StringType(), True),
        T.StructField("reason", T.StringType(), False),
        T.StructField("detail", T.StringType(), False),
        T.StructField("key", T.ArrayType(T.StringType()), True),
        T.StructField("log_position", T.ArrayType(T.LongType()), True),
        T.StructField("object", T.StringType(), False),
        T.StructField("generation", T.StringType(), False),
        T.StructField("line", T.LongType(), False),
        T.StructField("byte_offset", T.LongType(), False),
        T.StructField("payload", T.BinaryType(), True),
    ]
)
"""One row per source event that could not become a change.

``reason`` is one word for the kind of fault (``unknown_operation``), ``detail`` a sentence with what was found.
``key`` and ``log_position`` are as in ``CHANGE``, where the record says them whole.
``payload`` is the record, verbatim, so that it can be fixed and replayed; the source location says where it was.
"""


def _arrow(schema: T.StructType) -> pa.Schema:
    """The schema as this process reads and writes it: of every column there may be nulls."""
    found = to_arrow_schema(schema, timezone="UTC")
    return pa.schema([one.with_nullable(True) for one in found])


SILVER_ARROW = _arrow(CHANGE)
QUARANTINE_ARROW = _arrow(QUARANTINE)


BETWEEN: Final = "\x1f"
"""The sign between the parts of a key in ``key_text``."""
MOST_KEYS: Final = 1_000
"""Maximum number of keys that are looked for by their texts: of more, most pages of a file have one."""


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
    return F.col(KEY_TEXT).isNull() | F.col(KEY_TEXT).isin([*texts])


def written_rows(
    rows: DataFrame | pa.Table, feed: Feed, schema: T.StructType
) -> DataFrame | pa.Table:
    """Classified rows with exactly the columns of silver or of quarantine (``schema``), those made last among them."""
    if isinstance(rows, pa.Table):
        return written_in_process(rows, feed, _arrow(schema))

    def column(field: T.StructField) -> Column:
        if field.name == "feed":
            return F.lit(feed.name)
        if field.name == KEY_TEXT:
            return key_text(F.col("key"))
        if isinstance(field.dataType, T.TimestampType):
            return F.timestamp_micros(field.name)
        return F.col(field.name)

    return rows.select(*[column(one).alias(one.name) for one in schema.fields])


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
