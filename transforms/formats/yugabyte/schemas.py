"""The values in a row message's tuples, and what DDL messages say of tables: key, types, dropped columns.

Vendor: yugabyte-db, src/yb/common/value.proto of 2.13 (DatumMessagePB) and AddColumnToMap in cdcsdk_producer.cc.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final, NamedTuple

from transforms.event import EventWarning, StreamSchema, Value
from transforms.families.yugabyte import values
from transforms.families.yugabyte.messages import (
    Names,
    camel_case,
    field_names,
    filled,
    message_fields,
    message_part,
    other_shape,
    repeated_field,
    unsigned,
    whole,
)
from transforms.families.yugabyte.values import NamedValue
from transforms.feed.feed import Table
from transforms.json_values import as_text

DATUMS: Final[Mapping[str, str]] = {
    "DatumInt32": "datum_int32",
    "DatumInt64": "datum_int64",
    "DatumFloat": "datum_float",
    "DatumDouble": "datum_double",
    "DatumBool": "datum_bool",
    "DatumString": "datum_string",
    "DatumBytes": "datum_bytes",
    "DatumMissing": values.MISSING,
}
"""The members of a datum, as Go names them and as protobuf does."""

OWN_FIELD: Final = "cql_value"
"""The field that holds a value of the server's own."""

NEWER_FIELDS: Final = ("pg_ql_value", "pg_catalog_value")
"""Other ways to carry a value, of newer servers for other clients: not read, and not taken for null."""

_READ: Final = frozenset(DATUMS.values())
_FIELDS: Final[Mapping[str, str]] = {
    spelled: name
    for name in (*_READ, *NEWER_FIELDS, OWN_FIELD)
    for spelled in (name, camel_case(name))
}
_MEMBERS: Final[Mapping[str, str]] = {**_FIELDS, **DATUMS}

_BYTEA: Final = (17, "17")
"""PostgreSQL's oid of a bytea, as numbers are written in either encoding."""


def read_tuple(held: object, what: str, text_columns: Collection[str]) -> list[NamedValue]:
    """The named values of a tuple.

    Entries without a name are skipped: the server adds them to make the old tuple as long as the new one.
    ``text_columns`` are those that are declared, and not as binary: bytes are the text there that PostgreSQL writes.
    """
    found = []
    for datum in repeated_field(held, what):
        if datum is None:
            continue
        if type(datum) is not dict:
            raise other_shape(f"a value of {what} is no object")
        name = filled(datum.get("column_name")) or filled(datum.get("columnName"))
        if name is None:
            continue
        oid = datum.get("column_type")
        if type(oid) is not int:
            oid = as_text(datum.get("columnType") if oid is None else oid)
        kind, member = _member(datum)
        if kind == "datum_string" and type(member) is str and oid not in _BYTEA:
            # Most are such.
            found.append(NamedValue(kind, member, name=name, oid=oid))
            continue
        own = values.read_value(member) if kind == OWN_FIELD else _value(kind, member, oid)
        found.append(own.named(name, text_columns, oid))
    return found


def _member(datum: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The member that is set, and what it holds; None for none. One that is not known keeps its own name.

    Go writes the oneof as a field ``Datum`` that holds it, or null; protojson writes its member alone.
    """
    of_go = datum.get("Datum")
    if of_go is not None:
        if type(of_go) is not dict:
            raise other_shape("Datum is no object")
        for member, held in of_go.items():
            return _MEMBERS.get(member, member), held
    for field, held in datum.items():
        if held is not None:
            kind = _FIELDS.get(field)
            if kind is not None:
                return kind, held
            if field.startswith("datum"):
                return field, held
    return None, None


def _value(kind: str | None, member: Any, oid: int | str | None) -> NamedValue:
    """What a datum holds: bytes where it is bytes, or a bytea as PostgreSQL writes one; all else as it is written."""
    written = as_text(member)
    data = None
    if written is not None and kind == "datum_bytes":
        data = values.bytes_of_base64(written)
    elif written is not None and kind == "datum_string" and oid in _BYTEA:
        data = values.from_bytea(written)
    return NamedValue(kind, written if data is None else data, kind is None or kind in _READ)


# The types of a table's columns: PostgreSQL's type number (oid), or the server's own type, or both.
# Vendor: yugabyte-db, src/yb/common/value.proto (PersistentDataType); PostgreSQL, src/include/catalog/pg_type.dat.


_TYPE_OF_OID: Final[Mapping[int, str]] = {
    16: "boolean",
    17: "binary",
    **dict.fromkeys((20, 26), "bigint"),
    21: "smallint",
    23: "int",
    700: "float",
    701: "double",
    1082: "date",
    1114: "timestamp_ntz",
    1184: "timestamp",
}
"""PostgreSQL's types that Spark has; all others are kept as the texts that they come as (numerics, too: nothing says
their scale)."""

_MAINS: Final = (
    *("NULL_VALUE_TYPE", "INT8", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT", "DOUBLE"),
    *("BINARY", "TIMESTAMP", "DECIMAL", "VARINT", "INET", "LIST", "MAP", "SET", "UUID", "TIMEUUID"),
    *("TUPLE", "TYPEARGS", "USER_DEFINED_TYPE", "FROZEN", "DATE", "TIME", "JSONB"),
)
"""The server's own types, by number from 0 (value.proto, PersistentDataType)."""

