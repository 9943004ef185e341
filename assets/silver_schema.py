"""The columns of the tables around silver, and of the frames between its stages, for Spark and for Arrow.

Not here: what they mean (``transforms/change.py``, ``transforms/silver/changes.py``).
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from transforms.change import CHANGE, QUARANTINE

CHANGES, REFUSED, ACCOUNT = "change", "refused", "account"
COVERED, IN_BASE = "covered", "in base"
"""What a row of ``OUTPUT`` is: a row of silver, one of quarantine, or a part of the window's accounts.

Or a change at or below its table's horizon, of which it is still to be told whether the base has it (``COVERED``), and
one that the base has (``IN_BASE``).
"""


def _nullable(fields: list[T.StructField]) -> T.StructType:
    return T.StructType([T.StructField(one.name, one.dataType, True) for one in fields])


_MICROSECONDS = ("event_at", "extracted_at")
_OF_CHANGE = [
    T.StructField(one.name, T.LongType() if one.name in _MICROSECONDS else one.dataType)
    for one in CHANGE.fields
    if one.name != "feed"
]
"""Silver's columns but the feed's name, which all rows share; moments are microseconds since 1970 until the last."""

_REASON = [
    T.StructField("reason", T.StringType()),
    T.StructField("detail", T.StringType()),
    T.StructField("payload", T.BinaryType()),
]

_COUNTED = [
    T.StructField("tally", T.StringType()),
    T.StructField("facts", T.StringType()),
    T.StructField("segment", T.LongType()),
    T.StructField("is_first", T.BooleanType()),
]
"""What accounting needs of a row."""

ROWS_SCHEMA = _nullable(
    [
        *_OF_CHANGE,
        *_REASON,
        *_COUNTED,
        T.StructField("group", T.BinaryType()),
        T.StructField("sort_key", T.BinaryType()),
        T.StructField("shard", T.IntegerType()),
    ]
)
"""One row per change or refused event, before repeats are told apart (``transforms/silver/changes.Row``)."""

PENDING_SCHEMA = _nullable(
    [
        T.StructField("group", T.BinaryType()),
        T.StructField("order", T.ArrayType(T.LongType())),
        T.StructField("shard", T.IntegerType()),
        T.StructField("blob", T.BinaryType()),
    ]
)
"""One row per record that its neighbours decide about."""

OUTPUT_SCHEMA = _nullable([T.StructField("kind", T.StringType()), *_OF_CHANGE, *_REASON, *_COUNTED])
"""What becomes of a window: silver's rows, quarantine's, and accounts (their text in ``payload``)."""


def _arrow(schema: T.StructType) -> pa.Schema:
    arrow: pa.Schema = to_arrow_schema(schema, timezone="UTC")
    return arrow


ROWS, PENDING, OUTPUT = _arrow(ROWS_SCHEMA), _arrow(PENDING_SCHEMA), _arrow(OUTPUT_SCHEMA)
"""The same for Arrow."""

SILVER, REFUSALS = CHANGE, QUARANTINE
