"""Cutting CSV text into records and their fields, and whether the first one is a header that names columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from transforms.errors import OtherDelimiter, UnknownHeader
from transforms.feed.feed import USUAL_CSV, CsvDialect, Feed, Table
from transforms.record import DEFAULT_LIMITS, Limits, Record

SUFFIX_ROLE = r"(?i)^(.+?)[_.: -](NEW|OLD|EXISTS|BEFORE|AFTER)(?:[_.: -]VAL(?:UE)?)?$"
"""``r_name_NEW_VAL``: group 1 is the column, group 2 the role. Valid in Python's ``re`` and in Java.

A name is read by this pattern where it fits, else by ``PREFIX_ROLE``.
"""

PREFIX_ROLE = r"(?i)^(NEW|OLD|EXISTS|BEFORE|AFTER)(?:[_.: -]VAL(?:UE)?)?[_.: -](.+)$"
"""``NEW_VAL_r_name``: group 1 is the role, group 2 the column."""

_SUFFIX_ROLE, _PREFIX_ROLE = re.compile(SUFFIX_ROLE), re.compile(PREFIX_ROLE)
_SYNONYMS = {"after": "new", "before": "old"}


def role_of(name: str) -> tuple[str, str]:
    """What a header's name says: ``new``, ``old``, ``exists`` or nothing (an empty text), and of which column."""
    if found := _SUFFIX_ROLE.match(name):
        column, role = found[1], found[2].lower()
    elif found := _PREFIX_ROLE.match(name):
        role, column = found[1].lower(), found[2]
    else:
        return "", name
    return _SYNONYMS.get(role, role), column


# Fields. A quote inside quotes is doubled (``""``) or escaped (``\"``): a record is read by doubling where that fits
# all of it, else by both.


class Field(NamedTuple):
    """One field of a row: its text without quotes, and whether it had any."""

    text: str
    is_quoted: bool
    null: str = USUAL_CSV.null

    @property
    def value(self) -> str | None:
        """The field's text, or None where it is the unquoted null marker."""
        return None if self.text == self.null and not self.is_quoted else self.text


class _Quoting(NamedTuple):
    """One way of quoting: a record with (outside the group) the end of its line, its text, a field of it, escapes."""

    record: re.Pattern[bytes]
    whole: re.Pattern[str]
    cut: re.Pattern[str]
    escapes: re.Pattern[str]


class _Patterns(NamedTuple):
    """A dialect as patterns. ``blanks`` around a field do not belong to it."""

    csv: CsvDialect
    blanks: str
    quotings: tuple[_Quoting, ...]
    readable: re.Pattern[bytes]
    blank_lines: re.Pattern[bytes]

    @property
    def quote(self) -> bytes:
        return self.csv.quote.encode()

    @property
    def delimiter(self) -> bytes:
        return self.csv.delimiter.encode()


@lru_cache(maxsize=256)
def _patterns(csv: CsvDialect) -> _Patterns:
    # Every repetition is possessive: a field is read once, forwards, however many quotes it holds.
    d, q, e = (re.escape(one) for one in (csv.delimiter, csv.quote, csv.escape))
    blanks = " \t".replace(csv.delimiter, "")
    unquoted = rf"[^{q}{d}\r\n]*+(?:\r(?=[^\n])[^{q}{d}\r\n]*+)*+"
    doubling = rf"(?:[{blanks}]*+{q}[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}[{blanks}]*+|{unquoted})"
    mixed = rf"(?:[{blanks}]*+{q}[^{q}{e}]*+(?:(?:{e}[\s\S]|{q}{q})[^{q}{e}]*+)*+{q}[{blanks}]*+|{unquoted})"
    ways = [(doubling, f"{q}({q})")] if q else [(unquoted, "(?!)")]
    if q and e:
        ways.append((mixed, f"(?:{e}(?=[{q}{e}])|{q}(?={q}))([{q}{e}])"))
    quotings = tuple(
        _Quoting(
            re.compile(rf"({field}(?:{d}{field})*+)(?:\r?\n|\r?\Z)".encode()),
            re.compile(rf"{field}(?:{d}{field})*+"),
            re.compile(f"{d}({field})"),
            re.compile(escapes),
        )
        for field, escapes in ways
    )
    last = ways[-1][0]
    blank_lines = rf"(?:[{blanks}]*+\r?\n)*+(?:[{blanks}\r]*+\Z)?"
    return _Patterns(
        *(csv, blanks, quotings),
        *(re.compile(f"{last}(?:{d}{last})*+".encode()), re.compile(blank_lines.encode())),
    )


