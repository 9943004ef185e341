"""Arcion on S3, CSV: one record is one row of a table, as a snapshot read it or as an operation changed it.

Arcion's ``amazon-s3`` applier writes such files. A row of a snapshot has as many fields as the table has columns. A row
of an operation has three fields for each column (its new value, its old value, and an exists flag, which says which of
the two images mention the column), and then ``opType``, ``cursor`` and ``operationcount``: with X columns, 3X+3 fields.

Which column a field belongs to is said by the header where the file has one, else by the feed file: ``columns`` for the
rows of a snapshot, ``cdc_columns`` for those of operations (Arcion's only sample has the columns in alphabetical
order). A row never names its table: the object's path does.

Delimiter, quote, escape, the word for null and whether there is a header are the feed file's (``csv``); by default null
is the unquoted text NULL; a quoted "NULL" is a text of four letters. Blanks around unquoted values do not belong
to them. A quote inside quotes is doubled in the vendor's samples, and escaped with a backslash in its configuration: a
record is read by doubling where that fits its whole line, else by both ways.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", CSV file format; "amazon-s3" applier settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from transforms.event import Event
from transforms.families import arcion
from transforms.families.arcion import Row, operations_so_far
from transforms.families.kafka_records import bare_message
from transforms.fault import Fault
from transforms.feed.feed import CsvDialect, Feed, Table
from transforms.feed.paths import table_of_object
from transforms.onboarding.proposal import Entry, Mark, Proposal, Sampled, records_in
from transforms.onboarding.tables import proposal_of_tables, tables_seen, with_parts
from transforms.onboarding.types_and_keys import inferred_type
from transforms.record import DEFAULT_LIMITS, BronzeRecord, Limits, Record
from transforms.records import csv_records
from transforms.records.csv_records import Field, fields_of, header_of, role_of
from transforms.shape import ReadShape, Shaped
from transforms.source_format import Decode, SourceFormat

# Which column each field of a row belongs to.

TRAILING = 3
"""opType, cursor and operationcount, at the end of every row of an operation."""

_WORD_SIGNS = re.compile(r"[\s_-]")


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns the rows of one table have in one window: of a snapshot, and of triplets, in order."""

    columns: tuple[str, ...]
    cdc_columns: tuple[str, ...]
    spelled: dict[str, str] = field(default_factory=dict)

    def declared(self, name: str) -> str:
        """The name as the feed spells it, where only the case differs."""
        return self.spelled.get(name.lower(), name)


def is_operation_row(
    fields: Sequence[Field] | None, names: Sequence[str] | None, layout: Layout | None
) -> bool:
    """True for a row of an operation: by the header's names, else by the row's width."""
    if names is not None:
        plain = {_WORD_SIGNS.sub("", name).lower() for name in names}
        return {"optype", "cursor"} <= plain
    if fields is None or layout is None:
        return False
    return len(fields) == 3 * len(layout.cdc_columns) + TRAILING


