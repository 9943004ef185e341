"""Bronze rows that Spark's tasks read themselves: a Python data source over anything that can be read in parts.

What is read travels to the tasks by name, its bytes never pass through the driver. Not here: what there is to read
(``object_source``, ``kafka_source``).
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from transforms import errors
from transforms.errors import WeirError
from transforms.record import BRONZE

NAME = "weir_records"

Part = TypeVar("Part")

_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 16
_ROW_COST = 128


def read_parts(
    spark: SparkSession,
    parts: Sequence[Part],
    rows_of: Callable[[Part], Iterator[tuple[object, ...]]],
) -> DataFrame:
    """The rows of all parts (see ``BRONZE``), each part read by ``rows_of`` in a task of its own.

    Lazy: what reads the frame meets the errors of its tasks, and ``raise_clearly`` makes them Weir's own again.
    """
    if not parts:
        return spark.createDataFrame([], BRONZE)
    spark.dataSource.register(RecordSource)
    return spark.read.format(NAME).option("plan", _Plan(rows_of, [*parts]).encoded()).load()


@dataclass(frozen=True, slots=True)
class _Plan:
    rows_of: Callable[[Any], Iterator[tuple[object, ...]]]
    parts: list[Any]

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
        """The bronze row."""
        return BRONZE

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the plan."""
        return RecordReader(_Plan.decoded(self.options["plan"]), schema)


class TaskPart(InputPartition):
    """What one task reads."""

    def __init__(self, part: object) -> None:
        super().__init__(None)
        self.part = part


class RecordReader(DataSourceReader):
    """Reads one part in one task."""

    def __init__(self, plan: _Plan, schema: StructType) -> None:
        self._rows_of, self._parts, self._schema = plan.rows_of, plan.parts, schema

    def __getstate__(self) -> dict[str, object]:
        """Without the parts: each task is handed its own."""
        return {**self.__dict__, "_parts": []}

    def partitions(self) -> Sequence[InputPartition]:
        """One per part of the plan."""
        return [TaskPart(part) for part in self._parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The part's records, in batches of bounded size."""
        assert isinstance(partition, TaskPart)
        try:
            yield from batches(self._rows_of(partition.part), self._schema)
        except WeirError as error:
            raise TaskFailed(error) from None


def batches(rows: Iterator[tuple[object, ...]], schema: StructType) -> Iterator[pa.RecordBatch]:
    """The rows in batches of bounded size."""
    arrow_schema = to_arrow_schema(schema, timezone="UTC")
    batch: list[tuple[object, ...]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += _ROW_COST + sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_ROWS:
            yield _batch(batch, arrow_schema)
            batch, size = [], 0
    if batch:
        yield _batch(batch, arrow_schema)


def _batch(rows: list[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    cells = zip(*rows, strict=True)
    arrays = [
        pa.array(list(column), kind) for column, kind in zip(cells, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class TaskFailed(Exception):
    """A ``WeirError`` on its way out of a task: Spark carries only text, so the error's parts are in the text."""

    def __init__(self, error: WeirError) -> None:
        parts = {"kind": type(error).__name__, "text": str(error), "parts": vars(error)}
        coded = base64.b64encode(json.dumps(parts, default=str).encode()).decode()
        super().__init__(f"{error}\nweir-error:{coded}")


_CODED = re.compile(r"weir-error:([A-Za-z0-9+/]+=*)")


@contextmanager
def raise_clearly() -> Iterator[None]:
    """Around what runs a Spark job: raises a task's ``WeirError`` as it was, without Spark's account of it."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        coded = _CODED.search(str(failure))
        if coded is None:
            raise
        raise _decoded(coded[1]) from None


def _decoded(coded: str) -> WeirError:
    told = json.loads(base64.b64decode(coded))
    kind = getattr(errors, told["kind"], WeirError)
    error: WeirError = kind.__new__(kind)
    error.args = (told["text"],)
    for name, part in told["parts"].items():
        setattr(error, name, tuple(part) if isinstance(part, list) else part)
    return error