def fields_of(text: str, csv: CsvDialect = USUAL_CSV) -> list[Field] | None:
    """A record's fields with quotes taken off; None where they fit neither way of quoting."""
    patterns, delimiter = _patterns(csv), csv.delimiter
    if not csv.quote or csv.quote not in text:
        return [Field(one.strip(patterns.blanks), False, csv.null) for one in text.split(delimiter)]
    for way in patterns.quotings:
        if way.whole.fullmatch(text):
            # A delimiter before every field: a match is then never empty, and none is skipped.
            found = way.cut.findall(f"{delimiter}{text}")
            return [_unquoted(raw.strip(patterns.blanks), way, csv) for raw in found]
    return None


def _unquoted(trimmed: str, way: _Quoting, csv: CsvDialect) -> Field:
    if not trimmed.startswith(csv.quote):
        return Field(trimmed, False, csv.null)
    text = trimmed[1:-1]
    if csv.quote in text or (csv.escape and csv.escape in text):
        text = way.escapes.sub(lambda found: found[1], text)
    return Field(text, True, csv.null)


@lru_cache(maxsize=1024)
def header_of(header: str, csv: CsvDialect = USUAL_CSV) -> tuple[str, ...] | None:
    """The names that a header line gives; None where it cannot be read."""
    fields = fields_of(header, csv)
    return None if fields is None else tuple(one.text for one in fields)


def _quote_fault(data: bytes, start: int, end: int, patterns: _Patterns) -> str:
    """Why the text from ``start`` to ``end`` is no record: where a quote is wrong, and how."""
    readable = patterns.readable.match(data, start)
    stop = readable.end() if readable else start
    if stop > end:
        return "text follows a closing quote, or a quote is never closed, on a later line of this record"
    column = len(text_of(data[start:stop])) + 1
    if data[stop : stop + 1] != patterns.quote:
        return f"text follows a closing quote at column {column}"
    field = max(data.rfind(patterns.delimiter, start, stop) + 1, start)
    if not data[field:stop].strip(patterns.blanks.encode()):
        return f"the quote at column {column} is never closed"
    if patterns.quote in data[field:stop]:
        return f"text follows a closing quote at column {column}"
    return f"a quote stands inside an unquoted field at column {column}"


def text_of(raw: bytes) -> str:
    """Bytes as text; those that are no UTF-8 become replacement characters."""
    return raw.decode("utf-8", "replace")


# Whether the first record is a header, and whether its names say which column each field is.

_ROLES = ["exists", "new", "old"]

_METADATA = ["optype", "cursor", "operationcount"]
_OPERATIONS = {"I", "U", "D", "R"}
_FLAGS = {"0", "1", "2", "3"}
_WORD = re.compile(r"(?!(?:null|true|false|nan|inf|infinity)$)[A-Za-z_][\w .-]*", re.IGNORECASE)
_WITH_DIGITS = re.compile(
    r"(?:tiny|small|big)?int|float|double|decimal|date|timestamp", re.IGNORECASE
)
_WITHHELD = "(not shown, because the table masks columns)"
_JOINTS = re.compile(r"[_\s-]")


