"""Text is cut into its lines, and what says nothing is left out."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.record import Limits, Record
from transforms.records.text_lines import split_lines

SIGNS = st.sampled_from([b"a", b"#", b" ", b"\t", b"\x0b", b"\r", b"\n", b"\r\n", b"\x00", b"\xff"])


def plainly(data: bytes) -> list[Record]:
    """The same, a line at a time and in all memory that it takes."""
    records, offset = [], 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip() and not line.strip().startswith(b"#"):
            records.append(Record(number, offset, line.rstrip(b"\r")))
        offset += len(line) + 1
    return records


@given(st.lists(SIGNS).map(b"".join))
def test_every_line_that_says_something_is_a_record(data: bytes) -> None:
    assert list(split_lines(data, b"#")) == plainly(data)


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t", b"# only a comment", b"\n#\n#"])
def test_a_text_without_records_gives_none(data: bytes) -> None:
    assert list(split_lines(data, b"#")) == []


def test_a_line_that_is_too_long_costs_no_other() -> None:
    records = list(
        split_lines(b"a\n\n" + b"b" * 11 + b"\r\n#" + b"c" * 99 + b"\nd", b"#", Limits(99, 10))
    )
    assert records == [
        Record(1, 0, b"a"),
        Record(3, 3, b"b" * 10, defect="the record is longer than 10 bytes"),
        Record(5, 117, b"d"),
    ]


def test_blank_lines_take_no_time() -> None:
    start = time.process_time()
    assert [one.line for one in split_lines(b"\n" * 30_000_000 + b"a", b"#")] == [30_000_001]
    assert time.process_time() - start < 2
