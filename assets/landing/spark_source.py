"""Rows of bronze that Spark's tasks read themselves: a Python data source over what can be read in parts.

Tasks get the names of what they read; its bytes never pass through the driver.
"""

from __future__ import annotations

import base64
import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, StructField, StructType

from assets.columns import layers
from assets.executors.spark_errors import raise_clearly
from assets.storage.data_files import NewFile, WindowFiles
from transforms.errors import WeirError
from transforms.task_errors import TaskFailed

__all__ = ["RecordSource", "raise_clearly", "read_parts", "written"]

NAME = "weir_records"

Part = TypeVar("Part")

_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 16
_ROW_COST = 128


def read_parts(
    spark: SparkSession,
    parts: Sequence[Part],
    rows_of: Callable[[Part], Iterator[tuple[object, ...]]],
    into: str | None = None,
) -> DataFrame:
    """The rows of all parts (see ``layers.Bronze.spark``), each part read by ``rows_of`` in a task of its own.

    ``into``: the table below which the tasks write the rows; the frame then names but their files, for ``written``.
    Lazy: what reads the frame meets the errors of its tasks, and ``raise_clearly`` makes them Weir's own again.
    """
    plan = _Plan(rows_of, [*parts], into)
    if not parts:
        return spark.createDataFrame([], plan.schema)
    spark.dataSource.register(RecordSource)
    return spark.read.format(NAME).option("plan", plan.encoded()).load()


def written(told: DataFrame) -> list[NewFile]:
    """The files that the tasks of a frame have written, which no commit has added yet."""
    return [one for row in told.collect() for one in pickle.loads(row[0])]


_TOLD: Final = StructType([StructField("files", BinaryType())])
_UNIQUE: Final = ("line", "byte_offset", "payload", "key")


@dataclass(frozen=True, slots=True)
class _Plan:
    rows_of: Callable[[Any], Iterator[tuple[object, ...]]]
    parts: list[Any]
    into: str | None = None

    @property
    def schema(self) -> StructType:
        return layers.Bronze.spark if self.into is None else _TOLD

    def encoded(self) -> str:
        """As text, which is all that a Spark option holds."""
        pickled: bytes = cloudpickle.dumps(self)  # type: ignore[no-untyped-call]
        return base64.b64encode(zlib.compress(pickled)).decode()

    @staticmethod
    def decoded(text: str) -> _Plan:
        plan: _Plan = cloudpickle.loads(zlib.decompress(base64.b64decode(text)))
        return plan


class RecordSource(DataSource):
    """The data source ``weir_records``; its option ``plan`` is written by ``read_parts``."""

    @classmethod
    def name(cls) -> str:
        """The name it is registered by."""
        return NAME

    def schema(self) -> StructType:
        """The bronze row; or what is told of files."""
        return _Plan.decoded(self.options["plan"]).schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the plan."""
        return RecordReader(_Plan.decoded(self.options["plan"]))


class TaskPart(InputPartition):
    """What one task reads."""

    def __init__(self, part: object) -> None:
        super().__init__(None)
        self.part = part


class RecordReader(DataSourceReader):
    """Reads one part in one task."""

    def __init__(self, plan: _Plan) -> None:
        self._rows_of, self._parts, self._into = plan.rows_of, plan.parts, plan.into

    def __getstate__(self) -> dict[str, object]:
        """Without the parts: each task is handed its own."""
        return {**self.__dict__, "_parts": []}

    def partitions(self) -> Sequence[InputPartition]:
        """One per part of the plan."""
        return [TaskPart(part) for part in self._parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The part's records, in batches of bounded size; or the files that they are in now."""
        assert isinstance(partition, TaskPart)
        try:
            made = batches(self._rows_of(partition.part), layers.Bronze.spark)
            if self._into is None:
                yield from made
                return
            with WindowFiles(self._into, layers.Bronze.schema, _UNIQUE) as files:
                for batch in made:
                    files.add(pa.Table.from_batches([batch], layers.Bronze.schema))
                told = pickle.dumps(files.closed())
            yield pa.RecordBatch.from_pydict({"files": [told]})
        except WeirError as error:
            raise TaskFailed(error) from None


def batches(rows: Iterator[tuple[object, ...]], schema: StructType) -> Iterator[pa.RecordBatch]:
    """The rows in batches of a bounded number of bytes and of rows; the last row of one may go beyond the bound."""
    arrow_schema = to_arrow_schema(schema, timezone="UTC")
    batch: list[tuple[object, ...]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += _size(row)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_ROWS:
            yield _batch(batch, arrow_schema)
            batch, size = [], 0
    if batch:
        yield _batch(batch, arrow_schema)


def _size(row: tuple[object, ...]) -> int:
    """About how many bytes a row takes."""
    size = _ROW_COST
    for cell in row:
        kind = type(cell)
        if kind is bytes or kind is str:
            size += len(cell)  # type: ignore[arg-type]
        elif isinstance(cell, list):
            # The headers of a Kafka record, each a name and a value.
            for header in cell:
                size += _size(header)
    return size


def _batch(rows: list[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    cells = zip(*rows, strict=True)
    arrays = [
        pa.array(list(column), kind) for column, kind in zip(cells, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
