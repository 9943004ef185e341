"""Which column each field of a row belongs to: by the header where the file has one, else by what the feed declares.

Put here what a row's width and the header's names say. Not here: the fields themselves (``fields``), and what a row
does (``transforms/families/arcion/rows.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from transforms.families.arcion.exists_flags import Row
from transforms.fault import Fault
from transforms.formats.arcion_s3_csv.fields import Field
from transforms.record import BronzeRecord
from transforms.records.header_roles import role_of

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
