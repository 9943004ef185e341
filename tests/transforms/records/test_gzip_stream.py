"""Gzip is recognised by its first bytes, read as far as it goes, and never silently damaged."""

from __future__ import annotations

import gzip
import random
import time
import zlib
from functools import partial

import pytest

from transforms.record import Limits
from transforms.records.gzip_archives import inflate, too_large, with_damage
from transforms.records.json_documents import split

LINES = b"".join(b'{"id":%d,"noise":%d}\n' % (n, hash(str(n))) for n in range(5000))

# Without the time, so that the name of a test is the same in every process.
zipped = partial(gzip.compress, mtime=0)


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
