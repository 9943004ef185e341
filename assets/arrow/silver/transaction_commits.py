"""The commits of transactions that one window holds whole, over Arrow batches.

Put here how parts of a transaction come together in a task. Not here: when a transaction is whole
(``transforms/silver/transactions.py``), and those that several windows hold (``assets/bookkeeping``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import pyarrow as pa

from assets.arrow.silver.packed_rows import part_of
from transforms.silver import transactions

_BATCH_ROWS = 5_000


def commits(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per transaction that its window holds whole: ``transaction`` and ``commit``.

    Takes ``transaction`` and ``part`` of ``ROWS``, sorted by the first.
    """
    found: list[tuple[bytes, list[int]]] = []
    for packed, parts in groupby(_parts(batches), key=lambda one: one[0]):
        commit = transactions.commit_of(part_of(part) for _, part in parts)
        if commit is not None:
            found.append((packed, list(commit)))
        if len(found) >= _BATCH_ROWS:
            yield _commit_batch(found)
            found = []
    if found:
        yield _commit_batch(found)


def _commit_batch(found: Sequence[tuple[bytes, list[int]]]) -> pa.RecordBatch:
    columns = {"transaction": [one[0] for one in found], "commit": [one[1] for one in found]}
    return pa.RecordBatch.from_pydict(columns, schema=_COMMITS)


_COMMITS = pa.schema([("transaction", pa.binary()), ("commit", pa.list_(pa.int64()))])


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
    for batch in batches:
        cells = (batch.column(name).to_pylist() for name in ("transaction", "part"))
        yield from zip(*cells, strict=True)
