"""What DDL messages say of a table: its key and types, the columns that it no longer has, its rows' time to live.

A DDL message holds the whole list of columns as it is from there on (CDCSDKSchemaPB). It is sent once per tablet, at
the start of every stream and after every ALTER. Put here what a description of a table says. Not here: where it stands
(``log_positions``), and which of several counts (``survey``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from transforms.event import StreamSchema, Value
from transforms.families.yugabyte.messages import Names, fields, listed, names, part
from transforms.families.yugabyte.scalars import filled, unsigned, whole
from transforms.feed.feed import Table
from transforms.formats.yugabyte.column_types import MAIN_OF_NUMBER, type_of
from transforms.formats.yugabyte.tuples import NamedValue
from transforms.json_values import as_text
from transforms.warning import EventWarning

TIME_TO_LIVE: Final = EventWarning(
    "time_to_live",
    "rows_live_for_ever",
    "No table of the source has rows that expire.",
    "Rows that expire leave the source without an event: gold keeps them. Set the table's time to live to 0, or delete"
    " its rows.",
)

_SCHEMA: Final[Names] = names("column_info", "tab_info")
_COLUMN_INFO: Final[Names] = names("name", "type", "is_key", "oid")
_TYPE: Final[Names] = names("main")
_TAB_INFO: Final[Names] = names("default_time_to_live")


class ColumnInfo(NamedTuple):
    """One column of the list: ``main`` is the server's own type by name, ``oid`` PostgreSQL's number of its type."""

    name: str
    main: str | None
    is_key: bool
    oid: int | None


class TableSchema(NamedTuple):
    """What a DDL message says of its table; ``columns`` are None where it has no list."""

    columns: tuple[ColumnInfo, ...] | None
    time_to_live: str | None

    @property
    def digest(self) -> str:
        """One text for what it says, in whichever encoding."""
        return sha256(json.dumps(self).encode()).hexdigest()

    @property
    def rows_expire(self) -> bool:
        """True for a table whose rows have a time to live."""
        return bool(unsigned(self.time_to_live))


def read_schema(schema: object) -> TableSchema:
    """The schema of a message; columns without a name are left out."""
    of_schema = fields(schema, _SCHEMA, "schema")
    listing = of_schema.get("column_info")
    columns = None
    if listing is not None:
        every = [_column(one) for one in listed(listing, "column_info")]
        columns = tuple(one for one in every if one is not None)
    time_to_live = part(of_schema, "tab_info", _TAB_INFO).get("default_time_to_live")
    return TableSchema(columns, as_text(time_to_live))


def _column(info: object) -> ColumnInfo | None:
    if info is None:
        return None
    column = fields(info, _COLUMN_INFO, "a column of column_info")
    name = filled(column.get("name"))
    if name is None:
        return None
    main = as_text(part(column, "type", _TYPE).get("main"))
    is_key = (as_text(column.get("is_key")) or "").lower() in ("true", "1")
    if main is not None:
        main = MAIN_OF_NUMBER.get(main, main.upper())
    return ColumnInfo(name, main, is_key, whole(column.get("oid")))


def described(schema: TableSchema) -> StreamSchema | None:
    """The table as its list of columns describes it; None where there is none with a key."""
    columns = schema.columns or ()
    key = tuple(one.name for one in columns if one.is_key)
    return _sound(key, tuple((one.name, type_of(one.oid, one.main)) for one in columns))


def described_by_row(
    key: Sequence[NamedValue], *others: Sequence[NamedValue]
) -> StreamSchema | None:
    """The same, of a row message that says its key's values apart: it knows only the columns that it names."""
    oids: dict[str, int | str | None] = {}
    for one in (*key, *(one for values in others for one in values)):
        oids.setdefault(one.name, one.oid)
    columns = tuple((name, type_of(whole(oid), None)) for name, oid in oids.items())
    return _sound(tuple(one.name for one in key), columns)


def _sound(key: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> StreamSchema | None:
    if not key or len({name for name, _ in columns}) < len(columns):
        return None
    return StreamSchema(key, columns)


def dropped(schema: TableSchema, table: Table, window: str) -> dict[str, Value] | None:
    """The declared columns that a list lacks, as an image that sets them to null; None where it lacks none.

    A column that the table does not have yet counts as missing, too; no row has a value in it by then, so that setting
    it to null is harmless. A list without the key's columns is taken for another table's.
    """
    if schema.columns is None:
        return None
    today = {table.renamed.get(one.name, one.name) for one in schema.columns}
    lacking = [
        name
        for name in table.columns
        if name not in today and not (name in table.since and window < table.since[name])
    ]
    if not lacking or not today.issuperset(table.key):
        return None
    return dict.fromkeys(lacking)
