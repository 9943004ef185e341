"""Messages in Arcion's other format for Kafka, ``replication-format: NATIVE``, brought to envelopes.

A change has tableName, opType, cursor (an object) and both images; an image that there is none of is null. A row of the
snapshot is a bare object of columns, and nothing in it names its table: it is taken where its path is that of a table
that the feed declares, and it has all of that table's columns. There is no schema: types are the feed's.

Put here what such a message looks like. Not here: what an envelope means (the format itself, and
``transforms/families/connect``), and the fields of a cursor (``transforms/families/arcion/cursors.py``).

Vendor: Arcion documentation, "Native format" of its CDC formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transforms.families.arcion import cursors
from transforms.json_values import as_text
from transforms.record import BronzeRecord

_NATIVE_OPERATIONS: Final = {"i": "insert", "u": "update", "d": "delete", "r": "replace"}
_NATIVE: Final = frozenset({"tableName", "opType", "cursor"})
_ENVELOPED: Final = frozenset({"op", "source", "before", "after", "payload"})


def as_envelope(
    document: Mapping[str, Any], record: BronzeRecord, *, tables: Mapping[str, frozenset[str]]
) -> Mapping[str, Any] | None:
    """The envelope of a NATIVE message; None for any other."""
    if document.keys() >= _NATIVE:
        return _of_change(document)
    columns = tables.get(record.path_table or "")
    is_row = columns is not None and document.keys() >= columns
    if not is_row or "payload_2" in document or not document.keys().isdisjoint(_ENVELOPED):
        return None
    source = {"table": record.path_table, "snapshot": "true"}
    return {"op": "read", "source": source, "after": document}


def _of_change(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The envelope of a change, with its own images; without a cursor it is of the snapshot."""
    table = document["tableName"]
    table = table if type(table) is dict else {}
    namespace = table.get("namespace")
    namespace = namespace if type(namespace) is dict else {}
    operation = as_text(document["opType"]) or ""
    cursor = _cursor(document["cursor"])
    source = {
        "db": namespace.get("catalog"),
        "schema": namespace.get("schema"),
        "table": table.get("name"),
        "snapshot": "true" if cursor is None else "false",
        **{envelope: (cursor or {}).get(name) for envelope, name in _OF_CURSOR.items()},
    }
    head = {
        "op": _NATIVE_OPERATIONS.get(operation.strip(" ").lower(), document["opType"]),
        "ts_ms": (cursor or {}).get("extractionTimestamp"),
        "source": source,
    }
    return {**document, **head}


_OF_CURSOR: Final = {
    "ts_ms": "timestamp",
    "file": "log",
    "pos": "position",
    "row": "logSeqNum",
}


def _cursor(cursor: Any) -> Mapping[str, Any] | None:
    """The cursor's fields under their mended names; None for a null cursor. It may be JSON within a text.

    It has no fields where it is no object, or two names are one after mending: neither can be trusted then.
    """
    if type(cursor) is str:
        return cursors.cursor_fields(cursor)
    if type(cursor) is not dict:
        return None if cursor is None else {}
    fields = {cursors.mended(name): value for name, value in cursor.items()}
    return fields if len(fields) == len(cursor) else {}
