"""Stages in Spark's tasks, for tables and windows of any size, and in how many tasks they run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, BooleanType, MapType, StructField

from assets.executors.choice import SPARK
from assets.executors.executor import Ranges, Stage
from transforms.change import Key
from transforms.feed.feed import Feed
from transforms.gold.fold_rows import FOLD_ROWS
from transforms.task_errors import with_clear_errors

_FOLD_ROWS: Final = from_arrow_schema(FOLD_ROWS)
_SHARD: Final = "shard"


@dataclass(frozen=True, slots=True)
class InSpark:
    """The verbs of ``Executor`` over Spark's frames; ``feed``: whose name an error in a task has.

    ``writing``: a stage whose tasks write what another one makes into files of a table; None where Spark writes them.
    """

    session: SparkSession
    feed: Feed
    writing: Callable[[Stage], Stage] | None = None

    @property
    def name(self) -> str:
        return SPARK

    def frame_of(self, keys: Sequence[Key]) -> DataFrame:
        return self.session.createDataFrame([([*key],) for key in keys], "key array<string>")

    def union(self, frames: Sequence[DataFrame]) -> DataFrame:
        return reduce(DataFrame.unionByName, frames)

    def where(self, frame: DataFrame, column: str, value: str) -> DataFrame:
        return frame.where(F.col(column) == value)

    def select(self, frame: DataFrame, columns: dict[str, str]) -> DataFrame:
        return frame.select(*[F.col(old).alias(new) for old, new in columns.items()])

    def distinct(self, frame: DataFrame) -> DataFrame:
        return frame.distinct()

    def among(self, frame: DataFrame, keys: DataFrame, on: str, count: int | None) -> DataFrame:
        named = keys if count is None else broadcast_if_small(keys, count)
        return frame.join(named, on=on, how="left_semi")

    def without(self, frame: DataFrame, keys: DataFrame, on: str) -> DataFrame:
        return frame.join(keys, on=on, how="left_anti")

    def grouped(self, frame: DataFrame, roots: DataFrame | None) -> DataFrame:
        if roots is None:
            return frame.withColumn("group", F.col("key"))
        named = frame.drop("group").join(roots, on="key", how="left")
        whole = named.withColumn("group", F.coalesce("root", "key")).drop("root")
        return whole.select(*dict.fromkeys((*frame.columns, "group")))

    def shaped(self, frame: DataFrame, what: int | None = None) -> DataFrame:
        return shaped(frame if what is None else frame.withColumn("what", F.lit(what)))

    def together(self, frame: DataFrame, most: int | None) -> DataFrame:
        """Where ``most`` is None, Spark chooses the number of tasks by what it shuffles."""
        tasks = () if most is None else (tasks_for(frame, most),)
        # Numbers are sorted much faster than lists of texts; groups with the same number are then sorted by themselves.
        sharded = frame.withColumn(_SHARD, F.xxhash64("group")).repartition(*tasks, _SHARD)
        return sharded.sortWithinPartitions(_SHARD, "group", "what", "log_position").drop(_SHARD)

    def staged_together(self, frame: DataFrame, most: int | None, stage: Stage) -> DataFrame:
        return self.staged(self.together(frame, most), stage)

    def sorted(
        self, frame: DataFrame, by: Sequence[str], within: Sequence[str], most: int | None = None
    ) -> DataFrame:
        """Where ``most`` is None, Spark chooses the number of tasks by what it shuffles."""
        tasks = () if most is None else (tasks_for(frame, most),)
        return frame.repartition(*tasks, *by).sortWithinPartitions(*by, *within)

    def tasks(self, frame: DataFrame, most: int) -> int:
        return tasks_for(frame, most)

    def in_order(self, frame: DataFrame, by: str, ranges: Ranges) -> DataFrame:
        """Side by side, and not by a hash, so that a task of silver writes files of few windows."""
        task = F.floor(F.col(ranges.column).cast("long") * ranges.tasks / ranges.size).cast("int")
        return frame.repartitionById(ranges.tasks, task).sortWithinPartitions(by)

    def looked_up(self, frame: DataFrame, lists: DataFrame, on: str, column: str) -> DataFrame:
        found = frame.drop(column).join(lists, on=on, how="left")
        # Never null: while Spark fills a batch, it goes after each row through all since the last one that has a list.
        whole = found.withColumn(column, F.coalesce(column, F.array()))
        return whole.select(*dict.fromkeys((*frame.columns, column)))

    def containing(self, frame: DataFrame, column: str, some: Sequence[bytes]) -> DataFrame:
        return frame.where(reduce(Column.__or__, [F.contains(column, F.lit(one)) for one in some]))

    def filled(self, frame: DataFrame, column: str) -> DataFrame:
        return frame.where(F.length(column) > 0)

    def staged(self, frame: DataFrame, stage: Stage) -> DataFrame:
        return run_staged(frame, stage, from_arrow_schema(stage.schema), self.feed)

    def filed(self, frame: DataFrame, stage: Stage) -> DataFrame:
        return self.staged(frame, stage if self.writing is None else self.writing(stage))

    def kept(self, frame: DataFrame) -> DataFrame:
        return frame.localCheckpoint()

    def cached(self, frame: DataFrame) -> DataFrame:
        return kept_on_disk(frame)

    def freed(self, frame: DataFrame) -> None:
        frame.unpersist()

    def collected(self, frame: DataFrame) -> pa.Table:
        return frame.toArrow()


def shaped(rows: DataFrame) -> DataFrame:
    """The rows with exactly the columns that the tasks read (``FOLD_ROWS``): lists and maps empty and never null."""
    found = []
    for one in _FOLD_ROWS.fields:
        there = [F.col(one.name)] if one.name in rows.columns else []
        nothing = _nothing(one).cast(one.dataType)
        found.append(F.coalesce(*there, nothing).cast(one.dataType).alias(one.name))
    return rows.select(*found)


def _nothing(field: StructField) -> Column:
    """The value of a column that a kind of row does not have."""
    if isinstance(field.dataType, ArrayType):
        return F.array()
    if isinstance(field.dataType, MapType):
        return F.create_map()
    is_boolean = isinstance(field.dataType, BooleanType)
    return F.lit({"dedup_prefix": 0, "copies": 0}.get(field.name, False if is_boolean else None))


ROWS_OF_A_TASK = 100_000
"""Maximum number of rows that one task sorts: about a hundred megabytes.

