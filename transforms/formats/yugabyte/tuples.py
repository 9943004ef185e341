"""The values in a row message's tuples (DatumMessagePB): PostgreSQL's, which the server has turned into plain data.

Put here how a value of a tuple is read. Not here: the server's own values, which YCQL's tables have
(``families/yugabyte/values``), and what a row message does with its tuples (``decode``).

Vendor: yugabyte-db, src/yb/common/value.proto of 2.13 (DatumMessagePB) and AddColumnToMap in cdcsdk_producer.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from transforms.event import Value
from transforms.families.yugabyte import octets, values
from transforms.families.yugabyte.messages import camel, listed, other_shape
from transforms.families.yugabyte.scalars import filled
from transforms.json_values import as_text

DATUMS: Final[Mapping[str, str]] = {
    "DatumInt32": "datum_int32",
    "DatumInt64": "datum_int64",
    "DatumFloat": "datum_float",
    "DatumDouble": "datum_double",
    "DatumBool": "datum_bool",
    "DatumString": "datum_string",
    "DatumBytes": "datum_bytes",
    "DatumMissing": "datum_missing",
}
"""The members of a datum, as Go names them and as protobuf does."""

OWN: Final = "cql_value"
"""The field that holds a value of the server's own."""

NEWER: Final = ("pg_ql_value", "pg_catalog_value")
"""Other ways to carry a value, of newer servers for other clients: not read, and not taken for null."""

_READ: Final = frozenset(DATUMS.values())
_FIELDS: Final[Mapping[str, str]] = {
    spelled: name for name in (*_READ, *NEWER, OWN) for spelled in (name, camel(name))
}
_MEMBERS: Final[Mapping[str, str]] = {**_FIELDS, **DATUMS}

_BYTEA: Final = (17, "17")
"""PostgreSQL's oid of a bytea, as numbers are written in either encoding."""


class NamedValue(NamedTuple):
    """One named value of a tuple.

    ``oid`` is PostgreSQL's number of the column's type, a number or a text. ``kind``: which member of the datum is set,
    None for null. ``is_read``: whether ``value`` is what the server has; else the column cannot be taken.
    """

    name: str
    oid: int | str | None
    kind: str | None
    value: Value
    is_read: bool = True

    @property
    def is_mentioned(self) -> bool:
        """False for a value that is marked as missing: the row has one, and nobody says which."""
        return self.kind != "datum_missing"


def read_tuple(held: object, what: str, text_columns: Collection[str]) -> list[NamedValue]:
    """The named values of a tuple.

    Entries without a name are skipped: the server adds them to make the old tuple as long as the new one.
    ``text_columns`` are those that are declared, and not as binary: bytes are the text there that PostgreSQL writes.
    """
    found = []
    for datum in listed(held, what):
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
            found.append(NamedValue(name, oid, kind, member))
        elif kind == OWN:
            found.append(_own(name, oid, values.read_value(member), text_columns))
        else:
            value = _value(kind, member, name, text_columns)
            found.append(NamedValue(name, oid, kind, value, kind is None or kind in _READ))
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


def _value(kind: str | None, member: Any, name: str, text_columns: Collection[str]) -> Value:
    """What a datum holds: bytes where it is bytes, or a bytea as PostgreSQL writes one; all else as it is written."""
    written = as_text(member)
    if written is None or kind not in ("datum_bytes", "datum_string"):
        return written
    data = octets.decoded(written) if kind == "datum_bytes" else octets.from_bytea(written)
    return written if data is None else octets.value(data, name, text_columns)


def _own(
    name: str, oid: int | str | None, own: values.ServerValue, text_columns: Collection[str]
) -> NamedValue:
    value = own.value
    if type(value) is bytes:
        value = octets.value(value, name, text_columns)
    return NamedValue(name, oid, own.kind, value, own.is_read)


def image(mentioned: Iterable[NamedValue]) -> dict[str, Value]:
    """Column to value; a column whose value is marked as missing is not mentioned."""
    return {one.name: one.value for one in mentioned if one.is_mentioned}


def names_twice(held: Sequence[NamedValue]) -> bool:
    """Whether a tuple names a column twice: nothing says which value counts."""
    return len({one.name for one in held}) < len(held)
