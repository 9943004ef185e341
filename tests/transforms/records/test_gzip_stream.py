"""Gzip is recognised by its first bytes, read as far as it goes, and never silently damaged."""

from __future__ import annotations

import gzip
import random
import time
import zlib

import pytest

from transforms.record import Limits
from transforms.records.gzip_archives import inflate, too_large, with_damage
from transforms.records.json_documents import split

LINES = b"".join(b'{"id":%d,"noise":%d}\n' % (n, hash(str(n))) for n in range(5000))


def records(data: bytes) -> list[tuple[bytes, str | None]]:
    inflated, damage = inflate(data)
    found = split(inflated)
    if damage is not None:
        found = with_damage(found, inflated, damage)
    return [(record.payload, record.defect) for record in found]


def test_bytes_that_are_no_gzip_stay_as_they_are() -> None:
    assert inflate(b'{"a":1}') == (b'{"a":1}', None)
    assert inflate(b"") == (b"", None)


@pytest.mark.parametrize("data", [b"", b"x", LINES])
def test_one_member_is_inflated(data: bytes) -> None:
    assert inflate(gzip.compress(data)) == (data, None)


def test_members_in_a_row_are_one_text() -> None:
    assert inflate(gzip.compress(b"one") + gzip.compress(b"") + gzip.compress(LINES)) == (
        b"one" + LINES,
        None,
    )


def test_zeros_after_the_last_member_are_padding() -> None:
    assert inflate(gzip.compress(b"one") + bytes(512)) == (b"one", None)


@pytest.mark.parametrize("kept", [2, 9, 10, 15, 1000, -9, -8, -1])
def test_a_cut_archive_gives_what_comes_before_the_cut(kept: int) -> None:
    whole = gzip.compress(LINES)
    inflated, damage = inflate(whole[:kept])
    assert LINES.startswith(inflated)
    assert damage is not None
    assert damage.startswith("truncated gzip: the data ends after ")


def test_a_cut_second_member_leaves_the_first_whole() -> None:
    first = gzip.compress(LINES)
    inflated, damage = inflate(first + gzip.compress(b"more")[:12])
    assert inflated.startswith(LINES)
    assert (
        damage
        == f"truncated gzip: the data ends after {len(first) + 12} bytes, inside the member at byte {len(first)}"
    )


def test_bytes_after_the_last_member_are_reported() -> None:
    assert inflate(gzip.compress(b"one") + b"two") == (
        b"one",
        "trailing bytes after gzip: 3 bytes after the last member are no gzip",
    )


def test_a_flipped_byte_gives_what_comes_before_it() -> None:
    random.seed(7)
    data = bytearray(gzip.compress(random.randbytes(300_000)))
    data[200_000] ^= 0xFF
    inflated, damage = inflate(bytes(data))
    assert len(inflated) > 150_000
    assert damage is not None
    assert damage.startswith("corrupt gzip: ")


def test_a_wrong_checksum_gives_everything_and_a_defect() -> None:
    data = bytearray(gzip.compress(LINES))
    data[-8] ^= 1
    inflated, damage = inflate(bytes(data))
    assert inflated == LINES
    assert damage is not None
    assert damage.startswith("corrupt gzip: ")


def test_every_record_of_a_corrupt_archive_is_marked() -> None:
    data = bytearray(gzip.compress(b'{"a":1}\n{"a":2}\n'))
    data[-8] ^= 1
    assert [payload for payload, _ in records(bytes(data))] == [b'{"a":1}', b'{"a":2}']
    assert all(defect and defect.startswith("corrupt gzip: ") for _, defect in records(bytes(data)))


def cut_after(text: bytes) -> bytes:
    """An archive that holds the text and then breaks off."""
    compressor = zlib.compressobj(wbits=31)
    return compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH)


def test_a_record_that_touches_the_cut_is_marked_and_those_before_it_are_sound() -> None:
    (first, sound), (second, defect) = records(cut_after(b'{"a":1}\n{"a":2,'))
    assert (first, sound, second) == (b'{"a":1}', None, b'{"a":2,')
    assert defect is not None
    assert defect.startswith("truncated gzip: ")
    assert "malformed JSON" in defect


def test_a_cut_between_records_is_a_record_of_its_own() -> None:
    (first, sound), (rest, defect) = records(cut_after(b'{"a":1}\n'))
    assert (first, sound, rest) == (b'{"a":1}', None, b"")
    assert defect is not None
    assert defect.startswith("truncated gzip: ")


def test_an_archive_that_is_cut_before_its_first_byte_is_not_taken_for_an_empty_one() -> None:
    ((rest, defect),) = records(gzip.compress(b'{"a":1}')[:10])
    assert rest == b""
    assert defect is not None
    assert defect.startswith("truncated gzip: ")


def test_bytes_after_the_last_member_leave_the_records_sound() -> None:
    assert records(gzip.compress(b'{"a":1}') + b"two") == [
        (b'{"a":1}', None),
        (b"", "trailing bytes after gzip: 3 bytes after the last member are no gzip"),
    ]


@pytest.mark.parametrize("members", [1, 3])
def test_no_more_is_inflated_than_is_wanted(members: int) -> None:
    bomb = gzip.compress(bytes(100_000_000)) * members
    inflated, damage = inflate(bomb, 1_000_000)
    # What one piece of the archive holds comes at once.
    assert 1_000_000 < len(inflated) < 80_000_000
    assert damage is None


def test_what_is_wanted_is_inflated_whole() -> None:
    assert inflate(gzip.compress(LINES), len(LINES)) == (LINES, None)
    assert len(inflate(gzip.compress(LINES), len(LINES) - 1)[0]) > len(LINES) - 1


def test_many_small_members_take_time_in_proportion() -> None:
    start = time.process_time()
    assert inflate(gzip.compress(b"x", 1) * 100_000) == (b"x" * 100_000, None)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (gzip.compress(LINES), "the object inflates to more than 100,000 bytes"),
        (LINES * 3, "the object has more than 100,000 bytes"),
        (
            gzip.compress(random.Random(1).randbytes(250_000)),
            "the object has more than 100,000 bytes",
        ),
    ],
)
def test_of_an_object_that_is_too_large_there_is_its_beginning(data: bytes, fault: str) -> None:
    record = too_large(data, Limits(largest_object=100_000))
    assert record.defect == f"{fault}: nothing of it was read but its first 4,000"
    assert (record.line, record.byte_offset) == (1, 0)
    assert record.payload == inflate(data)[0][:4_000]
