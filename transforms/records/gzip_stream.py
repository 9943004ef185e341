"""Inflating a landed object as far as the limit allows, and saying whether its gzip archive is damaged, and how.

Gzip is recognised by its magic bytes, never by the object's extension. Put here what is true of gzip. Not here: which
records a damaged archive leaves in doubt (``damaged_archives``), and what the inflated bytes hold (``json_documents``,
``csv_records``).
"""

from __future__ import annotations

import zlib
from io import BytesIO

from transforms.record import Record
from transforms.records.limits import DEFAULTS, Limits

MAGIC = b"\x1f\x8b"

TRUNCATED = "truncated gzip"
CORRUPT = "corrupt gzip"
TRAILING = "trailing bytes after gzip"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_FIRST_PIECE, _LARGEST_PIECE = 1 << 10, 1 << 16
_SHOWN = 4_000


def inflate(data: bytes, most: int = DEFAULTS.largest_object) -> tuple[bytes, str | None]:
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
    return (
        len(data),
        (f"{TRUNCATED}: the data ends after {len(data)} bytes, inside the member at byte {start}"),
    )


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
    fault = (
        f"the object has more than {most:,} bytes"
        if is_landed
        else (f"the object inflates to more than {most:,} bytes")
    )
    return Record(
        1, 0, beginning[:_SHOWN], defect=f"{fault}: nothing of it was read but its first {_SHOWN:,}"
    )