def unreadable_fault(
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
    if names is None:
        columns: Sequence[str] = layout.columns if layout else ()
    else:
        columns = [name if layout is None else layout.declared(name) for name in names]
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


class _Read(NamedTuple):
    """A record as a row: its operation and cursor, None for a row of a snapshot; and why it is none, if it is none."""

    op: str | None
    cursor: str | None
    row: Row
    fault: Fault | None


def _reader(feed: Feed) -> Callable[[BronzeRecord], _Read]:
    @lru_cache(maxsize=4096)
    def layout_of(table: str | None, window: str) -> Layout | None:
        declared = feed.tables.get(table or "")
        if declared is None:
            return None
        known = declared.at(window)
        # Of names that differ only in case the first counts.
        spelled = {name.lower(): name for name in [*known.source_columns][::-1]}
        return Layout(tuple(known.source_columns), known.cdc_columns, spelled)

    def read(record: BronzeRecord) -> _Read:
        layout = layout_of(record.path_table, record.window)
        message = bare_message(record)
        table = feed.tables.get(record.path_table or "")
        csv = feed.csv if table is None else table.csv
        fields = None if message.text is None else fields_of(message.text, csv)
        names = None if record.header is None else header_of(record.header, csv)
        is_operation = is_operation_row(fields, names, layout)
        fault = unreadable_fault(fields, names, layout, record, is_operation=is_operation)
        row: Row = ({}, {}, {})
        op = cursor = None
        if fault is None:
            assert fields is not None  # else it were unreadable
            if is_operation:
                op, cursor = fields[-TRAILING].value, fields[-TRAILING + 1].value
                row = operation_row(fields, names, layout)
            else:
                row = snapshot_row(fields, names, layout)
        return _Read(op, cursor, row, message.fault or fault)

    return read


def decoder(feed: Feed, surveyed: object) -> Decode:
    """One event per CSV record."""
    read = _reader(feed)

    def decode(record: BronzeRecord) -> Iterable[Event]:
        one = read(record)
        names = (None, None, record.path_table)
        return (arcion.event_of_row(names, one.op, one.cursor, one.row, one.fault),)

    return decode


def shapes(feed: Feed) -> ReadShape:
    """A row of an operation or of a snapshot."""
    read_row, shape_of = _reader(feed), arcion.Shapes()

    def read(record: BronzeRecord) -> Shaped | None:
        one = read_row(record)
        if one.fault is not None:
            return None
        return shape_of((record.path_table, one.op), one.cursor, one.row)

    return read


# What a feed should declare: names of columns where a header has them. Rows without one say neither names nor types:
# then columns are called ``column_1`` and so on, for a person to rename.


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]*")


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Rows of operations end in a way that no other file has; rows of snapshots might be anybody's."""
    fields = _fields(record, feed.csv)
    if fields is None:
        return None
    names = header_of(record.header or "", feed.csv) or ()
    if len(names) == len(fields) and is_operation_row(fields, names, None):
        return Mark("a header with the columns in three roles, opType and cursor")
    if _is_operation(fields):
        return Mark("rows that end in opType, cursor and operationcount")
    if len(fields) < 2 or not re.search(r"\.(csv|tsv|psv)", record.object.lower()):
        return None
    between = {",": "commas", "\t": "tabs"}.get(feed.csv.delimiter, repr(feed.csv.delimiter))
    return Mark(f"rows of fields with {between} between them", is_sure=False)


def _fields(record: BronzeRecord, csv: CsvDialect) -> list[Field] | None:
    message = bare_message(record)
    text = message.text or ""
    is_text = all(sign.isprintable() or sign in f"\t\r\n{csv.delimiter}" for sign in text)
    return fields_of(text, csv) if is_text and message.fault is None else None


def _is_operation(fields: Sequence[Field]) -> bool:
    if len(fields) <= TRAILING or len(fields) % TRAILING:
        return False
    operation, cursor = fields[-TRAILING].text, fields[-TRAILING + 1].text
    return operation.upper() in arcion.OPERATIONS and cursor.lstrip().startswith("{")


