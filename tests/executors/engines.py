"""The engines that are held to the contract, and rows of theirs in a form in which they can be compared."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from assets.executors.executor import Executor
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from transforms.feed.feed import Feed

PICKLED = ("carried", "clock", "row")
"""Columns of pickled values: equal values may have different bytes."""

OUT = pa.schema([("what", pa.string()), ("row", pa.string())])
Rows = Counter[str]
"""Rows in no order, each as one text, and how often each comes."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One executor, and how a table of Arrow's becomes a frame of it."""

    run: Executor[Any]
    frame: Callable[[pa.Table], Any]

    def rows(self, frames: Mapping[str, Any]) -> dict[str, Rows]:
        """The rows of some frames, by their names: all of them are computed at once."""
        parts = [self.run.staged(frame, _Texts(name)) for name, frame in frames.items()]
        found: dict[str, Rows] = {name: Counter() for name in frames}
        for one in self.run.collected(self.run.union(parts)).to_pylist():
            found[one["what"]][one["row"]] += 1
        return found


def in_process() -> Engine:
    return Engine(InProcess(), lambda rows: rows)


def in_spark(session: SparkSession) -> Engine:
    feed = Feed("contract", "model", "/nowhere")
    return Engine(InSpark(session, feed), session.createDataFrame)


@dataclass(frozen=True, slots=True)
class _Texts:
    """A stage that makes a text of each row, so that frames of different columns can be put together."""

    what: str

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return OUT

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows' texts."""
        for batch in batches:
            texts = [*rows_of(pa.Table.from_batches([batch])).elements()]
            yield pa.RecordBatch.from_arrays(
                [pa.array([self.what] * len(texts), pa.string()), pa.array(texts, pa.string())],
                schema=OUT,
            )


def rows_of(table: pa.Table) -> Rows:
    """The rows of a table, whatever the order of its columns and rows."""
    return counted(records_of(table))


def counted(records: Iterable[Mapping[str, Any]]) -> Rows:
    """Rows that are written down by hand, or were read by ``records_of``."""
    return Counter(repr(sorted(one.items())) for one in records)


def records_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, one by one: maps and structs as sorted pairs, times as microseconds, NaN as a text."""
    columns = {name: _cells(name, table[name]) for name in table.column_names}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _cells(name: str, column: pa.ChunkedArray) -> list[Any]:
    values = column.to_pylist()
    if name in PICKLED:
        # Weir's own stages have made them in this test.
        return [pickle.loads(one) if one else one for one in values]
    return [_plain(one, column.type) for one in values]


def _plain(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_map(kind):
        pairs = [(_plain(key, kind.key_type), _plain(one, kind.item_type)) for key, one in value]
        return sorted(pairs, key=repr)
    if pa.types.is_list(kind):
        return [_plain(one, kind.value_type) for one in value]
    if pa.types.is_struct(kind):
        return [(one.name, _plain(value[one.name], one.type)) for one in kind]
    if pa.types.is_timestamp(kind):
        # Spark's session gives times with its zone, which is UTC, and Arrow's tables give them with theirs.
        return ("time", value.replace(tzinfo=None).isoformat())
    # NaN does not equal itself, but its text does.
    return repr(value) if isinstance(value, float) else value


def differing(found: Rows, expected: Rows) -> str:
    """The first rows that only one of both has; empty where they are equal."""
    parts = [
        f"{name}: {(one - other).total():,} of {one.total():,} rows\n"
        + "\n".join([*(one - other)][:3])
        for name, one, other in (("only found", found, expected), ("missing", expected, found))
        if one - other
    ]
    return "\n".join(parts)
