"""Plain rows in the order of their sort keys, however many a task gets: what memory does not hold lies on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa

from transforms.silver.plain_rows import PLAIN, count_until, sorted_in_memory

_MOST_HELD: Final = 128 << 20
"""More than the rows of a task take (``spark.ROWS_OF_A_TASK``), unless one key has very many of them."""

_OF_SPARK: Final = "SPARK_LOCAL_DIRS"
"""The variable by which Spark tells a worker where its disks are."""


@dataclass(frozen=True, slots=True)
class SortedRuns:
    """``plain_rows.Sort`` with at most about ``most_held`` bytes of rows in memory, and a copy of some of them."""

    most_held: int = _MOST_HELD

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows in batches of bounded size, all in the order of their sort keys."""
        held: list[pa.RecordBatch] = []
        runs: list[Iterator[pa.RecordBatch]] = []
        size = 0
        with ExitStack() as stack:
            for batch in batches:
                held.append(batch)
                size += batch.nbytes
                if size > self.most_held:
                    runs.append(_on_disk(stack, held))
                    held, size = [], 0
            ordered = sorted_in_memory(held)
            yield from _merged([*runs, ordered]) if runs else ordered


def _on_disk(stack: ExitStack, held: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows that have been written in their order, as they are read again."""
    disk = os.environ.get(_OF_SPARK, "").split(",")[0] or None
    folder = stack.enter_context(TemporaryDirectory(prefix="weir-rows-", dir=disk))
    path = str(Path(folder, "run.arrow"))
    with pa.ipc.new_stream(path, PLAIN) as stream:
        for batch in sorted_in_memory(held):
            stream.write_batch(batch)
    return iter(stack.enter_context(pa.ipc.open_stream(stack.enter_context(pa.OSFile(path)))))


def _merged(runs: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """The rows of some runs in one order."""
    heads = [(run, batch) for run in runs if (batch := next(run, None)) is not None]
    while heads:
        end = min(batch["sort_key"][-1].as_py() for _, batch in heads)
        left: list[tuple[Iterator[pa.RecordBatch], pa.RecordBatch]] = []
        parts: list[pa.RecordBatch] = []
        for run, batch in heads:
            count = count_until(batch["sort_key"], end)
            parts.append(batch.slice(0, count))
            rest = batch.slice(count) if count < batch.num_rows else next(run, None)
            if rest is not None:
                left.append((run, rest))
        heads = left
        yield from sorted_in_memory(parts)
