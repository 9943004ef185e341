"""Whether a CSV object's first record is a header, and whether its names say which column each field is.

Put here how headers are recognised. Not here: what one name in a header says (``header_roles``), how records are cut
(``csv_records``), and reading fields by these names (``formats``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from transforms.errors import UnknownHeader
from transforms.feed.feed import Table
from transforms.records.header_roles import role_of

_ROLES = {"new", "old", "exists"}

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
        understood = _names_each_column_once(names, table)
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
        column_and_role = _column_and_role(name)
        if column_and_role is None:
            return False
        column, role = column_and_role
        roles.setdefault(column, []).append(role)
    return bool(roles) and all(
        len(given) == len(_ROLES) and set(given) == _ROLES for given in roles.values()
    )


def _column_and_role(name: str) -> tuple[str, str] | None:
    role, column = role_of(name)
    return (column.lower(), role) if role else None


def _names_columns(names: Sequence[str], table: Table) -> bool:
    """Whether more than half of the fields are names of declared columns: no row of data is."""
    declared = {column.lower() for column in table.source_columns}
    return 2 * sum(name.lower() in declared for name in names) > len(names)


def _names_each_column_once(names: Sequence[str], table: Table) -> bool:
    """Whether the header has the whole key, which identifies rows, and no name twice."""
    times = Counter(name.lower() for name in names)
    return all(column.lower() in times for column in table.key) and max(times.values()) == 1


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
