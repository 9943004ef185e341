"""The events of transactions that no single window holds whole, ``transactions.<feed>``: found and stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from assets.delta.delta_rs import conformed
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed

OPEN = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("id", T.StringType(), False),
        T.StructField("event_id", T.StringType(), False),
        T.StructField("effect", T.StringType(), False),
        T.StructField("is_derived", T.BooleanType(), False),
        T.StructField("expected", T.LongType(), True),
        T.StructField("has_begin", T.BooleanType(), True),
        T.StructField("log_position", T.ArrayType(T.LongType()), False),
        T.StructField("event_at", T.TimestampType(), True),
    ]
)
"""One row per event of a transaction that its window does not hold whole: ``transactions.<feed>``.

``effect``, ``event_id``, ``log_position``, ``event_at`` as in ``columns.silver.CHANGE``; ``id``, ``expected`` and
``has_begin`` as in its ``transaction``.
"""

COLUMNS: pa.Schema = to_arrow_schema(OPEN, timezone="UTC")
"""``OPEN`` as an Arrow schema."""


def table_of(lake: Lake, feed: Feed) -> InProcessTable:
    """The table ``transactions.<feed>`` (``OPEN``)."""
    return lake.in_process_table(Layer.TRANSACTIONS, feed.name, columns=COLUMNS)


def read(lake: Lake, feed: Feed) -> pa.Table | None:
    """The events of all windows (``COLUMNS``); None where there are more than fit into this process."""
    table = table_of(lake, feed)
    count = table.count()
    if count and not lake.choice.fits_in_process(0, count):
        return None
    return conformed(table.read(), COLUMNS)


def without_windows(events: pa.Table, windows: Sequence[str]) -> pa.Table:
    """The events of all windows but these."""
    return events.filter(pc.invert(pc.is_in(events["window"], pa.array([*windows], pa.string()))))


def events_of(rows: DataFrame | pa.Table) -> DataFrame | pa.Table:
    """One row per event of a transaction that its window does not hold whole (``OPEN``), of these classified rows.

    Events in the base count, too: a transaction does not open again because its changes were compacted.
    """
    if isinstance(rows, pa.Table):
        return events_here(rows)
    waiting = rows.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    special: Mapping[str, Column] = {
        **{name: F.col(f"transaction.{name}") for name in ("id", "expected", "has_begin")},
        "is_derived": F.col("derived").isNotNull(),
        "event_at": F.timestamp_micros("event_at"),
    }
    return waiting.select(
        *[special.get(one.name, F.col(one.name)).alias(one.name) for one in OPEN.fields]
    )


def events_here(rows: pa.Table) -> pa.Table:
    """``events_of`` for classified rows in this process."""
    transaction = rows["transaction"].combine_chunks()
    is_open = pc.is_null(pc.struct_field(transaction, "commit"))
    waiting = rows.filter(pc.and_(pc.is_valid(transaction), is_open))
    transaction = waiting["transaction"].combine_chunks()
    special = {
        **{name: pc.struct_field(transaction, name) for name in ("id", "expected", "has_begin")},
        "is_derived": pc.is_valid(waiting["derived"]),
    }
    cells = [
        (special[one.name] if one.name in special else waiting[one.name]).cast(one.type)
        for one in COLUMNS
    ]
    return pa.table(cells, names=COLUMNS.names)


def put(
    lake: Lake, feed: Feed, events: DataFrame | pa.Table, count: int, windows: Sequence[str]
) -> pa.Table | None:
    """Replace these windows' events by ``events``, of which there are ``count``; gives them where they are here.

    Args:
        lake: the warehouse.
        feed: whose events these are.
        events: a frame, or rows in this process (``OPEN``).
        count: known from the accounts, so that nobody counts the frame.
        windows: all their rows are replaced.
    """
    if isinstance(events, DataFrame):
        if count and not lake.choice.fits_in_process(0, count):
            table = lake.table(Layer.TRANSACTIONS, feed.name)
            table.replace_windows(events, windows, partition_by=())
            return None
        events = events.toArrow() if count else COLUMNS.empty_table()
    table_of(lake, feed).replace_windows(events, windows)
    return conformed(events, COLUMNS)
