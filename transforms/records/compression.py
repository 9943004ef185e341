"""Decompressing a landed object as far as the limit allows, and which records are in doubt where it is damaged.

A compression is recognised by its first bytes, never by the object's extension. What Weir does not read is named.
"""

from __future__ import annotations

import bz2
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Final, Protocol

import pyarrow as pa

from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.records.avro_containers import MAGIC as AVRO

_Way = Callable[[bytes, int], tuple[bytes, str | None]]
"""Decompresses what begins in one way, as ``inflate`` does."""

MAGIC = b"\x1f\x8b"

TRUNCATED: Final = "truncated "
CORRUPT: Final = "corrupt "
TRAILING: Final = "trailing bytes after "

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_FIRST_PIECE, _LARGEST_PIECE = 1 << 10, 1 << 16
_MOST_OF_XZ: Final = 256 << 20
"""Maximum bytes of memory for the dictionary of an xz stream: four times what ``xz -9`` needs."""
_SHOWN = 4_000

_READ: Final = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<bz2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))|(?P<xz>\xfd7zXZ\0)|(?P<zip>PK(?:\x03\x04|\x05\x06))"
    # Frames that are to be skipped come first where zstd was written by several threads.
    rb"|(?P<zstd>(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18))|(?P<lz4>\x04\x22\x4d\x18)"
)
_AGAIN: Final = "compress it with gzip or zstd instead, or land it as it is"
_ROWS: Final = "write the changes as JSON or CSV"
_NOT_READ: Final = (
    (rb"\xff\x06\0\0sNaPpY|\x82SNAPPY\0", "compressed with snappy", _AGAIN),
    (rb"\x1f[\x9d\xa0]", "compressed with compress (.Z)", _AGAIN),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _AGAIN),
    (rb"[\s\S]{257}ustar(?:  )?\0", "a tar archive", "land the files in it one by one"),
    (AVRO, "an Avro file", _ROWS),
    (rb"ORC(?=[\s\S]*ORC[^\t\r\n -~]\Z)", "an ORC file", _ROWS),
    (rb"PAR[1E](?=[\s\S]*\0PAR[1E]\Z)", "a Parquet file", _ROWS),
)
"""Patterns of first bytes, what such an object is, and what to do about it."""
_BY_EXTENSION: Final = {".snappy": "snappy (as Hadoop writes it)", ".lzo": "lzo", ".br": "brotli"}
"""Compressions without a mark of their own: an object of such a name that begins with no text is so compressed."""
_BEGINS_AS_TEXT: Final = re.compile(rb"[\t\r\n -~]{0,16}\Z")


def compression_of(data: bytes) -> str | None:
    """The compression that an object begins with; None where it has none that Weir reads."""
    found = _READ.match(data)
    return None if found is None else str(found.lastgroup)


def inflate(
    data: bytes,
    most: int = DEFAULT_LIMITS.largest_object,
    object_name: str = "",
    *,
    reads_avro: bool = False,
) -> tuple[bytes, str | None]:
    """The decompressed bytes, with a sentence on the damage if there is any; none of what Weir does not read.

    ``reads_avro``: whether the feed's format reads Avro's container files.

    If they exceed ``most`` bytes, reading stops soon after: slightly more than ``most`` bytes are returned, and damage
    after them is not reported.
    """
    kind = compression_of(data)
    if kind is None:
        fault = _not_read(data, object_name, reads_avro)
        return (data, None) if fault is None else (b"", fault)
    inflated, defect = _WAYS[kind](data, most)
    if (fault := _not_read(inflated, "", reads_avro)) is not None:
        return b"", f"{fault} (in {kind})"
    return inflated, defect


def _not_read(data: bytes, object_name: str, reads_avro: bool) -> str | None:
    """What an object is that is not text, and what to do about it; None for all that may be text."""
    if reads_avro and data.startswith(AVRO):
        return None
    for pattern, what, remedy in _PATTERNS:
        if pattern.match(data):
            return f"the object is {what}, which Weir does not read: {remedy}"
    extension = object_name[object_name.rfind(".") :].lower()
    if extension in _BY_EXTENSION and not _BEGINS_AS_TEXT.match(data[:16]):
        what = f"compressed with {_BY_EXTENSION[extension]}, by its name"
        return f"the object is {what}, which Weir does not read: {_AGAIN}"
    return None


_PATTERNS: Final = [(re.compile(pattern), what, remedy) for pattern, what, remedy in _NOT_READ]


def _gunzip(data: bytes, most: int) -> tuple[bytes, str | None]:
    """The text of every member of a gzip."""
    # It hands out what was written without another copy of it.
    sink = BytesIO()
    start = 0
    while start < len(data) and sink.tell() <= most:
        if not data.startswith(MAGIC, start):
            # Tape-minded writers pad with zeros; gzip itself ignores them.
            if data.count(b"\0", start) == len(data) - start:
                break
            return sink.getvalue(), _trailing(data, start, "gzip", "member")
        start, defect = _inflate_member(data, start, sink, most)
        if defect is not None:
            return sink.getvalue(), defect
    return sink.getvalue(), None


