"""Arcion on S3, CSV: a row of X columns for a snapshot, of 3X+3 for an operation.

An operation's row is a triplet for each column (new value, old value, exists flag), then opType, cursor and
operationcount. Which column a field belongs to is said by the header where the file has one, else by the feed:
``columns`` for a snapshot row, ``cdc_columns`` for the triplets (Arcion's only sample has them in alphabetical order).
Rows never name their table: the object's path does.

Null is the unquoted text NULL; a quoted "NULL" is that text. Blanks around unquoted values are no part of them. Quotes
inside quotes are doubled in the vendor's samples and escaped with a backslash in its configuration: a record is read
by doubling where that fits its whole line, else by both.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", CSV file format; "amazon-s3" applier settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from transforms.event import Event
from transforms.families.arcion import rows
from transforms.families.arcion.exists_flags import Row
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.feed.object_paths import table_of_object
from transforms.record import BronzeRecord, Record
from transforms.source_format import Decode, SourceFormat
from transforms.splitting import csv_records
from transforms.splitting.csv_fields import DOUBLING_FIELD, MIXED_FIELD
from transforms.splitting.header_roles import role_of
from transforms.splitting.limits import DEFAULTS, Limits

NULL = "NULL"
TRAILING = 3
"""opType, cursor and operationcount, at the end of every row of an operation."""

_DOUBLING = (re.compile(f",({DOUBLING_FIELD})"), re.compile('""'))
_MIXED = (re.compile(f",({MIXED_FIELD})"), re.compile(r'(?:\\(?=["\\])|"(?="))(["\\])'))
_WHOLE = {
    way: re.compile(rf"(?:{pattern})(?:,(?:{pattern}))*+")
    for way, pattern in ((_DOUBLING, DOUBLING_FIELD), (_MIXED, MIXED_FIELD))
}
_WORD_SIGNS = re.compile(r"[\s_-]")


class Field(NamedTuple):
    """One field of a row: its text without quotes, and whether it had any."""

    text: str
    is_quoted: bool

    @property
    def value(self) -> str | None:
        """The field's text, or None where it is the unquoted null marker."""
        return None if self.text == NULL and not self.is_quoted else self.text


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns the rows of one table have in one window: of a snapshot, and of triplets, in order."""

    columns: tuple[str, ...]
    cdc_columns: tuple[str, ...]
    spelled: dict[str, str] = field(default_factory=dict)

    def declared(self, name: str) -> str:
        """The name as the feed spells it, where only the case differs."""
        return self.spelled.get(name.lower(), name)


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """CSV records; the header, where there is one, goes along with each."""
    table = feed.tables.get(table_of_object(object_name, feed.tables))
    return csv_records.split(data, table, feed.name, object_name, limits)


def decoder(feed: Feed, surveyed: object) -> Decode:
    """One event per CSV record."""

    @lru_cache(maxsize=4096)
    def layout_of(table: str | None, window: str) -> Layout | None:
        declared = feed.tables.get(table or "")
        if declared is None:
            return None
        known = declared.at(window)
        # Of names that differ only in case the first counts.
        spelled = {name.lower(): name for name in [*known.columns][::-1]}
        return Layout(tuple(known.columns), known.cdc_columns, spelled)

    def decode(record: BronzeRecord) -> Iterable[Event]:
        layout = layout_of(record.path_table, record.window)
        try:
            text = (record.payload or b"").decode("utf-8")
            fields = fields_of(text)
            fault = None
        except UnicodeDecodeError:
            fields, fault = None, Fault("invalid_utf8", "the record is not valid UTF-8")
        names = None if record.header is None else header_of(record.header)
        is_operation = _is_operation(fields, names, layout)
        fault = fault or unreadable(fields, names, layout, record, is_operation=is_operation)
        row: Row = ({}, {}, {})
        op = cursor = None
        if fault is None:
            assert fields is not None  # else it were unreadable
            if is_operation:
                op, cursor = fields[-TRAILING].value, fields[-TRAILING + 1].value
                row = operation_row(fields, names, layout)
            else:
                row = snapshot_row(fields, names, layout)
        return (
            rows.event(
                names=(None, None, record.path_table),
                op=op,
                cursor_text=cursor,
                row=row,
                is_bare=not is_operation,
                fault=Fault("damaged_record", record.defect) if record.defect else fault,
            ),
        )

    return decode


def fields_of(text: str) -> list[Field] | None:
    """A record's fields with quotes taken off; None where they fit neither way of quoting."""
    if '"' not in text:
        return [Field(one.strip(" \t"), False) for one in text.split(",")]
    for way in (_DOUBLING, _MIXED):
        if _WHOLE[way].fullmatch(text):
            cut, escapes = way
            # A comma before every field: a match is then never empty, and none is skipped.
            return [_unquoted(raw, escapes) for raw in cut.findall(f",{text}")]
    return None


