"""The types of a table's columns as the server describes them, and which Spark SQL type serves each.

A column has PostgreSQL's type number (oid), or the server's own type, or both. Put here what either of them means. Not
here: reading a table's description (``schemas``), and the values of columns (``tuples``).

Vendor: yugabyte-db, src/yb/common/value.proto (PersistentDataType); PostgreSQL, src/include/catalog/pg_type.dat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
