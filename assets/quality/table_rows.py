"""The rows of a table that Great Expectations is asked about: in this process where they are few, else by Spark.

Put here which rows those are, and how they become a frame. Not here: what is asked of them (``declared_checks``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from assets.columns.quoting import quoted
from assets.executors.in_spark import kept
from assets.lake import Lake
from assets.layers import Layer
from expectations.suites.asked import Rows
from expectations.suites.declared import ONLY_PANDAS, ONLY_SPARK
from transforms.feed.checks import DeclaredExpectation
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import key_columns

OWN: Final = "_weir_"
"""What Weir's columns of gold begin with: they are in the frame where an expectation names them."""

COORDINATES: Final = ("window", "table", "key_text", "event_id", "object", "line")
"""What tells a reader which row of silver breaks an expectation."""

OF_ALL_COLUMNS: Final = ("expect_table_column", "expect_column_to_exist", "unexpected_rows")
"""How the expectations begin that are about columns which they do not name."""

_INTEGERS: Final = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
"""Types of pandas that can be null: by default whole numbers with nulls become floating, which changes large ones."""


@contextmanager
def rows_of_gold(
    lake: Lake, feed: Feed, table: Table, name: str, asked: Sequence[DeclaredExpectation]
) -> Iterator[Rows]:
    """The rows of a gold table as it is now; they are freed when the context ends."""
    key = [one for one in key_columns(table) if not one.startswith(OWN)]
    with _rows(lake, (Layer.GOLD, feed.name, name), None, key, asked) as rows:
        yield rows


@contextmanager
def rows_of_silver(
    lake: Lake, feed: Feed, windows: Sequence[str], asked: Sequence[DeclaredExpectation]
) -> Iterator[Rows]:
    """The changes of these windows; they are freed when the context ends."""
    with _rows(lake, (Layer.SILVER, feed.name, None), windows, COORDINATES, asked) as rows:
        yield rows


def version_of_gold(lake: Lake, feed: Feed, name: str) -> int:
    """The number of the table's newest commit; -1 where there is no such table."""
    return lake.in_process_table(Layer.GOLD, feed.name, name).version


@contextmanager
def _rows(
    lake: Lake,
    place: tuple[Layer, str, str | None],
    windows: Sequence[str] | None,
    key: Sequence[str],
    asked: Sequence[DeclaredExpectation],
) -> Iterator[Rows]:
    table = lake.in_process_table(*place)
    wanted = wanted_columns(table.schema, key, asked)
    types = {one.name: one.dataType.simpleString() for one in from_arrow_schema(wanted).fields}
    where = None if windows is None else {"window": windows}
    files = table.files(where)
    kinds = {one.kind for one in asked}
    sizes = sum(one.size for one in files), sum(one.rows for one in files)
    fits = lake.choice.fits_in_process(*sizes)
    if (fits and not kinds & ONLY_SPARK) or kinds <= ONLY_PANDAS:
        yield Rows(
            table.read(wanted, where).to_pandas(types_mapper=_INTEGERS.get), False, types, [*key]
        )
        return
    frame = lake.table(*place).read()
    if windows is not None:
        frame = frame.where(F.col("window").isin(*windows))
    # Great Expectations asks for several jobs: what it is asked about is read once.
    once = kept(frame.select(*(quoted(one) for one in wanted.names)))
    try:
        yield Rows(once, True, types, [*key])
    finally:
        once.unpersist()


def wanted_columns(
    stored: pa.Schema, key: Sequence[str], asked: Sequence[DeclaredExpectation]
) -> pa.Schema:
    """The columns of the frame: of the key, those named, and all others where the table's columns are asked for."""
    named = [
        one for one in stored if one.name in key or any(one.name in _named(each) for each in asked)
    ]
    # Rows without any column could not be counted.
    if named and not any(one.kind.startswith(OF_ALL_COLUMNS) for one in asked):
        return pa.schema(named)
    return pa.schema([one for one in stored if one in named or _is_shown(one)])


def _is_shown(column: pa.Field) -> bool:
    """Whether it holds single values and is none of Weir's own: lists and maps cannot be sorted, counted or shown."""
    return not column.name.startswith(OWN) and not pa.types.is_nested(column.type)


def _named(one: DeclaredExpectation) -> str:
    """All that is written in an expectation, as one text in which its columns stand."""
    return f"{one.column} {one.arguments}"
