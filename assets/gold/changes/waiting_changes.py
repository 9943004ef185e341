"""Silver's changes of a table that its own records do not describe, conformed by what other records say of it.

Not here: what that means (``transforms/silver/waiting.py``). Only where the accounts know of such changes is silver
asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from assets.arrow import in_spark
from assets.arrow.packed_rows import map_array
from assets.arrow.record_batches import told_clearly
from assets.bookkeeping import accounting
from assets.columns.silver import CHANGE, SILVER_ARROW
from assets.delta import delta_rs
from assets.lake import Lake
from assets.layers import Layer
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.silver import waiting
from transforms.silver.conforming.changes import Row

_SILVER: pa.Schema = to_arrow_schema(CHANGE, timezone="UTC")
_IMAGES = ("before", "after", "attribute_ops", "scope")


def there_are(lake: Lake, feed: Feed, table: Table, name: str) -> bool:
    """Whether some window has such changes of a table that only the stream describes."""
    if table.name in feed.tables or not FORMATS[feed.format].tells_tables:
        return False
    accounts = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    rows = accounts.rows(["declared", "source_table", "changes", "derived"], {"table": [name]})
    return any(
        row["declared"] is None
        and row["source_table"] == table.name
        and row["changes"] + row["derived"] > 0
        for row in rows
    )


def conformed(silver: DataFrame, feed: Feed, table: Table, name: str) -> DataFrame:
    """The waiting changes of one table, as if their own records described it; what does not fit goes on waiting."""
    waits = (F.col("table") == name) & (F.col("source_table") == table.name)
    counts = F.col("declared").isNull() & ~F.col("effect").isin(HOLD, *CONTROL)
    rows = silver.where(waits & counts).select(*CHANGE.names)
    return in_spark.staged(rows, Conform(feed, table), CHANGE)


def here(rows: pa.Table, table: Table, name: str, window: str) -> Iterator[pa.RecordBatch]:
    """The waiting changes of one table, whole, among the rows of a file of silver."""
    rows = delta_rs.conformed(rows, SILVER_ARROW)
    at = SILVER_ARROW.get_field_index("window")
    windows = pa.array([window] * rows.num_rows, pa.string())
    rows = rows.set_column(at, SILVER_ARROW[at], windows)
    mine = pc.and_(pc.equal(rows["table"], name), pc.equal(rows["source_table"], table.name))
    counts = pc.invert(pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL])))
    kept = pc.and_(pc.and_(pc.fill_null(mine, False), counts), pc.is_null(rows["declared"]))
    yield from rows.filter(kept).combine_chunks().to_batches()


@dataclass(frozen=True, slots=True)
class Conform:
    """Waiting changes of one table, whole, to what they are by its description; those that do not fit are left out."""

    feed: Feed
    table: Table

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of silver's rows from such."""
        conform = waiting.conformed(self.feed, self.table)
        with told_clearly(self.feed):
            for batch in batches:
                found = [(at, row) for at, one in enumerate(_rows(batch)) for row in conform(one)]
                yield _replaced(batch, found, self.table.name)


def _rows(batch: pa.RecordBatch) -> Iterator[waiting.WaitingRow]:
    times = {
        name: batch.column(name).cast(pa.int64()).to_pylist()
        for name in ("event_at", "extracted_at")
    }
    for at, row in enumerate(batch.to_pylist(maps_as_pydicts="strict")):
        yield {**row, **{name: some[at] for name, some in times.items()}}


def _replaced(
    batch: pa.RecordBatch, found: Sequence[tuple[int, Row]], declared: str
) -> pa.RecordBatch:
    """The rows of a batch with what conforming says of them."""
    kept = batch.take(pa.array([at for at, _ in found], pa.int64()))
    rows = [row for _, row in found]
    said = {
        **{name: [getattr(row, name) for row in rows] for name in ("key", "moved_from", "derived")},
        **{name: [getattr(row, name) for row in rows] for name in (*_IMAGES, "effect", "position")},
        "declared": [declared] * len(rows),
    }
    arrays = []
    for field in _SILVER:
        if field.name not in said:
            arrays.append(kept.column(field.name).cast(field.type))
        elif pa.types.is_map(field.type):
            arrays.append(map_array(said[field.name], field.type))
        else:
            arrays.append(pa.array(said[field.name], field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=_SILVER)
