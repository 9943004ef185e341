"""How Spark runs a function over Arrow batches, and in how many tasks."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.feed.feed import Feed
from transforms.task_failures import with_clear_errors

ROWS_OF_A_TASK = 100_000
"""How many rows one task sorts: about a hundred megabytes.

An executor with Spark's default of 1 GB ran out of memory with 250,000 rows of a few hundred bytes (five million
changes on two workers): the sort, what is kept of the tasks before, and Python's batches share its heap.
"""

SMALL = 5_000
"""Up to so many rows are sorted by a single task: a second one costs more than it saves."""

BYTES_A_ROW = 5_000
"""A row of ten columns takes a few hundred bytes while it is collected, hashed and sent: a tenth of this."""
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def tasks_for(frame: DataFrame, records: int) -> int:
    """Into how many tasks the rows of this number of records are shuffled."""
    if records <= SMALL:
        return 1
    parallel = frame.sparkSession.sparkContext.defaultParallelism
    return max(parallel, -(-records // ROWS_OF_A_TASK))


def staged(
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


def kept(frame: DataFrame) -> DataFrame:
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
    return F.broadcast(frame) if rows * BYTES_A_ROW <= in_bytes(memory) else frame


def in_bytes(size: str) -> int:
    """Spark's way to write a size (``5g``, ``512m``, ``1024mb``), in bytes; without a unit they are mebibytes."""
    text = size.strip().lower().removesuffix("b")
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1] in _UNITS else int(text) * 2**20