def is_header(names: Sequence[str], table: Table | None, feed_name: str, object_name: str) -> bool:
    """True for a header that is understood, false for data; raises ``UnknownHeader`` for any other header."""
    last = [_JOINTS.sub("", name).lower() for name in names[-len(_METADATA) :]]
    # Columns are declared under the names that gold has.
    today = names if table is None else [table.renamed.get(name, name) for name in names]
    if last == _METADATA:
        understood = _says_column_and_role(names[: -len(_METADATA)])
    elif table is not None and _names_columns(today, table):
        # The whole key, which identifies rows, and no name twice.
        times = Counter(name.lower() for name in today)
        understood = times.keys() >= {one.lower() for one in table.key} and max(times.values()) == 1
    else:
        if table is None or not (_is_plainly_no_data(names, table) or _resembles(today, table)):
            return False
        understood = False
    if not understood:
        # What is taken for a header may be a row.
        shown = _WITHHELD if table is not None and table.masks else ",".join(names)
        raise UnknownHeader(feed_name, object_name, shown, _expected(table))
    return True


def _says_column_and_role(names: Sequence[str]) -> bool:
    """Whether every column stands in all three roles, each once."""
    roles: dict[str, list[str]] = {}
    for name in names:
        role, column = role_of(name)
        roles.setdefault(column.lower(), []).append(role)
    return bool(roles) and all(sorted(given) == _ROLES for given in roles.values())


def _names_columns(names: Sequence[str], table: Table) -> bool:
    """Whether more than half of the fields are names of declared columns: no row of data is."""
    declared = {column.lower() for column in table.source_columns}
    return 2 * sum(name.lower() in declared for name in names) > len(names)


def _resembles(names: Sequence[str], table: Table) -> bool:
    """Whether a row as wide as a snapshot's is a header in another spelling: ``regionkey`` for ``r_regionkey``.

    One field that is its own column's name is enough; one that only resembles it counts where nothing but words stands
    in columns of numbers and dates.
    """
    if len(names) != len(table.source_columns) or not all(_WORD.fullmatch(name) for name in names):
        return False
    pairs = [
        (name.lower(), column.lower())
        for name, column in zip(names, table.source_columns, strict=True)
    ]
    if any(name == column for name, column in pairs):
        return True
    wants_digits = any(_WITH_DIGITS.match(kind) for kind in table.source_columns.values())
    shortest = 3
    return wants_digits and any(
        len(name) >= shortest and (name in column or column in name) for name, column in pairs
    )


def _is_plainly_no_data(names: Sequence[str], table: Table) -> bool:
    """Whether a row as wide as an operation's has nothing that an operation's row has.

    If a snapshot row of this table has the same number of fields, the row is taken for a snapshot row.
    """
    triplets = len(table.cdc_columns) or len(table.source_columns)
    if not triplets or len(names) != 3 * triplets + 3 or len(names) == len(table.source_columns):
        return False
    operation, *texts = names[-3:]
    return (
        operation.upper() not in _OPERATIONS
        and not _FLAGS.intersection(names[2:-3:3])
        and not any(text.startswith("{") for text in texts)
    )


def _expected(table: Table | None) -> str:
    columns = (table.cdc_columns or tuple(table.source_columns)) if table else ()
    one = columns[0] if columns else "<column>"
    each = f" (and so for {', '.join(columns[1:])})" if len(columns) > 1 else ""
    operation = (
        f"{one}_NEW, {one}_OLD, {one}_EXISTS or NEW_{one}, OLD_{one}, EXISTS_{one}{each}, "
        "then opType, cursor, operationCount"
    )
    if not table or not table.source_columns:
        return operation
    return f"{operation}; or, for a snapshot, the columns {', '.join(table.source_columns)}"


# Records: lines, whose quoted fields may hold line breaks.


_BOM = b"\xef\xbb\xbf"
_LONGEST_HEADER = 1 << 20
"""What is longer names no columns that a table could have."""
_USUAL_DELIMITERS = ",;\t|\x01~^"
_UTF_16 = "every other byte of it is NUL, as in UTF-16: the feed file says what it is (encoding: utf-16-le)"


