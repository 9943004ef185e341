"""Inflating a landed object, and saying which of its records a damaged archive leaves in doubt.

Gzip is recognised by its magic bytes, never by the object's extension. Not here: what the inflated bytes hold
(``json_documents``, ``csv_records``).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from transforms.record import Record

MAGIC = b"\x1f\x8b"

TRUNCATED = "truncated gzip"
CORRUPT = "corrupt gzip"
TRAILING = "trailing bytes after gzip"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_PIECE = 1 << 16


def inflate(data: bytes) -> tuple[bytes, str | None]:
    """The inflated bytes of every member, with a sentence on the damage if there is any."""
    if not data.startswith(MAGIC):
        return data, None
    inflated: list[bytes] = []
    start = 0
    while start < len(data):
        if not data.startswith(MAGIC, start):
            # Tape-minded writers pad with zeros; gzip itself ignores them.
            if data.count(b"\0", start) == len(data) - start:
                break
            return b"".join(inflated), (
                f"{TRAILING}: {len(data) - start} bytes after the last member are no gzip"
            )
        member, end, defect = _inflate_member(data, start)
        inflated.append(member)
        if defect is not None:
            return b"".join(inflated), defect
        start = end
    return b"".join(inflated), None


def _inflate_member(data: bytes, start: int) -> tuple[bytes, int, str | None]:
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    pieces: list[bytes] = []
    position = start
    while position < len(data) and not inflater.eof:
        piece = data[position : position + _PIECE]
        try:
            pieces.append(inflater.decompress(piece))
        except zlib.error as error:
            pieces.append(_rescue(data, start, position))
            return b"".join(pieces), len(data), f"{CORRUPT}: {error} (member at byte {start})"
        position += len(piece) - len(inflater.unused_data)
    if inflater.eof:
        return b"".join(pieces), position, None
    return (
        b"".join(pieces),
        len(data),
        (f"{TRUNCATED}: the data ends after {len(data)} bytes, inside the member at byte {start}"),
    )


def _rescue(data: bytes, start: int, failed: int) -> bytes:
    """What the failed piece still gives: zlib drops a call's output when that call fails."""
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    for position in range(start, failed, _PIECE):
        inflater.decompress(data[position : min(position + _PIECE, failed)])
    rescued: list[bytes] = []
    try:
        for position in range(failed, min(failed + _PIECE, len(data))):
            rescued.append(inflater.decompress(data[position : position + 1]))
    except zlib.error:
        pass
    return b"".join(rescued)


def with_damage(records: Iterable[Record], inflated: bytes, defect: str) -> Iterator[Record]:
    """The records of a damaged archive, those in doubt marked, and the damage itself never silent.

    Corrupt: the checksum vouches for nothing, so every record is marked. Truncated: what came before the cut is
    sound, so only a last record that touches the cut is marked; if none does, the damage is a record of its own.
    """
    if defect.startswith(CORRUPT):
        marked = False
        for record in records:
            marked = True
            yield _with_defect(record, defect)
        if not marked:
            yield _damage_at_end(inflated, defect)
        return
    last: Record | None = None
    for record in records:
        if last is not None:
            yield last
        last = record
    if last is not None and last.byte_offset + len(last.payload) == len(inflated):
        yield last if defect.startswith(TRAILING) else _with_defect(last, defect)
        if not defect.startswith(TRAILING):
            return
    elif last is not None:
        yield last
    yield _damage_at_end(inflated, defect)


def _with_defect(record: Record, defect: str) -> Record:
    return replace(record, defect=f"{defect}; {record.defect}" if record.defect else defect)


def _damage_at_end(inflated: bytes, defect: str) -> Record:
    return Record(inflated.count(b"\n") + 1, len(inflated), b"", defect=defect)
