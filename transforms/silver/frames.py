"""The rows between silver's stages as Arrow has them: packed while shuffled and sorted, then as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final
from zlib import crc32

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from transforms.column_types.map_columns import IMAGE, NUMBERS, TEXTS, map_array
from transforms.event import Transaction
from transforms.fault import Fault
from transforms.silver import duplicates, transactions
from transforms.silver.changes import ERASED, Row
from transforms.silver.record_batches import BATCH_BYTES

PENDING: Final = pa.schema([("group", pa.binary()), ("order", NUMBERS), ("blob", pa.binary())])
"""One row per record that cannot be decoded without its neighbours, pickled in ``blob``."""

ROWS: Final = pa.schema(
    [
        *[("group", pa.binary()), ("sort_key", pa.binary()), ("shard", pa.int32())],
        *[("row", pa.binary()), ("transaction", pa.binary()), ("part", pa.binary())],
        *[("commit", NUMBERS), ("bundle", pa.binary())],
    ]
)
"""One row per change or quarantined event, before duplicates are found; or many plain ones (``plain_rows``).

``row`` is the packed ``changes.Row``, ``group`` and ``sort_key`` are the ``duplicates`` module's, ``shard`` says
which task gets it. Of an event that is part of a transaction, ``transaction`` is that one's window and name, ``part``
what it says of it (``transactions.TransactionEvent``), and ``commit`` the position of its commit, where the window
holds all of it, else empty. ``bundle`` has plain rows of one task; the other columns but ``shard`` then say nothing.
"""

CHANGES, TO_QUARANTINE, ACCOUNT = "change", "quarantined", "account"
COVERED, IN_BASE, OF_ERASED = "covered", "in base", ERASED
"""What a row of ``OUTPUT`` is: a row of silver, one of quarantine, or a part of the window's accounts.

Or a change at or below its table's compaction watermark, of which it is still open whether the base has it
(``COVERED``), and one that the base has (``IN_BASE``). Or an event of an erased key, without its key and values, where
its transaction has to know of it (``OF_ERASED``).
"""

_TRANSACTION = pa.struct(
    [
        *[("id", pa.string()), ("expected", pa.int64()), ("has_begin", pa.bool_())],
        *[("at_commit", pa.bool_()), ("commit", NUMBERS)],
    ]
)

OUTPUT: Final = pa.schema(
    [
        *[("kind", pa.string()), ("window", pa.string()), ("table", pa.string())],
        *[("source_table", pa.string()), ("declared", pa.string()), ("operation", pa.string())],
        *[("effect", pa.string()), ("key", TEXTS), ("moved_from", TEXTS), ("derived", pa.string())],
        *[(name, IMAGE) for name in ("before", "after", "attribute_ops", "scope")],
        *[("stream", pa.string()), ("transaction", _TRANSACTION), ("log_position", NUMBERS)],
        *[("dedup_prefix", pa.int32()), ("event_id", pa.string())],
        # Microseconds since 1970.
        *[("event_at", pa.int64()), ("extracted_at", pa.int64())],
        *[("object", pa.string()), ("generation", pa.string()), ("line", pa.int64())],
        *[("byte_offset", pa.int64()), ("ordinal", pa.int32())],
        *[("reason", pa.string()), ("detail", pa.string()), ("payload", pa.binary())],
        # What accounting needs of a row.
        *[("kept_as", pa.string()), ("facts", pa.string()), ("segment", pa.int64())],
        ("is_first", pa.bool_()),
    ]
)
"""One row per row of silver, per row of quarantine, and per task's accounts (their text in ``payload``).

