"""The columns of an xCluster record: each pair of its key or its changes, with its name and value.

Put here how one pair (KeyValuePairPB) is read. Not here: the record around it (``records``), and how the server's own
values are read (``families/yugabyte/values``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from transforms.event import Value
from transforms.families.yugabyte import octets, values
from transforms.families.yugabyte.messages import (
    other_shape,
)
from transforms.json_values import as_text


class Column(NamedTuple):
    """One pair of a record's key or changes; ``name`` is None where it has none. See ``values.Own`` for the others."""

    name: str | None
    kind: str | None
    value: Value
    is_read: bool
    is_base64: bool


def column_of(pair: object, texts: Collection[str]) -> Column:
    """One KeyValuePairPB: its name is bytes, and so base64. Of a table's ``texts`` bytes are written as text."""
    if pair is None:
        return Column(None, None, None, is_read=True, is_base64=True)
    if type(pair) is not dict:
        raise other_shape("a pair of key or changes is no object")
    kind, value, is_read, is_base64 = values.read_value(pair.get("value"))
    written = as_text(pair.get("key"))
    if not written:
        return Column(None, kind, value, is_read, is_base64)
    name = octets.name(written)
    if name is None:
        name, is_base64 = written, False
    if type(value) is bytes:
        value = octets.value(value, name, texts)
    return Column(name, kind, value, is_read, is_base64)


def image(columns: Sequence[Column]) -> dict[str, Value]:
    """Column to value."""
    return {one.name or "": one.value for one in columns}
