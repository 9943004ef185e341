"""Tables that were dropped: they stand in the schema change topic alone.

A record of that topic has the statement (``ddl``), where it stands in the log, and what it did to each table
(``tableChanges``). Of a table that is dropped no row sends an event of its own. The records that a snapshot writes, to
make the tables anew, drop nothing.

Vendor: Debezium documentation, connector for MySQL, "Schema change topic" (``tableChanges``: CREATE, ALTER, DROP).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from transforms.families.connect.envelopes import Envelope

_QUOTED: Final = re.compile(r'"((?:[^"]|"")*)"')
_MOST_PARTS: Final = 3


class TableName(NamedTuple):
    """A table as a schema change names it."""

    catalog: str | None
    schema: str | None
    name: str


def dropped(envelope: Envelope) -> list[TableName]:
    """The tables that the statement of a schema change has dropped."""
    flag = (envelope.source.text("snapshot") or "false").lower()
    changes = envelope.body.get("tableChanges")
    if flag != "false" or type(changes) is not list:
        return []
    names = (_name_of(one) for one in changes if _is_drop(one))
    return [one for one in names if one is not None]


def _is_drop(change: Any) -> bool:
    return type(change) is dict and change.get("type") == "DROP"


def _name_of(change: dict[str, Any]) -> TableName | None:
    """The table of an id such as ``"shop"."orders"``; a name has up to three parts."""
    text = change.get("id")
    found: Sequence[str] = _QUOTED.findall(text) if type(text) is str else ()
    parts = [part.replace('""', '"') for part in found]
    if not 1 <= len(parts) <= _MOST_PARTS:
        return None
    catalog, schema, name = ([None] * (_MOST_PARTS - len(parts)) + parts)[-_MOST_PARTS:]
    return None if name is None else TableName(catalog, schema, name)
