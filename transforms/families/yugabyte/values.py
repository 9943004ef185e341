"""The server's own values (QLValuePB) as JSON: bytes, uuids, addresses, hybrid times, and what holds others.

Vendor: https://protobuf.dev/programming-guides/json says that writers use the standard alphabet with padding. Only
that is taken for base64: what is none may be the text itself, written by a client in its own way.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

from transforms.event import Value
from transforms.families.yugabyte.messages import (
    camel_case,
    field_names,
    message_fields,
    other_shape,
    repeated_field,
    unsigned,
    whole,
)
from transforms.fault import Fault, shown
from transforms.json_values import as_text


def bytes_of_base64(base64: str) -> bytes | None:
    """The bytes that the base64 says; None where it is none."""
    try:
        return binascii.a2b_base64(base64, strict_mode=True)
    except ValueError:
        return None


def text_of_base64(base64: str) -> str | None:
    """The text whose bytes the base64 says; None where it is none, or its bytes are no text."""
    try:
        return binascii.a2b_base64(base64, strict_mode=True).decode()
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def name_of_base64(base64: str) -> str | None:
    """The same for names, of which there are few."""
    return text_of_base64(base64)


def to_bytea(data: bytes) -> str:
    r"""Bytes as PostgreSQL writes a bytea: ``\xdeadbeef``."""
    return f"\\x{data.hex()}"


def from_bytea(bytea: str) -> bytes | None:
    r"""The bytes of a bytea as PostgreSQL writes it; None where the text is written in another way."""
    if not bytea.startswith("\\x"):
        return None
    try:
        # Unlike bytes.fromhex, this takes no blanks between the digits.
        return binascii.unhexlify(bytea[2:])
    except ValueError:
        return None


_UUID: Final = (slice(0, 8), slice(8, 12), slice(12, 16), slice(16, 20), slice(20, 32))


def uuid_text(data: bytes) -> str:
    """Sixteen bytes as a uuid; other numbers of bytes as their digits."""
    digits = data.hex()
    return "-".join(digits[part] for part in _UUID) if len(data) == 16 else digits


def address_text(data: bytes) -> str | None:
    """An internet address: four numbers, or eight groups of hexadecimal digits, none left out; None for all else."""
    if len(data) == 4:
        return ".".join(map(str, data))
    if len(data) == 16:
        return ":".join(f"{int.from_bytes(data[at : at + 2]):x}" for at in range(0, 16, 2))
    return None


# Hybrid times, and the server's own days and moments. A hybrid time is an unsigned 64-bit number: microseconds since
# 1970, shifted by 12 bits of a logical clock.
# Vendor: yugabyte-db, src/yb/common/hybrid_time.h, and DateTime::DateFromString in src/yb/util/date_time.cc.

_LOGICAL_BITS: Final = 12
_LOGICAL: Final = (1 << _LOGICAL_BITS) - 1
_LAST_MICROSECOND: Final = 253_402_300_799_999_999
"""Of the year 9999."""

_FIRST_OF_1970: Final = date(1970, 1, 1).toordinal()
_CYCLE: Final = 146_097
"""Days after which the calendar repeats itself: 400 years."""

_MICROSECONDS_OF_A_DAY: Final = 86_400_000_000


def instant_of(hybrid: Any) -> tuple[int | None, int | None]:
    """A hybrid time as two numbers that order as it does: microseconds since 1970, and the logical clock."""
    number = unsigned(hybrid)
    if number is None:
        return None, None
    return number >> _LOGICAL_BITS, number & _LOGICAL


def moment_of(hybrid: Any) -> int | None:
    """When a hybrid time is, in microseconds since 1970; None beyond the year 9999. No order depends on it."""
    micros, _ = instant_of(hybrid)
    return micros if micros is not None and micros <= _LAST_MICROSECOND else None


def day_text(days: int) -> str:
    """The day that is so many days after the first of January 1970.

    Years that a date cannot have (``+5881580-07-11``, ``-0001-12-31``) are written as ISO 8601 expands them: such a
    text says what the source has, and fits no column but one of texts.
    """
    cycles, rest = divmod(days, _CYCLE)
    found = date.fromordinal(_FIRST_OF_1970 + rest)
    year = found.year + 400 * cycles
    spelled = f"{year:04}" if 1 <= year <= 9999 else f"{year:+05}"
    return f"{spelled}-{found.month:02}-{found.day:02}"


def timestamp_text(micros: int) -> str:
    """The moment so many microseconds after 1970, in UTC, without a zone; ``day_text`` says what years it can have."""
    days, rest = divmod(micros, _MICROSECONDS_OF_A_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{day_text(days)} {clock}" + (f".{fraction:06}".rstrip("0") if fraction else "")


# The server's own single values (QLValuePB): numbers, texts, bytes, uuids, addresses, days and moments.
# Vendor: yugabyte-db, src/yb/common/value.proto.


PLAIN: Final = (
    *("int8_value", "int16_value", "int32_value", "int64_value", "uint32_value", "uint64_value"),
    *("float_value", "double_value", "bool_value", "time_value"),
)
"""Numbers and flags: the text is the value. A time is the number of nanoseconds since midnight."""


def _bytes(base64: str) -> Value:
    data = bytes_of_base64(base64)
    return base64 if data is None else data


def _uuid(base64: str) -> str:
    data = bytes_of_base64(base64)
    return base64 if data is None else uuid_text(data)


def _address(base64: str) -> str:
    data = bytes_of_base64(base64)
    return (data is not None and address_text(data)) or base64


def _day(number: str) -> str:
    """Days are unsigned, and 2^31 is the first of January 1970; what is no such number stays as it is written."""
    days = unsigned(number)
    return number if days is None or days >= 1 << 32 else day_text(days - (1 << 31))


def _timestamp(number: str) -> str:
    micros = whole(number)
    return number if micros is None else timestamp_text(micros)


READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    **dict.fromkeys((*PLAIN, "string_value"), lambda written: written),
    "binary_value": _bytes,
    "uuid_value": _uuid,
    "timeuuid_value": _uuid,
    "inetaddress_value": _address,
    "timestamp_value": _timestamp,
    "date_value": _day,
}


# The same where they hold others: xCluster's records, and YCQL's in the CDC SDK. Texts are bytes there, so that
# JSON has them as base64. Collections become JSON, as columns of such types are declared.


SINGLE: Final = tuple(READERS)

SEQUENCES: Final = ("list_value", "set_value", "tuple_value", "frozen_value")

READ: Final = frozenset((*SINGLE, *SEQUENCES, "map_value"))

UNREAD: Final = ("decimal_value", "varint_value", "jsonb_value", "virtual_value", "gin_null_value")
"""Values in the server's own encodings: not read, and not taken for null."""


