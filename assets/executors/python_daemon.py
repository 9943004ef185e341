"""Starts the Python workers of Spark's tasks, in place of ``pyspark.daemon``: they have Weir imported when they start.

Spark starts one such process for each executor, which forks off a worker for each task that runs at once. By itself
every worker imports what its tasks need, which takes it a second of CPU. Here that happens once, before they are
forked.

Vendor: Spark's setting ``spark.python.daemon.module``.
"""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

STAGES: Final = (
    *("pyspark.worker", "pyarrow.parquet", "transforms.formats", "transforms.silver.stages"),
    *("transforms.gold.fold_rows", "transforms.gold.newest", "assets.landing.read_objects"),
    *("assets.landing.spark_source", "assets.silver.files", "assets.executors.spark"),
)
"""What nearly every task imports."""


def prepare(modules: Sequence[str] = STAGES) -> None:
    """Import what workers need, with no thread that they would lack once they are forked.

    What cannot be imported is left to the worker whose task needs it: its error then names the task.
    """
    # Tasks multiply no matrices, and each thread of the library that does is one more that a worker has not.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for one in modules:
        with suppress(Exception):
            importlib.import_module(one)
    # Pages that the collector does not touch stay shared.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark.daemon import manager

    prepare()
    manager()
