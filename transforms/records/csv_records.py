r"""Cutting CSV text into records: lines, whose quoted fields may hold line breaks.

A quote inside quotes is doubled (``""``) or escaped (``\"``): a record is read by doubling where that fits the whole
record, else by both. The format reads fields by the same patterns (``csv_fields``), so that both cut alike. Put here
where a record of CSV begins and ends. Not here: the values of fields, and how many a record should have (``formats``);
what a header's names mean (``csv_headers``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from transforms.feed.feed import Table
from transforms.record import Record
from transforms.records.csv_fields import (
    DOUBLING_FIELD,
    MIXED_FIELD,
    names_of,
    quote_fault,
    text_of,
)
from transforms.records.csv_headers import is_header
from transforms.records.limits import DEFAULTS, Limits


def _record(field: str) -> re.Pattern[bytes]:
    """A record's text, and (outside the group) the end of its line."""
    return re.compile(rf"({field}(?:,{field})*+)(?:\r?\n|\r?\Z)".encode())


_DOUBLING = (_record(DOUBLING_FIELD), re.compile(DOUBLING_FIELD.encode()))
_MIXED = (_record(MIXED_FIELD), re.compile(MIXED_FIELD.encode()))

_BLANK_LINES = re.compile(rb"(?:[ \t]*+\r?\n)*+(?:[ \t\r]*+\Z)?")
_BOM = b"\xef\xbb\xbf"
_LONGEST_HEADER = 1 << 20
"""What is longer names no columns that a table could have."""


def split(
    data: bytes,
    table: Table | None,
    feed_name: str,
    object_name: str,
    limits: Limits = DEFAULTS,
) -> Iterator[Record]:
    """Every record but the header and its repeats, malformed ones with their defect; nothing without records.

    Raises ``UnknownHeader`` where the first record is a header that cannot be understood.
    """
    position, line = len(_BOM) if data.startswith(_BOM) else 0, 1
    header: str | None = None
    header_bytes: bytes | None = None
    first = True
    while True:
        start = _end_of_blank_lines(data, position)
        line += data.count(b"\n", position, start)
        if start == len(data):
            return
        cut = _cut(data, start)
        position = cut.resume
        if cut.end - start > limits.largest_record:
            payload = data[start : start + limits.kept]
            yield Record(line, start, payload, header, limits.too_long)
        elif cut.field is None:
            fault = f"malformed CSV: {quote_fault(data, start, cut.end)}"
            yield Record(line, start, data[start : cut.end], header, fault)
        else:
            payload = data[start : cut.end]
            if first and len(payload) <= _LONGEST_HEADER:
                names = names_of(cut.field, payload)
                if is_header(names, table, feed_name, object_name):
                    header, header_bytes = text_of(payload), payload
            # Files put together, as members of one gzip may be, each begin with the header.
            if payload != header_bytes:
                yield Record(line, start, payload, header)
        first = False
        line += data.count(b"\n", start, position)


class _Cut(NamedTuple):
    """Where a record ends and the next line begins; ``field`` is the pattern that its fields fit, if any."""

    end: int
    resume: int
    field: re.Pattern[bytes] | None


def _end_of_blank_lines(data: bytes, position: int) -> int:
    blank = _BLANK_LINES.match(data, position)
    return blank.end() if blank else position


def _cut(data: bytes, start: int) -> _Cut:
    end_of_line = data.find(b"\n", start)
    resume = len(data) if end_of_line < 0 else end_of_line + 1
    end = len(data) if end_of_line < 0 else end_of_line
    if data.find(b'"', start, end) < 0:
        # Without quotes, a line is a record; of a line's end, a return is part.
        return _Cut(end - data.endswith(b"\r", start, end), resume, _DOUBLING[1])
    for record, field in (_DOUBLING, _MIXED):
        if found := record.match(data, start):
            return _Cut(found.end(1), found.end(), field)
    return _Cut(start + len(data[start:resume].rstrip(b"\r\n")), resume, None)