MAIN_OF_NUMBER: Final[Mapping[str, str]] = {str(at): name for at, name in enumerate(_MAINS)}

_TYPE_OF_MAIN: Final[Mapping[str, str]] = {
    **{"INT8": "tinyint", "INT16": "smallint", "INT32": "int", "INT64": "bigint"},
    **{"BOOL": "boolean", "FLOAT": "float", "DOUBLE": "double"},
    **{"TIMESTAMP": "timestamp", "DATE": "date"},
}
"""For columns without an oid."""


def type_of(oid: int | None, main: str | None) -> str:
    """The Spark SQL type of a column, by its PostgreSQL oid, or by the server's own type where it has none."""
    if oid:
        return _TYPE_OF_OID.get(oid, "string")
    return _TYPE_OF_MAIN.get(main or "", "string")


# What DDL messages say of a table. One holds the whole list of columns as it is from there on (CDCSDKSchemaPB); it is
# sent once per tablet, at the start of every stream and after every ALTER.


TIME_TO_LIVE: Final = EventWarning(
    "time_to_live",
    "rows_live_for_ever",
    "No table of the source has rows that expire.",
    "Rows that expire leave the source without an event: gold keeps them. Set the table's time to live to 0, or delete"
    " its rows.",
)

_SCHEMA: Final[Names] = field_names("column_info", "tab_info")
_COLUMN_INFO: Final[Names] = field_names("name", "type", "is_key", "oid")
_TYPE: Final[Names] = field_names("main")
_TAB_INFO: Final[Names] = field_names("default_time_to_live")


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
    of_schema = message_fields(schema, _SCHEMA, "schema")
    listing = of_schema.get("column_info")
    columns = None
    if listing is not None:
        every = [_column(one) for one in repeated_field(listing, "column_info")]
        columns = tuple(one for one in every if one is not None)
    time_to_live = message_part(of_schema, "tab_info", _TAB_INFO).get("default_time_to_live")
    return TableSchema(columns, as_text(time_to_live))


def _column(info: object) -> ColumnInfo | None:
    if info is None:
        return None
    column = message_fields(info, _COLUMN_INFO, "a column of column_info")
    name = filled(column.get("name"))
    if name is None:
        return None
    main = as_text(message_part(column, "type", _TYPE).get("main"))
    is_key = (as_text(column.get("is_key")) or "").lower() in ("true", "1")
    if main is not None:
        main = MAIN_OF_NUMBER.get(main, main.upper())
    return ColumnInfo(name, main, is_key, whole(column.get("oid")))


def described_by_list(schema: TableSchema) -> StreamSchema | None:
    """The table as its list of columns describes it; None where there is none with a key."""
    columns = schema.columns or ()
    key = tuple(one.name for one in columns if one.is_key)
    return _sound(key, tuple((one.name, type_of(one.oid, one.main)) for one in columns))


def described_by_row(
    key: Sequence[NamedValue], *others: Sequence[NamedValue]
) -> StreamSchema | None:
    """The same, of a row message that says its key's values apart: it knows only the columns that it names."""
    oids: dict[str, int | str | None] = {}
    for one in chain(key, *others):
        oids.setdefault(one.name or "", one.oid)
    columns = tuple((name, type_of(whole(oid), None)) for name, oid in oids.items())
    return _sound(tuple(one.name or "" for one in key), columns)


def _sound(key: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> StreamSchema | None:
    if not key or len({name for name, _ in columns}) < len(columns):
        return None
    return StreamSchema(key, columns)


def dropped_columns(schema: TableSchema, table: Table, window: str) -> dict[str, Value] | None:
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