def split(
    data: bytes,
    table: Table | None,
    feed: Feed,
    object_name: str,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Record]:
    """Every record but the header and its repeats, malformed ones with their defect; nothing without records.

    Raises:
        UnknownHeader: the first record is a header that cannot be understood.
        OtherDelimiter: the first record is one field, and as many as it should have with another delimiter.
    """
    csv = feed.csv if table is None else table.csv
    patterns = _patterns(csv)
    position, line = len(_BOM) if data.startswith(_BOM) else 0, 1
    header: str | None = None
    header_bytes: bytes | None = None
    first = True
    while True:
        blank = patterns.blank_lines.match(data, position)
        start = blank.end() if blank else position
        line += data.count(b"\n", position, start)
        if start == len(data):
            return
        cut = _cut(data, start, patterns)
        position = cut.resume
        if cut.end - start > limits.largest_record:
            payload = data[start : start + limits.kept]
            yield Record(line, start, payload, header, limits.too_long)
        elif fault := _fault_of(data, start, cut, patterns):
            yield Record(line, start, data[start : cut.end], header, f"malformed CSV: {fault}")
        else:
            payload = data[start : cut.end]
            if first and len(payload) <= _LONGEST_HEADER:
                text = text_of(payload)
                _refuse_other_delimiter(text, table, feed.name, object_name)
                if _begins_with_header(text, table, feed, object_name):
                    header, header_bytes = text, payload
            # Files put together, as members of one gzip may be, each begin with the header.
            if payload != header_bytes:
                yield Record(line, start, payload, header)
        first = False
        line += data.count(b"\n", start, position)


def _begins_with_header(text: str, table: Table | None, feed: Feed, object_name: str) -> bool:
    csv = feed.csv if table is None else table.csv
    if csv.header == "no":
        return False
    names = header_of(text, csv) or ()
    if is_header(names, table, feed.name, object_name):
        return True
    if csv.header == "yes" and table is not None:
        shown = _WITHHELD if table.masks else ",".join(names)
        raise UnknownHeader(feed.name, object_name, shown, _expected(table))
    return csv.header == "yes"


def _refuse_other_delimiter(
    text: str, table: Table | None, feed_name: str, object_name: str
) -> None:
    """Raise ``OtherDelimiter`` where a record of one field would have a row's width with another delimiter."""
    if (
        table is None
        or len(table.source_columns) == 1
        or len(fields_of(text, table.csv) or ()) != 1
    ):
        return
    widths = (len(table.source_columns), 3 * len(table.cdc_columns) + len(_METADATA))
    for one in _USUAL_DELIMITERS.replace(table.csv.delimiter, ""):
        fields = fields_of(text, replace(table.csv, delimiter=one)) or []
        if len(fields) in widths and sum(bool(one.text) for one in fields) > 1:
            raise OtherDelimiter(feed_name, object_name, table.name, table.csv.delimiter, one)


class _Cut(NamedTuple):
    """Where a record ends and the next line begins; whether its fields fit a way of quoting."""

    end: int
    resume: int
    is_whole: bool


def _cut(data: bytes, start: int, patterns: _Patterns) -> _Cut:
    end_of_line = data.find(b"\n", start)
    resume = len(data) if end_of_line < 0 else end_of_line + 1
    end = len(data) if end_of_line < 0 else end_of_line
    if not patterns.quote or data.find(patterns.quote, start, end) < 0:
        # Without quotes, a line is a record; of a line's end, a return is part.
        return _Cut(end - data.endswith(b"\r", start, end), resume, True)
    for way in patterns.quotings:
        if found := way.record.match(data, start):
            return _Cut(found.end(1), found.end(), True)
    return _Cut(start + len(data[start:resume].rstrip(b"\r\n")), resume, False)


def _fault_of(data: bytes, start: int, cut: _Cut, patterns: _Patterns) -> str | None:
    if not cut.is_whole:
        return _quote_fault(data, start, cut.end, patterns)
    return (
        _UTF_16
        if data.find(b"\0", start, cut.end) >= 0 and _looks_utf_16(data[start : cut.end])
        else None
    )


def _looks_utf_16(record: bytes) -> bool:
    """Whether NULs alternate with what is none. One alone, and those that fill up a column, are values."""
    nuls = [half.count(b"\0") for half in (record[::2], record[1::2])]
    # Of a few characters two such values would be every other byte.
    return len(record) >= 8 and not min(nuls) and 4 * max(nuls) > len(record)