class NamedValue(NamedTuple):
    """One value, and the column that it is of.

    ``kind``: the member of the datum, or of QLValuePB, that is set, None for null; of a collection with something in it
    that is not read, the kind of that. ``value`` is a column's value. ``is_read``: whether it is what the server has;
    else the column cannot be taken. ``is_base64``: False for a text, or a name, that is none, and so was taken as it
    stands. ``name``: None where nothing names the column. ``oid``: PostgreSQL's number of its type, a number or a text.
    """

    kind: str | None
    value: Value
    is_read: bool = True
    is_base64: bool = True
    name: str | None = None
    oid: int | str | None = None

    def named(
        self, name: str, text_columns: Collection[str], oid: int | str | None = None
    ) -> NamedValue:
        """The value of this column: where that is declared as text, bytes are the text that PostgreSQL writes."""
        value = self.value
        if type(value) is bytes and name in text_columns:
            value = to_bytea(value)
        return NamedValue(self.kind, value, self.is_read, self.is_base64, name, oid)


NULL: Final = NamedValue(None, None)

MISSING: Final = "datum_missing"
"""The kind of a value that is marked as missing: the row has one, and nobody says which."""


def image_of(mentioned: Iterable[NamedValue]) -> dict[str, Value]:
    """Column to value; a column whose value is marked as missing is not mentioned."""
    return {one.name or "": one.value for one in mentioned if one.kind != MISSING}


def values_fault(*tuples: Sequence[NamedValue]) -> Fault | None:
    """Why values are no columns of a row: one has no name or is not read, or one tuple has two values of a column.

    A tuple may say the same of a column again: https://github.com/yugabyte/yugabyte-db/issues/15100.
    """
    for one in chain(*tuples):
        if one.name is None:
            return Fault("missing_field", "a value names no column")
        if not one.is_read:
            comes = f"column {shown(one.name)} comes as {shown(one.kind)}"
            return Fault("unread_value", f"{comes}, which is not read")
    for some in tuples:
        named = {one.name for one in some}
        if len(named) < len(some) and len(named) < len(
            {(one.name, one.kind, one.value) for one in some}
        ):
            names = shown(", ".join([str(one.name) for one in some]))
            return Fault("column_twice", f"a column has two values: {names}")
    return None