def _unquoted(raw: str, escapes: re.Pattern[str]) -> Field:
    trimmed = raw.strip(" \t")
    if not trimmed.startswith('"'):
        return Field(trimmed, False)
    return Field(escapes.sub(lambda found: found[0][-1], trimmed[1:-1]), True)


@lru_cache(maxsize=1024)
def header_of(header: str) -> tuple[str, ...] | None:
    """The names that a header line gives; None where it cannot be read."""
    fields = fields_of(header)
    return None if fields is None else tuple(one.text for one in fields)


def _is_operation(
    fields: Sequence[Field] | None, names: Sequence[str] | None, layout: Layout | None
) -> bool:
    """True for a row of an operation: by the header's names, else by the row's width."""
    if names is not None:
        plain = {_WORD_SIGNS.sub("", name).lower() for name in names}
        return {"optype", "cursor"} <= plain
    if fields is None or layout is None:
        return False
    return len(fields) == 3 * len(layout.cdc_columns) + TRAILING


def unreadable(
    fields: Sequence[Field] | None,
    names: Sequence[str] | None,
    layout: Layout | None,
    record: BronzeRecord,
    *,
    is_operation: bool,
) -> Fault | None:
    """Why a record is no row of this format."""
    if fields is None:
        return Fault("malformed_csv", "quotes do not close, or text follows a closing quote")
    if names is not None:
        if len(fields) == len(names):
            return None
        expected = f"{len(names)} as the header"
    elif layout is None:
        return Fault(
            "undeclared_table",
            f"the path names table {record.path_table}, which the feed does not declare, and the file has no header:"
            " declare the table's columns",
        )
    else:
        if is_operation or len(fields) == len(layout.columns):
            return None
        expected = (
            f"{len(layout.columns)} for a snapshot row or"
            f" {3 * len(layout.cdc_columns) + TRAILING} for an operation"
        )
    return Fault("wrong_column_count", f"the row has {len(fields)} fields; expected {expected}")


def snapshot_row(
    fields: Sequence[Field], names: Sequence[str] | None, layout: Layout | None
) -> Row:
    """The values of a snapshot row: all are given, as if by an insert."""
    columns = _as_declared(names, layout) if names is not None else layout.columns if layout else ()
    new = {name: one.value for name, one in zip(columns, fields, strict=True)}
    return new, {}, dict.fromkeys(new, "1")


def operation_row(
    fields: Sequence[Field], names: Sequence[str] | None, layout: Layout | None
) -> Row:
    """The values and flags of an operation's triplets: under a header names decide, in any order."""
    new: dict[str, str | None] = {}
    old: dict[str, str | None] = {}
    flags: dict[str, str | None] = {}
    if names is None:
        assert layout is not None  # else the row had no width to be known by
        for at, name in enumerate(layout.cdc_columns):
            new[name], old[name] = fields[3 * at].value, fields[3 * at + 1].value
            flags[name] = fields[3 * at + 2].text
        return new, old, flags
    of_role = {"new": new, "old": old}
    for name, one in zip(names, fields, strict=True):
        role, column = role_of(name)
        column = column if layout is None else layout.declared(column)
        if role in of_role:
            of_role[role][column] = one.value
        elif role == "exists":
            flags[column] = one.text
    # A column is one that has a new value; what the header lacks of it was not given as anything else.
    return (
        new,
        {name: old.get(name) for name in new},
        {name: flags.get(name) for name in new},
    )


def _as_declared(names: Iterable[str], layout: Layout | None) -> list[str]:
    return [name if layout is None else layout.declared(name) for name in names]


FORMAT = SourceFormat(
    name="arcion_s3_csv",
    files=("**/*.csv*",),
    split=split,
    decoder=decoder,
    warnings=(rows.FLAGS_DISAGREE,),
    unknowable=(
        rows.NO_COMMITS,
        "a text column's unquoted NULL: the format writes null the same way.",
    ),
)