Its columns are those of silver but for the ones that are made last (``assets.columns.silver``), and quarantine's.
"""


# A packed row is one value to Spark; as maps, its images would be taken apart and put together again at every step.

SHARDS = 1 << 20
"""Rows are shuffled to tasks by a number below this one."""


@dataclass(frozen=True, slots=True)
class Shards:
    """Which task gets a row: by window, its first shard and how many are its own; of one that is not known, all.

    ``tasks``: how many there are, among which the shards are divided evenly.

    Windows lie side by side among the tasks, each with its share of them. A task writes a file for each window of which
    it has rows: if a hash alone said where a row goes, each of a day's windows would be in every task, and silver in
    tasks times windows small files.
    """

    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    tasks: int = 1

    @classmethod
    def of(cls, records: Mapping[str, int], tasks: int = 1) -> Shards:
        """A share for each window by its number of records, in the order of time."""
        places, total, before = {}, max(1, sum(records.values())), 0
        for window in sorted(records):
            first = min(before * SHARDS // total, SHARDS - 1)
            before += records[window]
            places[window] = (first, max(1, before * SHARDS // total - first))
        return cls(places, tasks)

    def shard(self, window: str, group: bytes) -> int:
        """The shard of the rows of this window that are of one group."""
        first, count = self.places.get(window, _ALL)
        return first + crc32(group) % count

    def tasks_of(self, windows: Sequence[str], groups: Sequence[bytes]) -> NDArray[np.int64]:
        """The task of each of some rows."""
        pairs = zip(windows, groups, strict=True)
        shards = np.array([self.shard(window, group) for window, group in pairs], np.int64)
        return shards * self.tasks // SHARDS

    def first_of(self, task: int) -> int:
        """The first shard of a task."""
        return -(-task * SHARDS // self.tasks)


_ALL = (0, SHARDS)


_ROW_COST = 256
pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_FIELDS: tuple[str, ...] = Row.__match_args__
_cells = attrgetter(*_FIELDS)


def row_batches(rows: Iterable[Row], shards: Shards) -> Iterator[pa.RecordBatch]:
    """The rows in batches of bounded size, each row with its shard.

    Every quarantined event of a record carries the whole record, and a record may have thousands of events.
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
    of_rows = [row.transaction if row.fault is None else None for row in rows]
    shuffled = (
        groups,
        [duplicates.sort_key(row, group) for row, group in zip(rows, groups, strict=True)],
        [shards.shard(row.window, group) for row, group in zip(rows, groups, strict=True)],
        [pack(_cells(row)) for row in rows],
    )
    if not any(of_rows):
        return packed_batch(shuffled, None, None)
    pairs = [*zip(rows, of_rows, strict=True)]
    parts = [
        packed_part((row.event_id, row.effect, row.derived is not None, row.log_position), one)
        for row, one in pairs
    ]
    return packed_batch(shuffled, [transaction_name(row.window, one) for row, one in pairs], parts)


def packed_batch(
    cells: Sequence[Sequence[Any]],
    transactions: Sequence[bytes | None] | None,
    parts: Sequence[bytes | None] | None,
) -> pa.RecordBatch:
    """A batch of ``ROWS``; ``cells``: its first four columns."""
    count = len(cells[0])
    nothing = pa.nulls(count, pa.binary())
    named = [
        nothing if one is None else pa.array(one, pa.binary()) for one in (transactions, parts)
    ]
    # Never null: while Spark fills a batch, it goes after each row through all since the last one that has a list.
    commits = pa.array([[]] * count, NUMBERS)
    arrays = [pa.array(one, kind.type) for one, kind in zip(cells, ROWS, strict=False)]
    return pa.RecordBatch.from_arrays([*arrays, *named, commits, nothing], schema=ROWS)


def transaction_name(window: str, transaction: Transaction | None) -> bytes | None:
    """What ``transaction`` of ``ROWS`` holds of an event in a window."""
    return None if transaction is None else pack((window, transaction.id))


def packed_part(said: tuple[object, ...], transaction: Transaction | None) -> bytes | None:
    """What an event says of its transaction; ``said``: the first fields of a ``TransactionEvent``."""
    return None if transaction is None else pack((*said, *transaction[1:3]))


def transaction_part(packed: bytes) -> transactions.TransactionEvent:
    """The part of a transaction that ``part`` holds."""
    found = transactions.TransactionEvent(*_unpack(packed))
    return found._replace(log_position=tuple(found.log_position))


def unpacked(batch: pa.RecordBatch) -> list[Row]:
    """The rows of a batch of ``ROWS``; what were tuples are lists now."""
    rows = [Row(*_unpack(packed)) for packed in batch.column("row").to_pylist()]
    for row in rows:
        if row.fault is not None:
            row.fault = Fault(*row.fault)
        if row.transaction is not None:
            row.transaction = Transaction(*row.transaction)
    return rows


def output_batch(
    rows: Sequence[Row], kinds: Sequence[str], commits: Sequence[Sequence[int] | None]
) -> pa.RecordBatch:
    """Rows with the outcome (``kinds``) and the transaction's commit of each, as a batch of ``OUTPUT``."""
    cells = zip(*map(_cells, rows), strict=True) if rows else [()] * len(_FIELDS)
    columns: dict[str, Sequence[Any]] = {
        **dict(zip(_FIELDS, cells, strict=True)),
        "kind": kinds,
        "reason": [row.fault and row.fault.reason for row in rows],
        "detail": [row.fault and row.fault.detail for row in rows],
    }
    arrays = []
    for one in OUTPUT:
        values = columns[one.name]
        if pa.types.is_map(one.type):
            arrays.append(map_array(values, one.type))
        elif one.name == "transaction":
            arrays.append(_transactions(values, commits, one.type))
        else:
            arrays.append(pa.array(values, one.type))
    return pa.RecordBatch.from_arrays(arrays, schema=OUTPUT)


def _transactions(
    values: Sequence[Transaction | None],
    commits: Sequence[Sequence[int] | None],
    kind: pa.DataType,
) -> pa.Array:
    if not any(values):
        return pa.nulls(len(values), kind)
    pairs = zip(values, commits, strict=True)
    return pa.array([one and {**one._asdict(), "commit": commit} for one, commit in pairs], kind)
