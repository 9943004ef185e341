"""How Spark runs a function over Arrow batches, and in how many tasks.

Put here what every stage needs of Spark, whatever it does. Not here: the functions themselves (beside this module), and
which rows they get (``silver/spark_stages``, ``gold/apply``).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

ROWS_OF_A_TASK = 250_000
"""So many rows are one task's work of sorting: a few hundred megabytes."""

SMALL = 5_000
"""So few rows are one task's work: a second one costs more than it saves."""


def tasks_for(frame: DataFrame, records: int) -> int:
    """Into how many tasks the rows of so many records are shuffled."""
    if records <= SMALL:
        return 1
    parallel = frame.sparkSession.sparkContext.defaultParallelism
    return max(parallel, -(-records // ROWS_OF_A_TASK))


def staged(
    frame: DataFrame,
    stage: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: Any,
) -> DataFrame:
    """The frame through one stage, in Spark's tasks."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Rows refer to nothing that refers to them, so that none waits for the collector, and looking through hundreds
        # of thousands of them for such as do takes a tenth of the time.
        gc.disable()
        try:
            yield from stage(batches)
        finally:
            gc.enable()

    return frame.mapInArrow(run, schema)
