"""Changes that waited in silver because nothing described their table yet: conformed once something does.

Silver is read for them only where the accounts say that there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from assets.columns import layers
from assets.columns.gold import IMAGES
from assets.executors import spark
from assets.storage import delta_rs
from transforms.change import CONTROL, HOLD
from transforms.column_types.map_columns import map_array
from transforms.feed.feed import Feed, Table
from transforms.silver.changes import Row
from transforms.silver.conform import WaitingRow, conform_waiting
from transforms.task_errors import with_clear_errors

_SILVER: pa.Schema = to_arrow_schema(layers.Silver.spark, timezone="UTC")


def conformed(silver: DataFrame, feed: Feed, table: Table, name: str) -> DataFrame:
    """The waiting changes of one table as its description conforms them; changes that do not fit it go on waiting."""
    waits = (F.col("table") == name) & (F.col("source_table") == table.name)
    counts = F.col("declared").isNull() & ~F.col("effect").isin(HOLD, *CONTROL)
    rows = silver.where(waits & counts).select(*layers.Silver.schema.names)
    return spark.run_staged(rows, Conform(feed, table), layers.Silver.spark)


def waiting_rows(rows: pa.Table, table: Table, name: str) -> Iterator[pa.RecordBatch]:
    """The waiting changes of one table, with all columns, among the rows of a file of silver."""
    rows = delta_rs.conformed(rows, layers.Silver.schema)
    mine = pc.and_(pc.equal(rows["table"], name), pc.equal(rows["source_table"], table.name))
    counts = pc.invert(pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL])))
    kept = pc.and_(pc.and_(pc.fill_null(mine, False), counts), pc.is_null(rows["declared"]))
    yield from rows.filter(kept).combine_chunks().to_batches()


@dataclass(frozen=True, slots=True)
class Conform:
    """A stage that conforms waiting changes of one table to its description, and leaves out those that do not fit."""

    feed: Feed
    table: Table

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of silver's rows, conformed, from batches of waiting ones with all columns."""
        conform = conform_waiting(self.feed, self.table)
        with with_clear_errors(self.feed):
            for batch in batches:
                found = [(at, row) for at, one in enumerate(_rows(batch)) for row in conform(one)]
                yield _replaced(batch, found, self.table.name)


def _rows(batch: pa.RecordBatch) -> Iterator[WaitingRow]:
    times = {
        name: batch.column(name).cast(pa.int64()).to_pylist()
        for name in ("event_at", "extracted_at")
    }
    for at, row in enumerate(batch.to_pylist(maps_as_pydicts="strict")):
        yield {**row, **{name: some[at] for name, some in times.items()}}


def _replaced(
    batch: pa.RecordBatch, found: Sequence[tuple[int, Row]], declared: str
) -> pa.RecordBatch:
    """The rows of a batch with the columns that conforming has changed."""
    kept = batch.take(pa.array([at for at, _ in found], pa.int64()))
    rows = [row for _, row in found]
    changed = {
        **{name: [getattr(row, name) for row in rows] for name in ("key", "moved_from", "derived")},
        **{
            name: [getattr(row, name) for row in rows]
            for name in (*IMAGES, "effect", "log_position")
        },
        "declared": [declared] * len(rows),
    }
    arrays = []
    for field in _SILVER:
        if field.name not in changed:
            arrays.append(kept.column(field.name).cast(field.type))
        elif pa.types.is_map(field.type):
            arrays.append(map_array(changed[field.name], field.type))
        else:
            arrays.append(pa.array(changed[field.name], field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=_SILVER)
