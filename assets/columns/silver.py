"""The columns of silver and quarantine, for Spark and for Arrow."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

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
Parquet's statistics let a reader of a few keys skip most of the file (``silver_rows.may_be_of``). Null where a part of
the key is null, and in files that an earlier version of Weir wrote.
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


def _nullable(fields: list[T.StructField]) -> T.StructType:
    return T.StructType([T.StructField(one.name, one.dataType, True) for one in fields])


def _arrow(schema: T.StructType) -> pa.Schema:
    arrow: pa.Schema = to_arrow_schema(schema, timezone="UTC")
    return arrow


SILVER, QUARANTINE_ROWS = CHANGE, QUARANTINE
SILVER_ARROW = _arrow(_nullable(CHANGE.fields))
QUARANTINE_ARROW = _arrow(_nullable(QUARANTINE.fields))
