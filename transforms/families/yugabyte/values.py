"""The server's own values (QLValuePB) as JSON: those of xCluster's records, and YCQL's in the CDC SDK.

Texts are bytes there, so that JSON has them as base64. Collections become JSON, as columns of such types are declared.
Put here how a value is read, and collections of values. Not here: single values (``single_values``), and PostgreSQL's
values, which the CDC SDK has in messages of its own (``formats/yugabyte``).

Vendor: yugabyte-db, src/yb/common/value.proto.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from transforms.event import Value
from transforms.families.yugabyte import octets
from transforms.families.yugabyte.messages import (
    camel,
    fields,
    listed,
    names,
    other_shape,
)
from transforms.families.yugabyte.single_values import PLAIN, READERS
from transforms.json_values import as_text

SINGLE: Final = (
    *PLAIN,
    *("string_value", "binary_value", "uuid_value", "timeuuid_value", "inetaddress_value"),
    *("timestamp_value", "date_value"),
)

SEQUENCES: Final = ("list_value", "set_value", "tuple_value", "frozen_value")

READ: Final = frozenset((*SINGLE, *SEQUENCES, "map_value"))

UNREAD: Final = ("decimal_value", "varint_value", "jsonb_value", "virtual_value", "gin_null_value")
"""Values in the server's own encodings: not read, and not taken for null."""


class ServerValue(NamedTuple):
    """What one value says.

    ``kind``: the member of QLValuePB that is set, None for null; of a collection with something in it that is not read,
    the kind of that. ``value`` is a column's value. ``is_read``: whether it is what the server has; else the column
    cannot be taken. ``is_base64``: False for a text that is none, and so was taken as it stands.
    """

    kind: str | None
    value: Value
    is_read: bool = True
    is_base64: bool = True


NULL: Final = ServerValue(None, None)

_KINDS: Final[Mapping[str, str]] = {
    spelled: name
    for name in (*READ, *UNREAD)
    for spelled in (name, camel(name), camel(name)[0].upper() + camel(name)[1:])
}
"""The members of the oneof as protobuf, protojson and Go name them."""


def read_value(value: object) -> ServerValue:
    """A value; one that is not there, or in which no member is set, is null."""
    kind, member = _member(value)
    if kind == "string_value" and type(member) is str:
        decoded = octets.decoded_text(member)
        return (
            ServerValue(kind, member, is_base64=False)
            if decoded is None
            else ServerValue(kind, decoded)
        )
    if kind is None:
        return NULL
    if kind not in READ:
        return ServerValue(kind, as_text(member), is_read=False)
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](kind, member)
    return ServerValue(kind, READERS[kind](as_text(member) or ""))


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


_SEQUENCE: Final = names("elems")
_MAP: Final = names("keys", "values")
_JSON_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false")


def _sequence(kind: str, member: Any) -> ServerValue:
    elements = listed(fields(member, _SEQUENCE, kind).get("elems"), f"elems of {kind}")
    try:
        return ServerValue(kind, f"[{','.join([_json(one) for one in elements])}]")
    except _Unread as unread:
        return ServerValue(str(unread), None, is_read=False)


def _map(kind: str, member: Any) -> ServerValue:
    parts = fields(member, _MAP, kind)
    keys = listed(parts.get("keys"), f"keys of {kind}")
    values = listed(parts.get("values"), f"values of {kind}")
    if len(keys) != len(values):
        raise other_shape(f"{kind} has {len(keys)} keys and {len(values)} values")
    try:
        entries = [
            f"{_as_name(_json(key))}:{_json(value)}"
            for key, value in zip(keys, values, strict=True)
        ]
    except _Unread as unread:
        return ServerValue(str(unread), None, is_read=False)
    return ServerValue(kind, f"{{{','.join(entries)}}}")


_COLLECTIONS: Final[Mapping[str, Callable[[str, Any], ServerValue]]] = {
    **dict.fromkeys(SEQUENCES, _sequence),
    "map_value": _map,
}


def _json(value: object) -> str:
    """An element of a collection as JSON; a collection in a collection is not read."""
    if _member(value)[0] in _COLLECTIONS:
        raise _Unread("collection_of_collections")
    own = read_value(value)
    if not own.is_read:
        raise _Unread(own.kind)
    if own.value is None:
        return "null"
    written = octets.to_bytea(own.value) if isinstance(own.value, bytes) else own.value
    if own.kind in PLAIN and _JSON_WORD.fullmatch(written):
        return written
    return json.dumps(written, ensure_ascii=False)


def _as_name(written: str) -> str:
    """A key of a JSON object is a text."""
    return written if written.startswith('"') else f'"{written}"'
