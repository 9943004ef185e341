"""Reading landed objects inside Spark's tasks: a Python data source that yields bronze rows.

Objects travel to the tasks by name, their bytes never pass through the driver. Not here: which objects are read
(``bronze``), what a record is (``transforms/splitting``), and what it means (``transforms/formats``).
"""

from __future__ import annotations

import base64
import heapq
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from assets.landing import LandedObject, open_landing
from transforms import errors
from transforms.errors import WeirError
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.record import BRONZE, Record
from transforms.splitting.gzip_stream import inflate, with_damage

NAME = "weir_objects"

Splitter = Callable[[bytes, Feed, str], Iterator[Record]]
"""From the inflated bytes, the feed and the object's name to its records."""

_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 16
# What an object costs beside its bytes: a request, a row. Keeps many small ones from sharing a task.
_OBJECT_COST = 64 << 10
_ROW_COST = 128
# Only the records of a topic have a key and headers.
_NO_KEY = (None, None)


def read_objects(
    spark: SparkSession,
    feed: Feed,
    objects: Sequence[LandedObject],
    *,
    split: Splitter | None = None,
) -> DataFrame:
    """One row per record of these objects (see ``BRONZE``), cut by ``split`` or else as the feed's format says.

    Lazy: what reads the frame meets the errors of its tasks, and ``raise_clearly`` makes them Weir's own again.
    """
    if not objects:
        return spark.createDataFrame([], BRONZE)
    cut = split if split is not None else FORMATS[feed.format].split
    plan = _Plan(feed, cut, packed(objects, 2 * spark.sparkContext.defaultParallelism))
    spark.dataSource.register(ObjectSource)
    return spark.read.format(NAME).option("plan", plan.encoded()).load()


def packed(objects: Sequence[LandedObject], most: int) -> list[tuple[LandedObject, ...]]:
    """The objects in at most so many parts of about equal size: the largest first, each to the lightest part."""
    parts: list[list[LandedObject]] = [[] for _ in range(min(most, len(objects)))]
    weights = [(0, at) for at in range(len(parts))]
    for one in sorted(objects, key=lambda one: (-one.size, one.name)):
        weight, at = weights[0]
        parts[at].append(one)
        heapq.heapreplace(weights, (weight + one.size + _OBJECT_COST, at))
    return [tuple(part) for part in parts]


@dataclass(frozen=True, slots=True)
class _Plan:
    feed: Feed
    split: Splitter
    parts: list[tuple[LandedObject, ...]]

    def encoded(self) -> str:
        """As text, which is all that a Spark option holds."""
        pickled: bytes = cloudpickle.dumps(self)  # type: ignore[no-untyped-call]
        return base64.b64encode(zlib.compress(pickled)).decode()

    @staticmethod
    def decoded(text: str) -> _Plan:
        plan: _Plan = cloudpickle.loads(zlib.decompress(base64.b64decode(text)))
        return plan


class ObjectSource(DataSource):
    """The data source ``weir_objects``; its option ``plan`` is written by ``read_objects``."""

    @classmethod
    def name(cls) -> str:
        """The name it is registered by."""
        return NAME

    def schema(self) -> StructType:
        """The bronze row."""
        return BRONZE

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the plan."""
        return ObjectReader(_Plan.decoded(self.options["plan"]), schema)


class ObjectPart(InputPartition):
    """The objects that one task reads."""

    def __init__(self, objects: tuple[LandedObject, ...]) -> None:
        super().__init__(None)
        self.objects = objects


class ObjectReader(DataSourceReader):
    """Reads one part in one task, through one landing."""

    def __init__(self, plan: _Plan, schema: StructType) -> None:
        self._feed, self._split, self._schema = plan.feed, plan.split, schema
        self._parts = plan.parts

    def __getstate__(self) -> dict[str, object]:
        """Without the parts: each task is handed its own."""
        return {**self.__dict__, "_parts": []}

    def partitions(self) -> Sequence[InputPartition]:
        """One per part of the plan."""
        return [ObjectPart(objects) for objects in self._parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The part's records, in batches of bounded size."""
        assert isinstance(partition, ObjectPart)
        try:
            yield from batches(self._rows(partition.objects), self._schema)
        except WeirError as error:
            raise TaskFailed(error) from None

    def _rows(self, objects: tuple[LandedObject, ...]) -> Iterator[tuple[object, ...]]:
        landing = open_landing(self._feed)
        for one in objects:
            data, generation = landing.read(one.name, one.generation)
            where = (one.window, one.name, generation)
            empty = True
            for record in records_of(self._feed, one.name, data, split=self._split):
                empty = False
                yield (
                    *where,
                    record.line,
                    record.byte_offset,
                    record.header,
                    record.payload,
                    record.defect,
                    one.modified_at,
                    *_NO_KEY,
                )
            if empty:
                yield (*where, 0, 0, None, None, None, one.modified_at, *_NO_KEY)


def records_of(feed: Feed, object_name: str, data: bytes, *, split: Splitter) -> Iterator[Record]:
    """The records of one object as it was landed, inflated first where it is gzip."""
    inflated, damage = inflate(data)
    records = split(inflated, feed, object_name)
    return records if damage is None else with_damage(records, inflated, damage)


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
