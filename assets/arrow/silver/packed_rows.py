"""Rows on their way to silver as Arrow batches: packed while Spark shuffles and sorts them, and then as columns.

A packed row is one value to Spark; as maps, its images would be taken apart and put together again at every step. Put
here how rows are packed and unpacked. Not here: what a row is (``transforms/silver/conforming/changes.py``), the stages
that give and take them (``silver_stages``, ``pending_stages``), and rows as columns (``output_rows``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa

from assets.arrow.record_batches import BATCH_BYTES
from assets.arrow.silver.shards import Shards
from assets.columns.silver import ROWS
from transforms.event import Transaction
from transforms.fault import Fault
from transforms.silver import duplicates, transactions
from transforms.silver.conforming.changes import Row

_ROW_COST = 256
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_FIELDS: tuple[str, ...] = Row.__match_args__
_cells = attrgetter(*_FIELDS)


def row_batches(rows: Iterable[Row], shards: Shards) -> Iterator[pa.RecordBatch]:
    """The rows in batches of bounded size, each row with its shard.

    Every refused event of a record carries the whole record, and a record may have thousands of events.
    """
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += _ROW_COST + (0 if row.payload is None else len(row.payload))
        if size >= BATCH_BYTES:
            yield row_batch(batch, shards)
            batch, size = [], 0
    if batch:
        yield row_batch(batch, shards)


def row_batch(rows: Sequence[Row], shards: Shards) -> pa.RecordBatch:
    """The rows as a batch of ``ROWS``."""
    groups = [duplicates.group_key(row) for row in rows]
    waiting = [_is_part(row) for row in rows]
    columns: dict[str, Sequence[Any]] = {
        "group": groups,
        "sort_key": [
            duplicates.sort_key(row, group) for row, group in zip(rows, groups, strict=True)
        ],
        "shard": [shards.shard(row.window, group) for row, group in zip(rows, groups, strict=True)],
        "row": [_pack(_cells(row)) for row in rows],
        "transaction": [
            _pack((row.window, row.transaction and row.transaction.id)) if is_part else None
            for row, is_part in zip(rows, waiting, strict=True)
        ],
        "part": [
            _pack(_part_of(row)) if is_part else None
            for row, is_part in zip(rows, waiting, strict=True)
        ],
        "commit": [None] * len(rows),
    }
    arrays = [pa.array(columns[one.name], one.type) for one in ROWS]
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def _is_part(row: Row) -> bool:
    return row.transaction is not None and row.fault is None


def _part_of(row: Row) -> transactions.TransactionEvent:
    transaction, event_id = row.transaction, row.event_id
    assert transaction is not None and event_id is not None  # it is a part
    position: Any = row.position
    is_derived = row.derived is not None
    return transactions.TransactionEvent(
        event_id, row.effect, is_derived, position, transaction.expected, transaction.has_begin
    )


def part_of(packed: bytes) -> transactions.TransactionEvent:
    """The part of a transaction that ``part`` holds."""
    event_id, effect, is_derived, position, *counts = _unpack(packed)
    return transactions.TransactionEvent(event_id, effect, is_derived, tuple(position), *counts)


def unpacked(batch: pa.RecordBatch) -> list[Row]:
    """The rows of a batch of ``ROWS``; what were tuples are lists now."""
    rows = [Row(*_unpack(packed)) for packed in batch.column("row").to_pylist()]
    for row in rows:
        if row.fault is not None:
            row.fault = Fault(*row.fault)
        if row.transaction is not None:
            row.transaction = Transaction(*row.transaction)
    return rows