@dataclass(slots=True)
class _Rows:
    """The rows of one table: those of snapshots and of operations, and what headers say of names."""

    csv: CsvDialect
    snapshot: list[list[Field]] = field(default_factory=list)
    operations: list[list[Field]] = field(default_factory=list)
    headers: list[tuple[str, ...]] = field(default_factory=list)


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that paths name, with the columns of headers or with made-up names."""
    by_table: dict[str, _Rows] = {}
    records = records_in(sample)
    firsts: dict[str, BronzeRecord] = {}
    for record in records:
        firsts.setdefault(record.object, record)
    for record in records:
        fields = _fields(record, feed.csv)
        if fields is not None and record.path_table:
            rows = by_table.setdefault(record.path_table, _Rows(feed.csv))
            _sort_in(rows, record, fields, is_first=firsts[record.object] is record)
    layouts = {name: table for name, rows in by_table.items() if (table := _table(name, rows))}
    known = replace(feed, tables=layouts)
    decode = decoder(known, {})
    again = [
        (record, event)
        for record in records
        for event in decode(record)
        if isinstance(event, Event)
    ]
    headers = {(name, one) for name, rows in by_table.items() for one in rows.headers}
    seen = tables_seen(one for one in again if not _is_header(one[0], feed.csv, headers))
    proposal = proposal_of_tables(seen.values())
    notes = [
        f"no file of {one.name} has a header: name its columns in the order of a snapshot's rows, and under"
        " cdc_columns in that of rows of changes."
        for one in proposal.found
        if not by_table[one.name].headers
    ]
    with_notes = replace(proposal, notes=(*proposal.notes, *notes))
    return with_parts(with_notes, lambda name: _order(layouts[name], by_table[name]))


def _order(table: Table, rows: _Rows) -> Iterator[Entry]:
    if rows.operations:
        yield Entry("cdc_columns", table.cdc_columns, _why(rows))


def _sort_in(rows: _Rows, record: BronzeRecord, fields: list[Field], *, is_first: bool) -> None:
    if record.header is not None:
        names = header_of(record.header, rows.csv)
        rows.headers += [] if names is None else [names]
        return
    if _is_operation(fields):
        rows.operations.append(fields)
    elif is_first and rows.csv.header != "no" and _may_be_header(fields):
        # Only other rows show whether it is one.
        rows.headers.append(tuple(one.text for one in fields))
    else:
        rows.snapshot.append(fields)


def _may_be_header(fields: Sequence[Field]) -> bool:
    names = [one.text for one in fields]
    is_named = all(_NAME.fullmatch(name) and name.upper() != "NULL" for name in names)
    return is_named and len(set(names)) == len(names)


def _is_header(
    record: BronzeRecord, csv: CsvDialect, headers: set[tuple[str, tuple[str, ...]]]
) -> bool:
    fields = _fields(record, csv)
    names = tuple(one.text for one in fields or ())
    return (record.path_table or "", names) in headers


def _table(name: str, rows: _Rows) -> Table | None:
    """The table by its rows: its columns under a header's names or made-up ones, all texts so far."""
    columns = _columns(rows)
    if not columns:
        return None
    order = columns
    if rows.operations and rows.headers:
        # Arcion's only sample has them so; the header of a snapshot has another order.
        order = sorted(columns)
    elif rows.operations and rows.snapshot:
        order = _by_types(columns, rows)
    return Table(name, (), dict.fromkeys(columns, "string"), tuple(order), csv=rows.csv)


def _by_types(columns: Sequence[str], rows: _Rows) -> list[str]:
    """The columns in the order in which triplets have values of their types; of equal types the first comes first."""
    wide = [one for one in rows.snapshot if len(one) == len(columns)]
    free = {name: _is_number([one[at].value for one in wide]) for at, name in enumerate(columns)}
    whole = [one for one in rows.operations if len(one) == 3 * len(columns) + TRAILING]
    order = []
    for at in range(len(columns)):
        values = [one[3 * at + side].value for one in whole for side in (0, 1)]
        alike = [name for name, is_number in free.items() if is_number == _is_number(values)]
        name = (alike or [*free])[0]
        order.append(name)
        del free[name]
    return order


def _is_number(values: Sequence[str | None]) -> bool:
    return inferred_type(values).type not in ("string", "binary", "date", "timestamp")


def _columns(rows: _Rows) -> list[str]:
    for names in rows.headers:
        pairs = [role_of(name) for name in names]
        in_roles = [column for role, column in pairs if role == "new"]
        if in_roles or names:
            return in_roles or [*names]
    if rows.snapshot:
        count = max(
            {len(one) for one in rows.snapshot}, key=[len(one) for one in rows.snapshot].count
        )
    elif rows.operations:
        count = len(rows.operations[0]) // TRAILING - 1
    else:
        return []
    return [f"column_{number + 1}" for number in range(count)]


def _why(rows: _Rows) -> str:
    if rows.headers:
        return "a guess: rows of changes have the columns in alphabetical order in Arcion's sample"
    return "in the order of rows of changes: a guess, for nothing says it"


def split(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """CSV records; the header, where there is one, goes along with each."""
    table = feed.tables.get(table_of_object(object_name, feed.tables))
    return csv_records.split(data, table, feed, object_name, limits)


FORMAT = SourceFormat(
    name="arcion_s3_csv",
    files=("**/*.csv*",),
    split=split,
    decoder=decoder,
    shapes=shapes,
    reads_csv=True,
    recognise=recognise,
    propose=propose,
    operations_so_far=operations_so_far,
    warnings=(arcion.FLAGS_DISAGREE,),
    unknowable=(
        arcion.NO_COMMITS,
        "a text column's unquoted NULL: the format writes null the same way.",
    ),
)
