"""A compression is recognised by its first bytes, read as far as it goes, and never silently damaged."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import time
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from transforms.record import Limits
from transforms.records.compression import inflate, too_large, with_damage
from transforms.records.json_documents import split

LINES = b"".join(b'{"id":%d,"noise":%d}\n' % (n, hash(str(n))) for n in range(5000))

# Without the time, so that the name of a test is the same in every process.
zipped = partial(gzip.compress, mtime=0)


def archive(*texts: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip, as macOS makes it, with a file for each text."""
    sink = BytesIO()
    with zipfile.ZipFile(sink, "w", method) as packed:
        packed.writestr("drops/", b"")
        packed.writestr("__MACOSX/drops/._0.json", b"beside")
        for at, text in enumerate(texts):
            packed.writestr(f"drops/{at}.json", text)
    return sink.getvalue()


def by_arrow(kind: str, data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, kind) as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def table(write: Callable[[pa.Table, pa.BufferOutputStream], None]) -> bytes:
    sink = pa.BufferOutputStream()
    write(pa.table({"id": [1, 2]}), sink)
    return bytes(sink.getvalue())


OTHERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": partial(by_arrow, "zstd"),
    "lz4": partial(by_arrow, "lz4"),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": archive,
}


def records(data: bytes) -> list[tuple[bytes, str | None]]:
    inflated, damage = inflate(data)
    found = split(inflated)
    if damage is not None:
        found = with_damage(found, inflated, damage)
    return [(record.payload, record.defect) for record in found]


@pytest.mark.parametrize(
    ("data", "inflated"),
    [
        (b'{"a":1}', b'{"a":1}'),
        (b"", b""),
        *((zipped(data), data) for data in (b"", b"x", LINES)),
        # Members in a row are one text, and zeros behind the last one are padding.
        (zipped(b"one") + zipped(b"") + zipped(LINES), b"one" + LINES),
        (zipped(b"one") + bytes(512), b"one"),
    ],
)
def test_every_member_is_inflated_and_what_is_no_gzip_stays(data: bytes, inflated: bytes) -> None:
    assert inflate(data) == (inflated, None)


@pytest.mark.parametrize("kept", [2, 9, 10, 15, 1000, -9, -8, -1])
def test_a_cut_archive_gives_what_comes_before_the_cut(kept: int) -> None:
    first = zipped(LINES)
    for before in (b"", first):
        data = before + first[:kept]
        inflated, damage = inflate(data)
        assert (LINES * 2 if before else LINES).startswith(inflated)
        assert len(inflated) >= (len(LINES) if before else 0)
        assert damage == (
            f"truncated gzip: the data ends after {len(data)} bytes, inside the member at byte {len(before)}"
        )


def test_a_flipped_byte_gives_what_comes_before_it() -> None:
    random.seed(7)
    data = bytearray(zipped(random.randbytes(300_000)))
    data[200_000] ^= 0xFF
    inflated, damage = inflate(bytes(data))
    assert len(inflated) > 150_000
    assert damage is not None
    assert damage.startswith("corrupt gzip: ")


def test_a_wrong_checksum_gives_everything_and_every_record_is_marked() -> None:
    data = bytearray(zipped(b'{"a":1}\n{"a":2}\n'))
    data[-8] ^= 1
    found = records(bytes(data))
    assert [payload for payload, _ in found] == [b'{"a":1}', b'{"a":2}']
    assert all(defect and defect.startswith("corrupt gzip: ") for _, defect in found)


def cut_after(text: bytes) -> bytes:
    """An archive that holds the text and then breaks off."""
    compressor = zlib.compressobj(wbits=31)
    return compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(
    ("data", "sound", "marked", "defects"),
    [
        (
            cut_after(b'{"a":1}\n{"a":2,'),
            [b'{"a":1}'],
            b'{"a":2,',
            ("truncated gzip: ", "malformed JSON"),
        ),
        # Where no record touches the damage, it is a record of its own.
        (cut_after(b'{"a":1}\n'), [b'{"a":1}'], b"", ("truncated gzip: ",)),
        (zipped(b'{"a":1}')[:10], [], b"", ("truncated gzip: ",)),
        (
            zipped(b'{"a":1}') + b"two",
            [b'{"a":1}'],
            b"",
            ("trailing bytes after gzip: 3 bytes after the last member are no gzip",),
        ),
    ],
)
def test_only_what_touches_the_damage_is_in_doubt(
    data: bytes, sound: list[bytes], marked: bytes, defects: tuple[str, ...]
) -> None:
    *before, (payload, defect) = records(data)
    assert before == [(one, None) for one in sound]
    assert payload == marked
    assert defect is not None
    assert defect.startswith(defects[0])
    assert all(one in defect for one in defects)


@pytest.mark.parametrize("members", [1, 3])
def test_no_more_is_inflated_than_is_wanted(members: int) -> None:
    bomb = zipped(bytes(100_000_000)) * members
    inflated, damage = inflate(bomb, 1_000_000)
    # What one piece of the archive holds comes at once.
    assert 1_000_000 < len(inflated) < 80_000_000
    assert damage is None


