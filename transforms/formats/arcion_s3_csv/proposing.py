"""What a feed of Arcion's CSV files should declare: names of columns where a header has them, else their number.

Rows without a header say neither names nor types: then columns are called ``column_1`` and so on, for a person to
rename. Put here what rows say of their table. Not here: reading a row (``fields``, ``layouts``), and inferring types
and keys (``transforms/proposing``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from transforms.event import Event
from transforms.feed.feed import Feed, Table
from transforms.formats.arcion_s3_csv.decode import decoder
from transforms.formats.arcion_s3_csv.fields import Field, fields_of, header_of
from transforms.formats.arcion_s3_csv.layouts import TRAILING
from transforms.proposing.column_types import inferred
from transforms.proposing.entries import Entry, Mark, Proposal, Sampled
from transforms.proposing.proposed_tables import of_tables
from transforms.proposing.tables_seen import tables_seen
from transforms.record import BronzeRecord
from transforms.records.header_roles import role_of

_OPERATIONS: Final = frozenset({"I", "U", "D", "R", "INSERT", "UPDATE", "DELETE", "REPLACE"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]*")


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Rows of operations end in a way that no other file has; rows of snapshots might be anybody's."""
    fields = _fields(record)
    if fields is None:
        return None
    if record.header is not None and len(header_of(record.header) or ()) == len(fields):
        return Mark("a header with the columns in three roles, opType and cursor")
    if _is_operation(fields):
        return Mark("rows that end in opType, cursor and operationcount")
    is_csv = ".csv" in record.object.lower() and len(fields) > 1
    return Mark("rows of fields with commas between them", is_sure=False) if is_csv else None


def _fields(record: BronzeRecord) -> list[Field] | None:
    try:
        text = (record.payload or b"").decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_text = all(sign.isprintable() or sign in "\t\r\n" for sign in text)
    return fields_of(text) if is_text and record.defect is None else None


def _is_operation(fields: Sequence[Field]) -> bool:
    if len(fields) <= TRAILING or len(fields) % TRAILING:
        return False
    operation, cursor = fields[-TRAILING].text, fields[-TRAILING + 1].text
    return operation.upper() in _OPERATIONS and cursor.lstrip().startswith("{")


@dataclass(slots=True)
class _Rows:
    """The rows of one table: those of snapshots and of operations, and what headers say of names."""

    snapshot: list[list[Field]] = field(default_factory=list)
    operations: list[list[Field]] = field(default_factory=list)
    headers: list[tuple[str, ...]] = field(default_factory=list)


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that paths name, with the columns of headers or with made-up names."""
    by_table: dict[str, _Rows] = {}
    records = [*{id(record): record for record, _ in sample}.values()]
    firsts: dict[str, BronzeRecord] = {}
    for record in records:
        firsts.setdefault(record.object, record)
    for record in records:
        fields = _fields(record)
        if fields is not None and record.path_table:
            rows = by_table.setdefault(record.path_table, _Rows())
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
    seen = tables_seen(one for one in again if not _is_header(one[0], headers))
    return _with_orders(of_tables(seen.values()), layouts, by_table)


def _sort_in(rows: _Rows, record: BronzeRecord, fields: list[Field], *, is_first: bool) -> None:
    if record.header is not None:
        rows.headers += [names] if (names := header_of(record.header)) is not None else []
        return
    if _is_operation(fields):
        rows.operations.append(fields)
    elif is_first and _may_be_header(fields):
        # Only other rows show whether it is one.
        rows.headers.append(tuple(one.text for one in fields))
    else:
        rows.snapshot.append(fields)


def _may_be_header(fields: Sequence[Field]) -> bool:
    names = [one.text for one in fields]
    is_named = all(_NAME.fullmatch(name) and name.upper() != "NULL" for name in names)
    return is_named and len(set(names)) == len(names)


def _is_header(record: BronzeRecord, headers: set[tuple[str, tuple[str, ...]]]) -> bool:
    fields = _fields(record)
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
    return Table(name, (), dict.fromkeys(columns, "string"), tuple(order))


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
    return inferred(values).type not in ("string", "binary", "date", "timestamp")


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


def _with_orders(
    proposal: Proposal, layouts: dict[str, Table], by_table: dict[str, _Rows]
) -> Proposal:
    """The proposal with ``cdc_columns``, and with what a person has to say where no header gives names."""
    entries, notes = [], [*proposal.notes]
    for entry in proposal.entries:
        inside = []
        for table in (one for one in entry.value if isinstance(one, Entry)):
            rows, parts = (
                by_table[table.name],
                [one for one in table.value if isinstance(one, Entry)],
            )
            if rows.operations:
                parts.append(Entry("cdc_columns", layouts[table.name].cdc_columns, _why(rows)))
            if not rows.headers:
                notes.append(
                    f"no file of {table.name} has a header: name its columns in the order of a snapshot's rows, and"
                    " under cdc_columns in that of rows of changes."
                )
            inside.append(replace(table, value=tuple(parts)))
        entries.append(replace(entry, value=tuple(inside)))
    return Proposal(tuple(entries), proposal.found, tuple(notes))


def _why(rows: _Rows) -> str:
    if rows.headers:
        return "a guess: rows of changes have the columns in alphabetical order in Arcion's sample"
    return "in the order of rows of changes: a guess, for nothing says it"
