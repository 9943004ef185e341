"""Cutting CSV text into records and their fields, and whether the first one is a header that names columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from transforms.errors import UnknownHeader
from transforms.feed.feed import Table
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


# Fields. A quote inside quotes is doubled (``""``) or escaped (``\"``).

# Every repetition is possessive: a field is read once, forwards, however many quotes it holds.
_UNQUOTED = r'[^",\r\n]*+(?:\r(?=[^\n])[^",\r\n]*+)*+'

DOUBLING_FIELD = rf'(?:[ \t]*+"[^"]*+(?:""[^"]*+)*+"[ \t]*+|{_UNQUOTED})'
r"""One field, its quotes and the blanks around them included, where only ``""`` stands for a quote.

Valid in Python's ``re`` and in Java; it has no groups. So is ``MIXED_FIELD``.
"""

MIXED_FIELD = rf'(?:[ \t]*+"[^"\\]*+(?:(?:\\[\s\S]|"")[^"\\]*+)*+"[ \t]*+|{_UNQUOTED})'
r"""One field where, inside quotes, ``\`` takes the next character as it is and ``""`` is a quote, too."""

_READABLE = re.compile(rf"{MIXED_FIELD}(?:,{MIXED_FIELD})*+".encode())


def quote_fault(data: bytes, start: int, end: int) -> str:
    """Why the text from ``start`` to ``end`` is no record: where a quote is wrong, and how."""
    readable = _READABLE.match(data, start)
    stop = readable.end() if readable else start
    if stop > end:
        return "text follows a closing quote, or a quote is never closed, on a later line of this record"
    column = len(text_of(data[start:stop])) + 1
    if data[stop : stop + 1] != b'"':
        return f"text follows a closing quote at column {column}"
    field = max(data.rfind(b",", start, stop) + 1, start)
    if not data[field:stop].strip(b" \t"):
        return f"the quote at column {column} is never closed"
    if b'"' in data[field:stop]:
        return f"text follows a closing quote at column {column}"
    return f"a quote stands inside an unquoted field at column {column}"


def names_of(field: re.Pattern[bytes], record: bytes) -> list[str]:
    """The fields of a record, without quotes and the blanks around them."""
    names: list[str] = []
    position = 0
    while found := field.match(record, position):
        name = text_of(found[0]).strip(" \t")
        names.append(name[1:-1].replace('""', '"') if name.startswith('"') else name)
        if found.end() >= len(record):
            break
        position = found.end() + 1
    return names


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
    if last == _METADATA:
        understood = _says_column_and_role(names[: -len(_METADATA)])
    elif table is not None and _names_columns(names, table):
        # The whole key, which identifies rows, and no name twice.
        times = Counter(name.lower() for name in names)
        understood = times.keys() >= {one.lower() for one in table.key} and max(times.values()) == 1
    else:
        if table is None or not (_is_plainly_no_data(names, table) or _resembles(names, table)):
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


# Records: lines, whose quoted fields may hold line breaks. One is read by doubling where that fits the whole record,
# else by both. The format reads fields by the same patterns, so that both cut alike.


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
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Record]:
    """Every record but the header and its repeats, malformed ones with their defect; nothing without records.

    Raises ``UnknownHeader`` where the first record is a header that cannot be understood.
    """
    position, line = len(_BOM) if data.startswith(_BOM) else 0, 1
    header: str | None = None
    header_bytes: bytes | None = None
    first = True
    while True:
        blank = _BLANK_LINES.match(data, position)
        start = blank.end() if blank else position
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
