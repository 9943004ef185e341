"""Plain rows that silver keeps, counted by columns: accounts become what each row by itself would make of them."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transforms.change import BEFORE_ALL_FILES, BY_OFFSET, IN_FILE, STREAM
from transforms.silver.accounting import AccountKey, Accounts, AccountSums
from transforms.silver.changes import CHANGE
from transforms.silver.trails import SHORTEST, Point, TrailKey, outermost

Numbers: TypeAlias = NDArray[np.int64]

_ALIKE: Final = (
    *("window", "table", "source_table", "declared", "operation", "kept_as", "facts"),
    *("stream", "dedup_prefix"),
)
"""What is the same in rows that are counted together; so is how many numbers their positions have."""


def count_plain(accounts: Accounts, rows: pa.RecordBatch) -> None:
    """Count rows that silver keeps, of which no other row is a delivery of the same event.

    Rows whose position is by offset within a log file are none of these.
    """
    if not rows.num_rows:
        return
    lengths = np.diff(rows["log_position"].offsets.to_numpy())
    numbers, cells = lengths.astype(np.int64), []
    for name in _ALIKE:
        coded = rows[name].dictionary_encode(null_encoding="encode")
        values = coded.dictionary.to_pylist()
        cells.append((coded.indices.to_numpy(), values))
        numbers = numbers * len(values) + coded.indices.to_numpy()
    _, firsts, parts = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts))
    start = 0
    for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
        said = dict(zip(_ALIKE, (values[codes[first]] for codes, values in cells), strict=True))
        places = order[start:end]
        start = end
        _count(accounts, said, _Columns(rows, places, int(lengths[first])))


class _Columns:
    """Some of the rows of a batch that are alike."""

    def __init__(self, rows: pa.RecordBatch, places: Numbers, length: int) -> None:
        some = rows if len(places) == rows.num_rows else rows.take(pa.array(places))
        flat = some["log_position"].flatten().to_numpy(zero_copy_only=False)
        self.log_positions: Numbers = flat.reshape(-1, length)
        self.event_ids = some["event_id"]
        self.has_time, self.event_at = _filled(some["event_at"])
        self.was_read, self.read = _filled(some["extracted_at"])
        self.has_segment, self.segments = _filled(some["segment"])


def _filled(column: pa.Array) -> tuple[NDArray[np.bool_], Numbers]:
    """Which of some numbers there are, and the numbers, 0 in place of those that are missing."""
    has = column.is_valid().to_numpy(zero_copy_only=False)
    return has, pc.fill_null(column, 0).to_numpy(zero_copy_only=False)


def _count(accounts: Accounts, said: dict[str, Any], some: _Columns) -> None:
    sums = accounts.of[
        AccountKey(said["window"], said["table"], said["source_table"], said["declared"])
    ]
    kept_as, prefix = said["kept_as"], said["dedup_prefix"]
    sums.counts[kept_as, said["facts"], True] += len(some.log_positions)
    if said["stream"] is not None:
        sums.note_stream(said["stream"])
    if kept_as != CHANGE:
        return
    if some.has_time.any():
        sums.note_time(int(some.event_at[some.has_time].max()))
    stable = some.log_positions[:, :prefix]
    sums.note_position(_least(stable, 1))
    sums.note_position(_least(stable, -1))
    _note_segments(sums, some)
    if said["operation"] != "read" and some.log_positions.shape[1] >= SHORTEST:
        _note_trails(sums, said["stream"], prefix, some)


def _least(rows: Numbers, sign: int) -> tuple[int, ...]:
    """The least of some rows of numbers; the greatest, where the sign is -1."""
    found = rows
    for at in range(rows.shape[1]):
        column = found[:, at]
        found = found[column == (column.min() if sign > 0 else column.max())]
    return tuple(found[0].tolist())


def _note_segments(sums: AccountSums, some: _Columns) -> None:
    """Of each log file the newest change, and of several of that time the one that was read first."""
    counts = some.has_segment & some.has_time
    if not counts.any():
        return
    where = np.stack((some.log_positions[:, 0], some.segments), axis=1)
    for epoch, segment in np.unique(where[counts], axis=0).tolist():
        mine = counts & (where == (epoch, segment)).all(axis=1)
        made = some.event_at[mine].max()
        newest = mine & (some.event_at == made) & some.was_read
        read = int(some.read[newest].min()) if newest.any() else None
        sums.note_segment(epoch, segment, int(made), read)


def _note_trails(sums: AccountSums, stream: str | None, prefix: int, some: _Columns) -> None:
    positions = some.log_positions
    stands = some.has_time & (positions[:, 1] == STREAM)
    length = positions.shape[1]
    # As ``change.partition_of`` has it.
    by_offset = np.full(len(positions), length == BY_OFFSET)
    if length == IN_FILE:
        by_offset = positions[:, 2] == BEFORE_ALL_FILES
    parts = np.stack((positions[:, 0], by_offset, np.where(by_offset, positions[:, -1], 0)), axis=1)
    for epoch, is_by_offset, partition in np.unique(parts[stands], axis=0).tolist():
        mine = np.flatnonzero(stands & (parts == (epoch, is_by_offset, partition)).all(axis=1))
        key = TrailKey(epoch, str(partition) if is_by_offset else stream)
        stable = positions[mine, 1:prefix]
        kept = outermost(sums.trails.of.get(key), some.event_at[mine], stable)
        for at, position in zip(mine[kept].tolist(), stable[kept].tolist(), strict=True):
            read = int(some.read[at]) if some.was_read[at] else None
            event_id = cast("str", some.event_ids[at].as_py())
            sums.trails.add(key, Point(tuple(position), int(some.event_at[at]), read, 0, event_id))