_KINDS: Final[Mapping[str, str]] = {
    spelled: name
    for name in (*READ, *UNREAD)
    for spelled in (name, camel_case(name), camel_case(name)[0].upper() + camel_case(name)[1:])
}
"""The members of the oneof as protobuf, protojson and Go name them."""


def read_value(value: object) -> NamedValue:
    """A value; one that is not there, or in which no member is set, is null."""
    kind, member = _member(value)
    if kind == "string_value" and type(member) is str:
        decoded = text_of_base64(member)
        return (
            NamedValue(kind, member, is_base64=False)
            if decoded is None
            else NamedValue(kind, decoded)
        )
    if kind is None:
        return NULL
    if kind not in READ:
        return NamedValue(kind, as_text(member), is_read=False)
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](kind, member)
    return NamedValue(kind, READERS[kind](as_text(member) or ""))


def _member(value: object) -> tuple[str | None, Any]:
    """The member that is set, by protobuf's name, or its own where protobuf does not know it; None for none.

    Go writes the oneof as a field ``Value`` that holds it, or null; protojson writes its member alone.
    """
    if value is None:
        return None, None
    if type(value) is not dict:
        raise other_shape("a value is no object")
    inside = value.get("Value")
    if inside is None:
        inside = value
    elif type(inside) is not dict:
        raise other_shape("Value is no object")
    for name, member in inside.items():
        if member is not None:
            return _KINDS.get(name, name), member
    return None, None


class _Unread(ValueError):
    """Something in a collection is not read; its text is what."""


_SEQUENCE: Final = field_names("elems")
_MAP: Final = field_names("keys", "values")
_JSON_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false")


def _sequence(kind: str, member: Any) -> NamedValue:
    elements = repeated_field(
        message_fields(member, _SEQUENCE, kind).get("elems"), f"elems of {kind}"
    )
    try:
        return NamedValue(kind, f"[{','.join([_json(one) for one in elements])}]")
    except _Unread as unread:
        return NamedValue(str(unread), None, is_read=False)


def _map(kind: str, member: Any) -> NamedValue:
    parts = message_fields(member, _MAP, kind)
    keys = repeated_field(parts.get("keys"), f"keys of {kind}")
    values = repeated_field(parts.get("values"), f"values of {kind}")
    if len(keys) != len(values):
        raise other_shape(f"{kind} has {len(keys)} keys and {len(values)} values")
    try:
        entries = [
            f"{_as_name(_json(key))}:{_json(value)}"
            for key, value in zip(keys, values, strict=True)
        ]
    except _Unread as unread:
        return NamedValue(str(unread), None, is_read=False)
    return NamedValue(kind, f"{{{','.join(entries)}}}")


def _json(value: object) -> str:
    """An element of a collection as JSON; a collection in a collection is not read."""
    if _member(value)[0] in _COLLECTIONS:
        raise _Unread("collection_of_collections")
    own = read_value(value)
    if not own.is_read:
        raise _Unread(own.kind)
    if own.value is None:
        return "null"
    written = to_bytea(own.value) if isinstance(own.value, bytes) else own.value
    if own.kind in PLAIN and _JSON_WORD.fullmatch(written):
        return written
    return json.dumps(written, ensure_ascii=False)


def _as_name(written: str) -> str:
    """A key of a JSON object is a text."""
    return written if written.startswith('"') else f'"{written}"'


_COLLECTIONS: Final[Mapping[str, Callable[[str, Any], NamedValue]]] = {
    **dict.fromkeys(SEQUENCES, _sequence),
    "map_value": _map,
}


_UUID_TEXT = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def transaction_id(field: Any) -> str | None:
    """A transaction's id, as a uuid where it is one; None where there is none.

    The field is bytes, so that JSON has it as base64: of a uuid's text (the CDC SDK) or of its 16 bytes (xCluster). A
    client may have written the uuid itself, too. All else is taken as it stands.
    """
    written = as_text(field)
    return _id_of_text(written) if written else None


@lru_cache(maxsize=1024)
def _id_of_text(written: str) -> str:
    if _UUID_TEXT.fullmatch(written):
        return written.lower()
    data = bytes_of_base64(written)
    if data is None:
        return written
    if len(data) == 16:
        return uuid_text(data)
    spelled = data.decode("ascii", "replace")
    return spelled.lower() if _UUID_TEXT.fullmatch(spelled) else written
