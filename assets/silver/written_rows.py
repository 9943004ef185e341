"""Classified rows with exactly the columns of silver or of quarantine, once for Arrow and once for Spark.

Put here a column that is made last, of others. Not here: which columns there are (``columns/silver``), and the commits
(``commits``).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from assets.columns.silver import KEY_TEXT
from assets.columns.silver_rows import BETWEEN, key_text
from transforms.feed.feed import Feed

_TEXTS = pa.list_(pa.string())


def as_arrow(rows: pa.Table, feed: Feed, schema: pa.Schema) -> pa.Table:
    """Exactly the columns of the table."""

    def cells(field: pa.Field) -> pa.ChunkedArray | pa.Array:
        if field.name == "feed":
            return pa.repeat(feed.name, rows.num_rows)
        if field.name == KEY_TEXT:
            return pc.binary_join(rows["key"].cast(_TEXTS), BETWEEN)
        return rows[field.name].cast(field.type)

    return pa.table([cells(one) for one in schema], schema=schema)


def as_frame(rows: DataFrame, feed: Feed, schema: T.StructType) -> DataFrame:
    """Exactly the columns of the table."""

    def column(field: T.StructField) -> Column:
        if field.name == "feed":
            return F.lit(feed.name)
        if field.name == KEY_TEXT:
            return key_text(F.col("key"))
        if isinstance(field.dataType, T.TimestampType):
            return F.timestamp_micros(field.name)
        return F.col(field.name)

    return rows.select(*[column(one).alias(one.name) for one in schema.fields])