An executor with Spark's default of 1 GB ran out of memory with 250,000 rows of a few hundred bytes (five million
changes on two workers): the sort, what is kept of the tasks before, and Python's batches share its heap.
"""

SMALL = 5_000
"""Maximum number of rows that a single task sorts where a second one costs more than it saves."""

BYTES_A_ROW = 5_000
"""A row of ten columns takes a few hundred bytes while it is collected, hashed and sent: a tenth of this."""
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def tasks_for(frame: DataFrame, records: int) -> int:
    """Into how many tasks the rows of this number of records are shuffled."""
    if records <= SMALL:
        return 1
    parallel = frame.sparkSession.sparkContext.defaultParallelism
    return max(parallel, -(-records // ROWS_OF_A_TASK))


def run_staged(
    frame: DataFrame,
    stage: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: Any,
    feed: Feed | None = None,
) -> DataFrame:
    """The frame that one stage makes of another, in Spark's tasks; ``feed``: the errors that leave a task name it."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Rows are in no reference cycles, so that the garbage collector finds nothing, and to look for cycles among
        # hundreds of thousands of them takes a tenth of the time.
        gc.disable()
        try:
            with nullcontext() if feed is None else with_clear_errors(feed):
                yield from stage(batches)
        finally:
            gc.enable()

    return frame.mapInArrow(run, schema)


def kept_on_disk(frame: DataFrame) -> DataFrame:
    """The frame, computed once and kept until it is unpersisted, on the executors' disks.

    Not in their memory: there, each of its parts is one large array, for which an executor with Spark's default of 1 GB
    found no room in one piece and died (five million changes, when one worker of two was lost). What is read again at
    once is in the memory of the system anyhow.
    """
    return frame.persist(StorageLevel.DISK_ONLY)


def broadcast_if_small(frame: DataFrame, rows: int) -> DataFrame:
    """The frame, to be broadcast where so many rows (``rows``, or fewer) take a small part of the driver's memory.

    Spark knows no size of a frame that was checkpointed; Weir has counted its rows. Without the hint Spark would
    shuffle all of a gold table, or all of silver, to join a few keys.
    """
    memory = frame.sparkSession.conf.get("spark.driver.memory", "1g")
    assert memory is not None  # it has a default
    return F.broadcast(frame) if rows * BYTES_A_ROW <= size_in_bytes(memory) else frame


def size_in_bytes(size: str) -> int:
    """Spark's way to write a size (``5g``, ``512m``, ``1024mb``), in bytes; without a unit they are mebibytes."""
    text = size.strip().lower().removesuffix("b")
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1] in _UNITS else int(text) * 2**20
