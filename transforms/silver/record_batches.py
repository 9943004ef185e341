"""Batches of bronze as records, in lists of bounded size; and pending records in groups."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from transforms.feed.erasures import is_erased
from transforms.feed.feed import Feed
from transforms.feed.paths import table_of_object
from transforms.record import BronzeRecord
from transforms.task_errors import Reading, failed_at

BATCH_BYTES = 8 << 20
"""About how many bytes of records go into one batch of rows."""


def reading_of(feed: Feed, record: BronzeRecord) -> Reading:
    """Where a record is, for a message about it."""
    return Reading(feed.name, record.object, record.line)


def records_of(feed: Feed, batch: pa.RecordBatch) -> list[BronzeRecord]:
    """The records of a batch of bronze, without the rows that mark an object as empty (``line`` 0).

    A record that a person has repaired has the payload that was decided upon (``Replacement``).
    """
    columns = [_column(batch, name) for name in _RECORD_FIELDS]
    tables = {name: table_of_object(name, feed.tables) for name in set(columns[1])}
    records = [BronzeRecord(*cells) for cells in zip(*columns, strict=True) if cells[3] > 0]
    for record in records:
        record.path_table = tables[record.object]
    if feed.decisions.replacements:
        replaced = feed.decisions.replaced()
        for record in records:
            source_location = (record.object, record.generation, record.line, record.byte_offset)
            if source_location in replaced and not is_erased(record.defect):
                record.payload, record.defect = replaced[source_location].payload, None
    return records


_RECORD_FIELDS = (
    *("window", "object", "generation", "line", "byte_offset", "header", "payload", "defect"),
    *("landed_at", "key", "headers"),
)


def _column(batch: pa.RecordBatch, name: str) -> list[Any]:
    column = batch.column(name)
    if name == "landed_at":
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    if name == "headers" and column.null_count == len(column):
        return [None] * len(column)
    values: list[Any] = column.to_pylist()
    if name == "headers":
        return [[(part["key"], part["value"]) for part in one] if one else None for one in values]
    return values


def bounded(
    feed: Feed, batches: Iterable[pa.RecordBatch], erased: list[BronzeRecord] | None = None
) -> Iterator[list[BronzeRecord]]:
    """The records of batches of bronze, in lists of bounded size.

    What is left of erased records is passed over, and added to ``erased`` for whoever counts it.
    """
    for batch in batches:
        size = batch.nbytes
        pieces = max(1, -(-size // BATCH_BYTES))
        step = max(1, -(-batch.num_rows // pieces))
        for start in range(0, batch.num_rows, step):
            records = records_of(feed, batch.slice(start, step))
            if any(is_erased(one.defect) for one in records):
                if erased is not None:
                    erased += [one for one in records if is_erased(one.defect)]
                records = [one for one in records if not is_erased(one.defect)]
            if records:
                yield records


def groups(
    feed: Feed, batches: Iterable[pa.RecordBatch]
) -> Iterator[list[tuple[BronzeRecord, Any]]]:
    """The records of each group, with what the format says of them; batches are sorted by group."""
    last: bytes | None = None
    held: list[tuple[BronzeRecord, Any]] = []
    for batch in batches:
        for group, blob in zip(
            batch.column("group").to_pylist(), batch.column("blob").to_pylist(), strict=True
        ):
            if group != last:
                if held:
                    yield held
                last, held = group, []
            try:
                held.append(pickle.loads(blob))
            except MemoryError as fault:
                if not held:
                    raise
                raise failed_at(reading_of(feed, held[0][0]), fault, len(held) + 1) from fault
    if held:
        yield held
