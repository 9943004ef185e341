"""Which of several deliveries of one event counts, and two events that claim one position and differ.

First is the smallest position (replicas of one Cassandra mutation differ in it), then the smallest source location.
Rows come in the order of ``sort_key``, so that all deliveries of an event are neighbours. Repeats of another window's
events are counted by gold, and repeats of compacted events by the stage ``JudgeCovered``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transforms.record import BronzeRecord
from transforms.silver.changes import CHANGE, Key, Row

_HALF: Final = 2**63
_END: Final = b"\0\0"
_MARKED: Final = 0x0101
"""Two bytes of 1: a number follows, and it is not null."""


def group_key(row: Row) -> bytes:
    """Bytes that are the same for all deliveries of one event: its window, table and key.

    A row without a key has its event in place of it, so that such rows do not all end in one group.
    """
    if row.key is None and row.event_id is None:
        return (
            _of_table(row.window, row.table) + b"\3" + _text(row.object) + _number(row.byte_offset)
        )
    return group_of(row.window, row.table, row.key, row.event_id)


def group_of(window: str, table: str | None, key: Key | None, event_id: str | None) -> bytes:
    """``group_key`` of a row that has one or the other."""
    if key is None:
        return _of_table(window, table) + b"\2" + _text(event_id)
    return b"".join((_of_table(window, table), b"\1", *map(_text, key)))


def sort_key(row: Row, group: bytes) -> bytes:
    """Bytes that sort as rows are to be sorted: by group, then position, time and source location."""
    return sort_bytes(group, row.log_position or (), row.event_at, row, row.ordinal)


def sort_bytes(
    group: bytes,
    log_position: Sequence[int | None],
    event_at: int | None,
    found: Row | BronzeRecord,
    ordinal: int = 0,
) -> bytes:
    """``sort_key`` of the row of a group; ``found``: what says where it was found."""
    place = _numbers((found.line, found.byte_offset, ordinal))
    name = _of_object(found.object, found.generation)
    return b"".join(
        (group, b"\0", _numbers(log_position), b"\0", _numbers((event_at,)), name, place)
    )


def groups_of(
    windows: Sequence[str], table: str | None, keys: Sequence[Key | None], event_ids: Sequence[str]
) -> pa.Array:
    """``group_of`` many rows of a table, whose keys have the same number of parts."""
    try:
        columns: list[tuple[str, ...]] = [*zip(*cast("Any", keys), strict=True)]
        is_simple = len({*windows}) == 1 and not any("\0" in "".join(one) for one in columns)
    except TypeError:
        # A key or a part of one is null.
        is_simple = False
    if not is_simple:
        cells = zip(windows, keys, event_ids, strict=True)
        found = [group_of(window, table, key, event_id) for window, key, event_id in cells]
        return pa.array(found, pa.binary())
    parts: list[Any] = []
    waiting = _of_table(windows[0], table) + b"\1"
    for column in columns:
        texts = pa.array(column, pa.string()).cast(pa.binary())
        parts += (pa.scalar(waiting + b"\1", pa.binary()), texts)
        waiting = _END
    if not columns:
        return pa.array([waiting] * len(keys), pa.binary())
    return _joined(*parts, pa.scalar(waiting, pa.binary()))


def sort_keys(
    groups: pa.Array,
    log_positions: NDArray[np.int64],
    event_at: Sequence[int | None],
    found: Sequence[BronzeRecord],
) -> pa.Array:
    """``sort_bytes`` of many rows, each the only one of its record."""
    if None in event_at:
        cells = zip(groups.to_pylist(), log_positions.tolist(), event_at, found, strict=True)
        return pa.array([sort_bytes(*one) for one in cells], pa.binary())
    names = [_of_object(one.object, one.generation) for one in found]
    places = np.array([(one.line, one.byte_offset, 0) for one in found], np.int64)
    between = pa.scalar(b"\0", pa.binary())
    return _joined(
        *(groups, between, _rows_of_numbers(log_positions)),
        *(between, _rows_of_numbers(np.array(event_at, np.int64).reshape(-1, 1))),
        *(pa.array(names, pa.binary()), _rows_of_numbers(places)),
    )


def _joined(*parts: Any) -> pa.Array:
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.binary()))


def _rows_of_numbers(numbers: NDArray[np.int64]) -> pa.Array:
    """``_numbers`` of each row of a matrix."""
    count, size = numbers.shape
    cells = np.empty((count, size), [("mark", ">u2"), ("number", ">u8")])
    cells["mark"] = _MARKED
    cells["number"] = numbers.astype(np.uint64) ^ np.uint64(_HALF)
    kind, whole = pa.binary(cells.itemsize * size), pa.py_buffer(cells.tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(kind, count, [None, whole]).cast(pa.binary())


@lru_cache(maxsize=1024)
def _of_table(window: str, table: str | None) -> bytes:
    return _text(window) + _text(table)


@lru_cache(maxsize=1024)
def _of_object(name: str, generation: str) -> bytes:
    return _text(name) + _text(generation)


def _text(text: str | None) -> bytes:
    if text is None:
        return b"\0"
    raw = text.encode("utf-8", "surrogatepass")
    return b"\1" + (raw.replace(b"\0", b"\0\xff") if b"\0" in raw else raw) + _END


def _numbers(numbers: Sequence[int | None]) -> bytes:
    """Each number with a mark before it, so that fewer numbers come before more of them."""
    try:
        if len(numbers) == 1:
            return _ONE(_MARKED, numbers[0] + _HALF)  # type: ignore[operator]
        marked = [_MARKED] * (2 * len(numbers))
        marked[1::2] = [number + _HALF for number in numbers]  # type: ignore[operator]
        return _packer(len(numbers))(*marked)
    except (TypeError, struct.error):
        # One of them is null, or beyond 64 bits.
        return b"".join([b"\1" + _number(number) for number in numbers])


_ONE: Final = struct.Struct(">HQ").pack


@cache
def _packer(count: int) -> Callable[..., bytes]:
    return struct.Struct(">" + "HQ" * count).pack


def _number(number: int | None) -> bytes:
    """64 bits that sort as the number; null comes first."""
    if number is None:
        return b"\0"
    return b"\1" + (min(max(number, -_HALF), _HALF - 1) + _HALF).to_bytes(8, "big")


class Deliveries:
    """Finds rows that deliver an event again; rows are asked about in the order of their sort keys.

    All deliveries of an event agree in the dedup prefix of its position. So only the events of the prefixes at hand
    are remembered, and a key may have any number of them.
    """

    def __init__(self) -> None:
        self._group: bytes | None = None
        self._seen: dict[int, tuple[Sequence[int], set[str]]] = {}

    def is_repeat(self, group: bytes, event_id: str, prefix: Sequence[int]) -> bool:
        """True where the group had the event already; ``prefix`` is the stable part of its position."""
        if group != self._group:
            self._group = group
            self._seen = {}
        known = self._seen.get(len(prefix))
        if known is None or known[0] != prefix:
            self._seen[len(prefix)] = (prefix, {event_id})
            return False
        if event_id in known[1]:
            return True
        known[1].add(event_id)
        return False


# Conflicts: two events of one key and one operation that claim one log position, and say different things.
# An event's identity is a digest of its log position and its content, so that an altered copy of an event is another
# event. It shows by its log position. Not all that shares one is in conflict: a transaction that has only one
# position may change a row several times. Each change then begins with what the one before it left; so two updates
# contradict each other where both know all old values, and know the same ones, and two inserts where nothing stands
# between them. Rows of snapshots have no log position of their own.


CONFLICT: Final = "conflicting_payload"
"""What such an event is counted as among an account's warnings."""