def _trailing(data: bytes, start: int, kind: str, part: str) -> str:
    return f"{TRAILING}{kind}: {len(data) - start} bytes after the last {part} are no {kind}"


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
            return len(data), f"{CORRUPT}gzip: {error} (member at byte {start})"
        if sink.tell() > most:
            return len(data), None
        position += len(piece) - len(inflater.unused_data)
        size = min(size * 4, _LARGEST_PIECE)
    if inflater.eof:
        return position, None
    cut = (
        f"{TRUNCATED}gzip: the data ends after {len(data)} bytes, inside the member at byte {start}"
    )
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


class _Decompressor(Protocol):
    """What the standard library's decompressors of bz2 and xz have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def _by_library(kind: str, begin: Callable[[], _Decompressor]) -> _Way:
    """How the streams of bz2 or xz are read, one after the other."""

    def read(data: bytes, most: int) -> tuple[bytes, str | None]:
        sink, start = BytesIO(), 0
        while start < len(data) and sink.tell() <= most:
            if not (found := _READ.match(data, start)) or found.lastgroup != kind:
                if data.count(b"\0", start) == len(data) - start:
                    break
                return sink.getvalue(), _trailing(data, start, kind, "stream")
            stream, position, size = begin(), start, _FIRST_PIECE
            try:
                while not stream.eof and sink.tell() <= most:
                    piece = data[position : position + size] if stream.needs_input else b""
                    if stream.needs_input and not piece:
                        cut = f"the data ends after {len(data)} bytes, inside the stream at byte {start}"
                        return sink.getvalue(), f"{TRUNCATED}{kind}: {cut}"
                    size = min(size * 4, _LARGEST_PIECE)
                    position += len(piece)
                    sink.write(stream.decompress(piece, _LARGEST_PIECE))
            except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
                return sink.getvalue(), f"{CORRUPT}{kind}: {error} (stream at byte {start})"
            start = position - len(stream.unused_data)
        return sink.getvalue(), None

    return read


def _by_arrow(kind: str) -> _Way:
    """How the frames of zstd or lz4 are read."""

    def read(data: bytes, most: int) -> tuple[bytes, str | None]:
        sink = BytesIO()
        try:
            with pa.CompressedInputStream(pa.BufferReader(data), kind) as stream:
                while sink.tell() <= most and (piece := stream.read(_LARGEST_PIECE)):
                    sink.write(piece)
        except (OSError, pa.ArrowException) as error:
            if "truncated" in str(error).lower():
                cut = f"the data ends after {len(data)} bytes, inside a frame"
                return sink.getvalue(), f"{TRUNCATED}{kind}: {cut}"
            return sink.getvalue(), f"{CORRUPT}{kind}: {error}"
        return sink.getvalue(), None

    return read


_ZIP_FAULTS: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(OSError, EOFError, ValueError, LookupError, RuntimeError),
)
_ENCRYPTED: Final = 1


def _unzip(data: bytes, most: int) -> tuple[bytes, str | None]:
    """The one file of a zip archive."""
    sink = BytesIO()
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            # What macOS puts beside each file is none of them.
            files = [
                one
                for one in archive.infolist()
                if not one.is_dir() and not one.filename.startswith("__MACOSX/")
            ]
            if len(files) != 1:
                fault = f"the zip archive has {len(files)} files, and Weir reads those with one"
                return b"", f"{fault}: land the files in it one by one"
            (file,) = files
            if file.flag_bits & _ENCRYPTED:
                return b"", "the file in the zip archive is encrypted: land it without a password"
            if file.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                fault = f"the file in the zip archive is compressed by method {file.compress_type}"
                return b"", f"{fault}, and Weir reads deflate: {_AGAIN}"
            with archive.open(file) as stream:
                while sink.tell() <= most and (piece := stream.read(_LARGEST_PIECE)):
                    sink.write(piece)
    except _ZIP_FAULTS as error:
        is_cut = isinstance(error, EOFError) or not zipfile.is_zipfile(BytesIO(data))
        what = f"the data ends after {len(data)} bytes" if is_cut else str(error)
        return sink.getvalue(), f"{TRUNCATED if is_cut else CORRUPT}zip: {what}"
    return sink.getvalue(), None


_WAYS: Final[dict[str, _Way]] = {
    "gzip": _gunzip,
    "bz2": _by_library("bz2", bz2.BZ2Decompressor),
    "xz": _by_library("xz", lambda: lzma.LZMADecompressor(memlimit=_MOST_OF_XZ)),
    "zip": _unzip,
    "zstd": _by_arrow("zstd"),
    "lz4": _by_arrow("lz4"),
}


def too_large(data: bytes, limits: Limits) -> Record:
    """The one record of an object that is larger than it may be, landed or inflated: how it begins, and no more."""
    beginning, _ = inflate(data[:_LARGEST_PIECE], _SHOWN)
    most = limits.largest_object
    is_landed = len(data) > most or not _READ.match(data)
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
