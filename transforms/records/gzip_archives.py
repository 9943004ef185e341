"""Inflating a landed object as far as the limit allows, and which records are in doubt where it is damaged.

Gzip is recognised by its magic bytes, never by the object's extension.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO

from transforms.record import DEFAULT_LIMITS, Limits, Record

MAGIC = b"\x1f\x8b"

TRUNCATED = "truncated gzip"
CORRUPT = "corrupt gzip"
TRAILING = "trailing bytes after gzip"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_FIRST_PIECE, _LARGEST_PIECE = 1 << 10, 1 << 16
_SHOWN = 4_000


def inflate(data: bytes, most: int = DEFAULT_LIMITS.largest_object) -> tuple[bytes, str | None]:
    """The inflated bytes of every member, with a sentence on the damage if there is any.

    If they exceed ``most`` bytes, reading stops soon after: slightly more than ``most`` bytes are returned, and damage
    after them is not reported.
    """
    if not data.startswith(MAGIC):
        return data, None
    # It hands out what was written without another copy of it.
    sink = BytesIO()
    start = 0
    while start < len(data) and sink.tell() <= most:
        if not data.startswith(MAGIC, start):
            # Tape-minded writers pad with zeros; gzip itself ignores them.
            if data.count(b"\0", start) == len(data) - start:
                break
            return sink.getvalue(), (
                f"{TRAILING}: {len(data) - start} bytes after the last member are no gzip"
            )
        start, defect = _inflate_member(data, start, sink, most)
        if defect is not None:
            return sink.getvalue(), defect
    return sink.getvalue(), None


def _inflate_member(data: bytes, start: int, sink: BytesIO, most: int) -> tuple[int, str | None]:
    """Where the member ends that begins at ``start``, or what is wrong with it."""
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    # A member may be short: of each piece zlib copies what is left of it.
    position, size = start, _FIRST_PIECE
    while position < len(data) and not inflater.eof:
        piece = data[position : position + size]
        try:
            sink.write(inflater.decompress(piece))
        except zlib.error as error:
            sink.write(_rescue(data, start, range(position, position + len(piece))))
            return len(data), f"{CORRUPT}: {error} (member at byte {start})"
        if sink.tell() > most:
            return len(data), None
        position += len(piece) - len(inflater.unused_data)
        size = min(size * 4, _LARGEST_PIECE)
    if inflater.eof:
        return position, None
    cut = f"{TRUNCATED}: the data ends after {len(data)} bytes, inside the member at byte {start}"
    return len(data), cut


def _rescue(data: bytes, start: int, failed: range) -> bytes:
    """What the failed piece still gives: zlib drops a call's output when that call fails."""
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    for position in range(start, failed.start, _LARGEST_PIECE):
        inflater.decompress(data[position : min(position + _LARGEST_PIECE, failed.start)])
    rescued: list[bytes] = []
    try:
        for position in failed:
            rescued.append(inflater.decompress(data[position : position + 1]))
    except zlib.error:
        pass
    return b"".join(rescued)


def too_large(data: bytes, limits: Limits) -> Record:
    """The one record of an object that is larger than it may be, landed or inflated: how it begins, and no more."""
    beginning, _ = inflate(data[:_LARGEST_PIECE], _SHOWN)
    most = limits.largest_object
    is_landed = len(data) > most or not data.startswith(MAGIC)
    fault = f"the object {'has' if is_landed else 'inflates to'} more than {most:,} bytes"
    defect = f"{fault}: nothing of it was read but its first {_SHOWN:,}"
    return Record(1, 0, beginning[:_SHOWN], defect=defect)


def with_damage(records: Iterable[Record], inflated: bytes, defect: str) -> Iterator[Record]:
    """The records of a damaged archive, those in doubt marked, and the damage itself never silent.

    Corrupt: the checksum vouches for nothing, so every record is marked. Truncated: what came before the cut is
    sound, so only a last record that touches the cut is marked; if none does, the damage is a record of its own.
    """
    is_marked = False
    for record in records:
        touches_end = record.byte_offset + len(record.payload) == len(inflated)
        if defect.startswith(CORRUPT) or (defect.startswith(TRUNCATED) and touches_end):
            is_marked = True
            also = f"; {record.defect}" if record.defect else ""
            record = replace(record, defect=f"{defect}{also}")
        yield record
    if not is_marked:
        yield Record(inflated.count(b"\n") + 1, len(inflated), b"", defect=defect)