def test_what_is_wanted_is_inflated_whole() -> None:
    assert inflate(zipped(LINES), len(LINES)) == (LINES, None)
    assert len(inflate(zipped(LINES), len(LINES) - 1)[0]) > len(LINES) - 1


def test_many_small_members_take_time_in_proportion() -> None:
    start = time.process_time()
    assert inflate(zipped(b"x", 1) * 100_000) == (b"x" * 100_000, None)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (zipped(LINES), "the object inflates to more than 100,000 bytes"),
        (LINES * 3, "the object has more than 100,000 bytes"),
        (
            zipped(random.Random(1).randbytes(250_000)),
            "the object has more than 100,000 bytes",
        ),
    ],
)
def test_of_an_object_that_is_too_large_there_is_its_beginning(data: bytes, fault: str) -> None:
    record = too_large(data, Limits(largest_object=100_000))
    assert record.defect == f"{fault}: nothing of it was read but its first 4,000"
    assert (record.line, record.byte_offset) == (1, 0)
    assert record.payload == inflate(data)[0][:4_000]


@pytest.mark.parametrize("kind", OTHERS)
def test_others_are_read_as_gzip_is(kind: str) -> None:
    compress = OTHERS[kind]
    assert inflate(compress(LINES)) == (LINES, None)
    assert inflate(compress(b"")) == (b"", None)
    if kind != "zip":
        assert inflate(compress(b"one") + compress(b"") + compress(LINES)) == (b"one" + LINES, None)
    inflated, damage = inflate(compress(LINES)[:-3])
    assert LINES.startswith(inflated)
    assert damage is not None
    assert damage.startswith(f"truncated {kind}: the data ends after ")
    inflated, damage = inflate(compress(bytes(20_000_000)), 1_000_000)
    assert 1_000_000 < len(inflated) < 2_000_000
    assert damage is None


@pytest.mark.parametrize("kind", ["bz2", "xz", "zip"])
def test_a_flipped_byte_marks_every_record(kind: str) -> None:
    data = bytearray(OTHERS[kind](LINES * 20))
    data[len(data) // 2] ^= 0xFF
    found = records(bytes(data))
    assert all(defect and defect.startswith(f"corrupt {kind}: ") for _, defect in found)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (table(lambda rows, sink: pq.write_table(rows, sink)), "a Parquet file"),
        (table(lambda rows, sink: orc.write_table(rows, sink)), "an ORC file"),
        (b"Obj\x01\x04\x14avro.codec", "an Avro file"),
        (b"\xff\x06\x00\x00sNaPpY\x01", "compressed with snappy"),
        (b"\x82SNAPPY\x00\x00\x00\x00\x01", "compressed with snappy"),
        (b"\x1f\x9d\x90", "compressed with compress (.Z)"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "a 7z archive"),
        (zipped(b"a.json".ljust(257, b"\0") + b"ustar\x0000"), "a tar archive"),
        (archive(b"{}", b"{}"), "the zip archive has 2 files"),
        (archive(), "the zip archive has 0 files"),
        (archive(b"{}", method=zipfile.ZIP_LZMA), "compressed by method 14"),
        # As Hadoop writes it: the size, the size of a block, the block.
        (b"\0\0\0\x02\0\0\0\x04\x02\x04{}", "snappy (as Hadoop writes it), by its name"),
    ],
)
def test_what_is_not_read_is_one_record_that_names_it(data: bytes, named: str) -> None:
    inflated, damage = inflate(data, object_name="a.json.snappy")
    assert inflated == b""
    assert damage is not None
    assert named in damage
    assert ": " in damage
    (record,) = with_damage(split(inflated), inflated, damage)
    assert record.defect == damage


@pytest.mark.parametrize("data", [b"ORC,1\nORC\n", b"PAR1,1\nPAR1", b"{}", b"7z,1\n"])
def test_text_is_text_whatever_it_begins_with_and_is_called(data: bytes) -> None:
    assert inflate(data, object_name="a.csv.snappy") == (data, None)


def test_no_bytes_end_in_an_exception() -> None:
    drawn = random.Random(7)
    whole = [zipped(LINES[:3000]), *(compress(LINES[:3000]) for compress in OTHERS.values())]
    for turn in range(3000):
        data = bytearray(whole[turn % len(whole)])
        # The directory of a zip is at its end.
        reach = min(len(data), drawn.choice([8, 64, 1 << 20]))
        for _ in range(drawn.randrange(1, 6)):
            at = drawn.randrange(reach)
            data[drawn.choice([at, -1 - at])] = drawn.randrange(256)
        inflated, damage = inflate(bytes(data[: drawn.choice([reach, len(data)])]), 1 << 20)
        list(with_damage(split(inflated), inflated, damage or "truncated"))
