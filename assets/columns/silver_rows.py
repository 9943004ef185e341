"""Which rows of silver count for gold, and which wait; and how classified rows become those of silver and quarantine.

Silver keeps a row of whatever a record said: changes, but also begins, commits and notes, which name a table and change
nothing in it, range deletes that wait for a decision, and changes of tables that nothing declares.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from assets.columns.silver import KEY_TEXT
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import Feed

BETWEEN: Final = "\x1f"
"""The sign between the parts of a key in ``key_text``."""
MOST_KEYS: Final = 1_000
"""How many keys are looked for by their texts at most: of more, most pages of a file have one."""


def count_for_gold() -> Column:
    """True for a row that changes a gold table, now or at its transaction's commit."""
    return ~F.col("effect").isin(HOLD, *CONTROL) & F.col("declared").isNotNull()


def are_of(name: str, declared: str | None = None) -> Column:
    """True for the rows of one gold table that count; ``declared``: those of this declared table only.

    Changes of a table that the feed does not declare have no key, and wait, even if the name is a gold table's.
    """
    mine = (F.col("table") == name) & count_for_gold()
    return mine if declared is None else mine & (F.col("declared") == declared)


def are_held(name: str | None = None) -> Column:
    """True for range deletes that wait for a decision; ``name``: those of one gold table."""
    held = F.col("effect") == HOLD
    return held if name is None else held & (F.col("table") == name)


def with_key_text(silver: DataFrame) -> DataFrame:
    """Silver with its ``key_text``: a table that only an earlier version of Weir has written has none."""
    if KEY_TEXT in silver.columns:
        return silver
    return silver.withColumn(KEY_TEXT, F.lit(None).cast("string"))


def key_text(key: Column) -> Column:
    """The parts of a key in one text; null where one of them is, as in a table without a key."""
    has_null = F.exists(key, lambda part: part.isNull())
    return F.when(~has_null, F.array_join(key, BETWEEN))


def text_of(key: Sequence[str | None]) -> str | None:
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
        arrow = to_arrow_schema(schema, timezone="UTC")
        return as_arrow(rows, feed, pa.schema([one.with_nullable(True) for one in arrow]))

    def column(field: T.StructField) -> Column:
        if field.name == "feed":
            return F.lit(feed.name)
        if field.name == KEY_TEXT:
            return key_text(F.col("key"))
        if isinstance(field.dataType, T.TimestampType):
            return F.timestamp_micros(field.name)
        return F.col(field.name)

    return rows.select(*[column(one).alias(one.name) for one in schema.fields])


def as_arrow(rows: pa.Table, feed: Feed, schema: pa.Schema) -> pa.Table:
    """``written_rows`` in this process."""

    def cells(field: pa.Field) -> pa.ChunkedArray | pa.Array:
        if field.name == "feed":
            return pa.repeat(feed.name, rows.num_rows)
        if field.name == KEY_TEXT:
            return pc.binary_join(rows["key"].cast(pa.list_(pa.string())), BETWEEN)
        return rows[field.name].cast(field.type)

    return pa.table([cells(one) for one in schema], schema=schema)
