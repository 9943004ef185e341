r"""Cutting CSV text into records: lines, whose quoted fields may hold line breaks.

A quote inside quotes is doubled (``""``) or escaped (``\"``): a record is read by doubling where that fits the whole
record, else by both. The field patterns are shared with Spark's side, so that both sides cut alike. Not here: the
values of fields, and how many a record should have (``formats``); what a header's names mean (``csv_headers``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from transforms.feed import Table
from transforms.record import Record
from transforms.splitting.csv_headers import PREFIX_ROLE, SUFFIX_ROLE, is_header

__all__ = ["DOUBLING_FIELD", "MIXED_FIELD", "PREFIX_ROLE", "SUFFIX_ROLE", "split"]

# Every repetition is possessive: a field is read once, forwards, however many quotes it holds.
_UNQUOTED = r'[^",\r\n]*+(?:\r(?=[^\n])[^",\r\n]*+)*+'

DOUBLING_FIELD = rf'(?:[ \t]*+"[^"]*+(?:""[^"]*+)*+"[ \t]*+|{_UNQUOTED})'
r"""One field, its quotes and the blanks around them included, where only ``""`` stands for a quote.

Valid in Python's ``re`` and in Java; it has no groups. So is ``MIXED_FIELD``.
"""

MIXED_FIELD = rf'(?:[ \t]*+"[^"\\]*+(?:(?:\\[\s\S]|"")[^"\\]*+)*+"[ \t]*+|{_UNQUOTED})'
r"""One field where, inside quotes, ``\`` takes the next character as it is and ``""`` is a quote, too."""


def _record(field: str) -> re.Pattern[bytes]:
    """A record's text, and (outside the group) the end of its line."""
    return re.compile(rf"({field}(?:,{field})*+)(?:\r?\n|\r?\Z)".encode())


_DOUBLING = (_record(DOUBLING_FIELD), re.compile(DOUBLING_FIELD.encode()))
_MIXED = (_record(MIXED_FIELD), re.compile(MIXED_FIELD.encode()))
_READABLE = re.compile(rf"{MIXED_FIELD}(?:,{MIXED_FIELD})*+".encode())
_BLANK_LINES = re.compile(rb"(?:[ \t]*+\r?\n)*+(?:[ \t\r]*+\Z)?")
_BOM = b"\xef\xbb\xbf"


def split(data: bytes, table: Table | None, feed_name: str, object_name: str) -> Iterator[Record]:
    """Every record but the header and its repeats, malformed ones with their defect; nothing without records.

    Raises ``UnknownHeader`` where the first record is a header that cannot be understood.
    """
    position, line = len(_BOM) if data.startswith(_BOM) else 0, 1
    header: str | None = None
    first = True
    while True:
        start = _end_of_blank_lines(data, position)
        line += data.count(b"\n", position, start)
        if start == len(data):
            return
        cut = _cut(data, start)
        position = cut.resume
        if first and cut.defect is None:
            names = _names(cut, data, start)
            if is_header(names, table, feed_name, object_name):
                header = _text(data[start : cut.end])
        # Files put together, as members of one gzip may be, each begin with the header.
        if header is None or _text(data[start : cut.end]) != header:
            yield Record(line, start, data[start : cut.end], header=header, defect=cut.defect)
        first = False
        line += data.count(b"\n", start, position)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a record ends and the next line begins; ``field`` is the pattern that its fields fit."""

    end: int
    resume: int
    field: re.Pattern[bytes]
    defect: str | None = None


def _end_of_blank_lines(data: bytes, position: int) -> int:
    blank = _BLANK_LINES.match(data, position)
    return blank.end() if blank else position


def _cut(data: bytes, start: int) -> _Cut:
    for record, field in (_DOUBLING, _MIXED):
        if found := record.match(data, start):
            return _Cut(found.end(1), found.end(), field)
    end_of_line = data.find(b"\n", start)
    resume = len(data) if end_of_line < 0 else end_of_line + 1
    end = start + len(data[start:resume].rstrip(b"\r\n"))
    return _Cut(end, resume, _MIXED[1], f"malformed CSV: {_fault(data, start, end)}")


def _fault(data: bytes, start: int, end: int) -> str:
    readable = _READABLE.match(data, start)
    stop = readable.end() if readable else start
    if stop > end:
        return "text follows a closing quote, or a quote is never closed, on a later line of this record"
    column = len(_text(data[start:stop])) + 1
    if data[stop : stop + 1] != b'"':
        return f"text follows a closing quote at column {column}"
    field = max(data.rfind(b",", start, stop) + 1, start)
    if not data[field:stop].strip(b" \t"):
        return f"the quote at column {column} is never closed"
    if b'"' in data[field:stop]:
        return f"text follows a closing quote at column {column}"
    return f"a quote stands inside an unquoted field at column {column}"


def _names(cut: _Cut, data: bytes, start: int) -> list[str]:
    """The fields of a record, without quotes and the blanks around them."""
    names: list[str] = []
    position = start
    while found := cut.field.match(data, position, cut.end):
        names.append(_unquoted(_text(found[0]).strip(" \t")))
        if found.end() >= cut.end:
            break
        position = found.end() + 1
    return names


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
