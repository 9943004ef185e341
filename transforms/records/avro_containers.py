"""Avro container files cut into records: each is its own bytes, with the file's schema as its header.

A record of bronze can so be read alone, by whoever knows Avro.

Vendor: Apache Avro, "Specification", object container files.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa

from transforms.record import DEFAULT_LIMITS, Limits, Record

MAGIC: Final = b"Obj\x01"
HEADER: Final = '{"avro.schema":'
"""So the header of a record begins that was in a container; the schema follows, and a brace."""

_SYNC: Final = 16
_LONGEST_NUMBER: Final = 10


class LengthAt(Protocol):
    """How many bytes the value of a schema has that begins at a place."""

    def __call__(self, data: bytes, start: int, /) -> int:
        """So many; raises ValueError where no value is there."""
        ...


class _Damaged(ValueError):
    """The object cannot be read on: the message says why."""


def header_of(schema: str) -> str:
    """The header that the records of a container have."""
    return f"{HEADER}{schema}}}"


def schema_of(header: str | None) -> str | None:
    """The schema in a record's header; None where the record was in no container."""
    return header[len(HEADER) : -1] if header is not None and header.startswith(HEADER) else None


def split(
    data: bytes, measure: Callable[[str], LengthAt], limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """The records of a container; ``byte_offset`` is where the block begins that a record is in.

    ``measure``: what tells the lengths of a schema's values. It and what it makes raise ValueError where that is
    impossible; what cannot be cut out is one record with a defect, and ends the object.
    """
    line, at = 1, 0
    try:
        head = _read_head(data)
        at = head.end
        length_at, header = measure(head.schema), header_of(head.schema)
        room = limits.largest_object
        while at < len(data):
            many, block, end = _block(data, at, head, room)
            room -= len(block)
            start = 0
            for _ in range(many):
                size = length_at(block, start)
                if size == 0:
                    raise _Damaged("a record of the container has no bytes")
                payload, defect = block[start : start + size], None
                if size > limits.largest_record:
                    payload, defect = payload[: limits.kept], limits.too_long
                yield Record(line, at, payload, header, defect)
                line, start = line + 1, start + size
            if start != len(block):
                raise _Damaged("a block of the container has bytes behind its records")
            at = end
    except ValueError as why:
        yield Record(line, at, data[at : at + limits.kept], None, f"damaged Avro container: {why}")


@dataclass(frozen=True, slots=True)
class _Head:
    schema: str
    inflate: Callable[[bytes, int], bytes]
    sync: bytes
    end: int


def _read_head(data: bytes) -> _Head:
    found: dict[str, bytes] = {}
    at = len(MAGIC)
    while True:
        many, at = _long(data, at)
        if many == 0:
            break
        if many < 0:
            _, at = _long(data, at)
        for _ in range(abs(many)):
            name, at = _bytes(data, at)
            value, at = _bytes(data, at)
            found[name.decode("utf-8", "replace")] = value
    sync = data[at : at + _SYNC]
    if "avro.schema" not in found or len(sync) < _SYNC:
        raise _Damaged("its head has no schema, or is cut")
    codec = found.get("avro.codec", b"null").decode("utf-8", "replace")
    if codec not in _CODECS:
        raise _Damaged(f"its codec is {codec!r}; known: {', '.join(_CODECS)}")
    return _Head(found["avro.schema"].decode(), _CODECS[codec], sync, at + _SYNC)


def _block(data: bytes, at: int, head: _Head, room: int) -> tuple[int, bytes, int]:
    """How many records a block has, its bytes, and where the next one begins."""
    many, at = _long(data, at)
    packed, at = _bytes(data, at)
    if data[at : at + _SYNC] != head.sync:
        raise _Damaged("a block does not end with the mark that its head says, or is cut")
    try:
        block = head.inflate(packed, room + 1)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, pa.ArrowException) as why:
        raise _Damaged(f"a block cannot be inflated: {why}") from None
    if len(block) > room:
        raise _Damaged("its blocks are larger together than an object may be")
    return many, block, at + _SYNC


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = _long(data, at)
    if not 0 <= size <= len(data) - at:
        raise _Damaged("it is cut within a block, or has a length that cannot be")
    return data[at : at + size], at + size


def _long(data: bytes, at: int) -> tuple[int, int]:
    """A number as Avro writes it: seven bits a byte, the sign in the last of all."""
    number = 0
    for place, byte in enumerate(data[at : at + _LONGEST_NUMBER]):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at + place + 1
    raise _Damaged("it is cut within a number")


def _deflated(data: bytes, most: int) -> bytes:
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)


def _snappy(data: bytes, most: int) -> bytes:
    """What snappy has packed: its length stands in front, and four bytes of a checksum behind."""
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    if size >= most:
        return bytes(most)
    unpacked: bytes = pa.Codec("snappy").decompress(data[:-4], size).to_pybytes()
    if zlib.crc32(unpacked) != int.from_bytes(data[-4:], "big"):
        raise _Damaged("a block does not have the checksum that stands behind it")
    return unpacked


def _zstandard(data: bytes, most: int) -> bytes:
    found: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(most)
    return found


_CODECS: Final[Mapping[str, Callable[[bytes, int], bytes]]] = {
    "null": lambda data, _: data,
    "deflate": _deflated,
    "snappy": _snappy,
    "bzip2": lambda data, most: bz2.BZ2Decompressor().decompress(data, most),
    "xz": lambda data, most: lzma.LZMADecompressor().decompress(data, most),
    "zstandard": _zstandard,
}
"""How each codec's blocks are inflated, as far as so many bytes."""