_INSERT, _DELETE = "insert", "delete"
_SNAPSHOT = 0


class Conflicts:
    """Finds events that contradict the one before them; rows are asked about in the order of their sort keys."""

    def __init__(self) -> None:
        self._group: bytes | None = None
        self._before: Row | None = None

    def other_of(self, group: bytes, row: Row) -> Row | None:
        """The event that the row contradicts, if it is the last that was asked about; the row repeats no event."""
        before = self._before if group == self._group else None
        self._group, self._before = group, row
        if before is None or before.log_position != row.log_position or not _has_log_position(row):
            return None
        same = before.operation == row.operation and row.kept_as == before.kept_as == CHANGE
        return before if same and _says_other(before, row) else None


def _has_log_position(row: Row) -> bool:
    """Whether the row is of a key, and stands somewhere in the log."""
    log_position = row.log_position or ()
    return row.key is not None and len(log_position) > 2 and log_position[1] != _SNAPSHOT


def _says_other(one: Row, other: Row) -> bool:
    if one.operation == _INSERT:
        return one.after != other.after
    knows_all = min(len(one.before), len(other.before)) > len(one.key or ())
    if one.operation == _DELETE:
        return knows_all and one.before != other.before
    return knows_all and one.before == other.before and one.after != other.after


def conflict_in_words(one: Row, other: Row) -> str:
    """Where both stand."""
    key = ", ".join("null" if part is None else part for part in one.key or ())
    positions = [f"{row.object} line {row.line}" for row in (one, other)]
    return f"{one.table}, key {key}: {positions[0]} and {positions[1]} say different things of one {one.operation}"
