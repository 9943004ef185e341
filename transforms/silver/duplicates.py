"""Which of several deliveries of one event counts: within a window the one that stands first.

First is the smallest position (replicas of one Cassandra mutation differ in it), then the smallest source location.
Rows come in the order of ``sort_key``, so that all deliveries of an event are neighbours. Repeats of another window's
events are counted by gold, and repeats of compacted events by the stage ``JudgeCovered``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from transforms.silver.conforming.changes import Row

_HALF: Final = 2**63
_END: Final = b"\0\0"
_MARKED: Final = 0x0101
"""Two bytes of 1: a number follows, and it is not null."""


def group_key(row: Row) -> bytes:
    """Bytes that are the same for all deliveries of one event: its window, table and key.

    A row without a key has its event in place of it, so that such rows do not all end in one group.
    """
    parts = [_text(row.window), _text(row.table)]
    if row.key is not None:
        parts += (b"\1", *map(_text, row.key))
    elif row.event_id is not None:
        parts += (b"\2", _text(row.event_id))
    else:
        parts += (b"\3", _text(row.object), _number(row.byte_offset))
    return b"".join(parts)


def sort_key(row: Row, group: bytes) -> bytes:
    """Bytes that sort as rows are to be sorted: by group, then position, time and source location."""
    log_position = row.log_position or ()
    return b"".join(
        (
            *(group, b"\0", _numbers(log_position), b"\0", _numbers((row.event_at,))),
            *(_name(row.object), _name(row.generation)),
            _numbers((row.line, row.byte_offset, row.ordinal)),
        )
    )


def _text(text: str | None) -> bytes:
    if text is None:
        return b"\0"
    raw = text.encode("utf-8", "surrogatepass")
    return b"\1" + (raw.replace(b"\0", b"\0\xff") if b"\0" in raw else raw) + _END


_name = lru_cache(maxsize=1024)(_text)
"""The same for texts that many rows share."""


def _numbers(numbers: Sequence[int | None]) -> bytes:
    """Each number with a mark before it, so that fewer numbers come before more of them."""
    try:
        marked = [part for number in numbers for part in (_MARKED, number + _HALF)]  # type: ignore[operator]
        return _packer(len(numbers))(*marked)
    except (TypeError, struct.error):
        # One of them is null, or beyond 64 bits.
        return b"".join([b"\1" + _number(number) for number in numbers])


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


def sorted_rows(rows: Iterable[Row]) -> list[tuple[bytes, Row]]:
    """Rows in the order of their sort keys, each with its group: for callers that hold all rows in memory."""
    keyed = [(group_key(row), row) for row in rows]
    return sorted(keyed, key=lambda pair: sort_key(pair[1], pair[0]))
