"""Rows that Debezium's transform ExtractNewRecordState took out of their envelopes, put back into envelopes.

A row comes alone, with what ``add.fields`` has added to it: the operation, the table, fields of the source and whether
the row was deleted, each with a prefix (``__op``, ``__source_ts_ms``, ``__deleted``; ``add.fields.prefix``). A delete
is a row that says so, or a record whose value is null, or nothing, as the transform is set
(``delete.tombstone.handling.mode``). The operation may stand in a header of the record instead.

A null has no position in the source's log, so that rows and nulls of a topic stand in the order that they have there.
A row to which nothing was added, of a record without such a header, is one where the feed file says ``unwrapped``.

Vendor: Debezium documentation, "New Record State Extraction".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from transforms.families.connect.envelopes import Envelope, is_key_schema
from transforms.feed.feed import Feed, Table
from transforms.json_values import as_text, part

Fields: TypeAlias = Mapping[str, Any]

USUAL_PREFIX: Final = "__"
_OPERATIONS: Final = frozenset("rcudtm")
_DELETE: Final = "d"
_OF_SOURCE: Final = "source_"
_KNOWN: Final = frozenset(
    {
        *("op", "deleted", "table", "db", "schema", "ts_ms", "lsn", "txId", "file", "pos", "row"),
        *("gtid", "snapshot", "sequence", "connector", "name", "version", "scn", "commit_scn"),
        *("commit_lsn", "change_lsn", "event_serial_no", "ts_us", "ts_ns", "server_id", "thread"),
    }
)
"""What the transform is mostly told to add; what stands in the source of an envelope may have ``source_`` before it."""

_NO_ROWS: Final = frozenset({"ddl", "historyRecord", "tableChanges", "payload_2", "event_count"})
"""Fields of messages that are about no row: of schema changes, transactions, and of Arcion's first generation."""


class Unwrapped(NamedTuple):
    """A row in its envelope; ``added``: the names of what the transform has added to it."""

    body: Fields
    added: frozenset[str]

    def schema_of_envelope(self, schema: Fields) -> Fields:
        """Connect's schema of such an envelope, from that of the row."""
        fields = schema.get("fields")
        if type(fields) is list:
            # A name may be anything: a schema comes from outside.
            fields = [one for one in fields if as_text(part(one, "field")) not in self.added]
        return {"fields": [{"field": "after", "fields": fields}]}


class Unwrapper:
    """Puts the rows of a feed into envelopes, by what the feed declares of its tables."""

    __slots__ = ("_mode", "_tables")

    def __init__(self, feed: Feed) -> None:
        self._mode = feed.unwrapped
        self._tables: dict[str, tuple[frozenset[str], tuple[frozenset[str], ...]]] = {}
        for name, table in feed.tables.items():
            columns = frozenset({*table.source_columns, *table.renamed})
            known = (columns, tuple(_spellings(table, column) for column in table.key))
            for one in (name, *table.was):
                self._tables[one] = self._tables[one.rpartition(".")[2]] = known

    def __call__(self, document: Fields | None, envelope: Envelope) -> Fields | None:
        """The envelope of a row, or of a null that stands for a delete; None for any other message."""
        if document is None:
            return self._of_null(envelope)
        schema, row = _row_in(document)
        unwrapped = None if row is None else self.of_row(row, envelope)
        if unwrapped is None or schema is None:
            return None if unwrapped is None else unwrapped.body
        return {"schema": unwrapped.schema_of_envelope(schema), "payload": unwrapped.body}

    def of_row(self, row: Fields, envelope: Envelope) -> Unwrapped | None:
        """The envelope of an object that is none and has no schema beside it; None for an object that is no row."""
        is_enveloped = type(row.get("source")) is dict or (
            "op" in row and ("before" in row or "after" in row)
        )
        if is_enveloped or not _NO_ROWS.isdisjoint(row) or row.keys() == {"ts_ms"}:
            return None
        of_topic = source_of_topic(envelope)
        columns, key = self._tables.get(as_text(of_topic.get("table")) or "", ((), ()))
        prefix = _prefix_of(row, columns)
        found = _added_to((*row,), prefix, columns)
        said = {bare: row[name] for name, bare in found.items()}
        in_header = envelope.message.header("__op")
        if not said and in_header is None and self._mode is None:
            return None
        if (table := as_text(said.get("table"))) in self._tables:
            _, key = self._tables[table or ""]
        values = {name: value for name, value in row.items() if name not in found}
        operation = as_text(said.get("op")) or in_header or "u"
        if as_text(said.get("deleted")) == "true":
            operation = _DELETE
        envelope.is_unwrapped = True
        envelope.tells_deletes = (
            "deleted" in said or in_header is not None or self._mode is not None
        )
        body = {
            "op": operation,
            "ts_ms": said.get("ts_ms") if "source_ts_ms" in said else None,
            "source": _source(said, of_topic),
            # Of a row that is gone the transform may have nulls for all but the key.
            "before" if operation == _DELETE else "after": _of_key(values, key, operation),
        }
        return Unwrapped(body, frozenset(found))

    def _of_null(self, envelope: Envelope) -> Fields | None:
        message = envelope.message
        is_delete = message.header("__op") == _DELETE or (
            self._mode is not None and self._mode != "drop"
        )
        if not is_delete or message.offset is None or message.key is None:
            return None
        envelope.is_unwrapped = envelope.tells_deletes = True
        return {"op": _DELETE, "source": _source({}, source_of_topic(envelope))}


def _spellings(table: Table, column: str) -> frozenset[str]:
    return frozenset({column, *(old for old, new in table.renamed.items() if new == column)})


def _row_in(document: Fields) -> tuple[Fields | None, Fields | None]:
    """Connect's schema of a row, where there is one, and the row; no row where the document is a key."""
    schema, row = None, document
    if "payload" in document and document.keys() <= {"schema", "payload"}:
        schema, row = document.get("schema"), document["payload"]
        if type(row) is not dict or is_key_schema(schema):
            return None, None
    return (schema if type(schema) is dict else None), row


def source_of_topic(envelope: Envelope) -> Fields:
    """The table that the topic names, ``<prefix>.<schema or database>.<table>``; without a topic, the object's path."""
    parts = (envelope.message.topic or "").split(".")
    if parts == [""]:
        return {"table": envelope.record.path_table}
    names = ("table", "schema", "db")
    # The first part is the connector's own prefix, where there are more than two.
    return dict(zip(names, reversed(parts[1:] if len(parts) > 2 else parts), strict=False))


def _source(said: Fields, of_topic: Fields) -> Fields:
    source = {
        name.removeprefix(_OF_SOURCE): value
        for name, value in said.items()
        if name not in ("op", "deleted") and value is not None
    }
    table = as_text(source.pop("table", None))
    named = {name: source.pop(name, None) for name in ("schema", "db")}
    if table is None or table == of_topic.get("table"):
        # A null's table is known by its topic alone: a row's is called alike.
        return {**source, **of_topic}
    return {**source, **named, "table": table}


def _prefix_of(row: Fields, columns: frozenset[str] | tuple[()]) -> str | None:
    """What stands before the names of added fields; None where there are none."""
    if f"{USUAL_PREFIX}op" in row or f"{USUAL_PREFIX}deleted" in row:
        return USUAL_PREFIX
    for name, value in row.items():
        if name in columns or type(value) is not str:
            continue
        for ending, values in (("op", _OPERATIONS), ("deleted", ("true", "false"))):
            prefix = name.removesuffix(ending)
            if prefix != name and value in values and _has_company(row, prefix, name):
                return prefix
    return USUAL_PREFIX if _has_company(row, USUAL_PREFIX, "") else None


def _has_company(row: Fields, prefix: str, name: str) -> bool:
    """Whether other added fields have the prefix, too: a column may end in ``op`` by chance."""
    return any(
        other != name
        and other.startswith(prefix)
        and other[len(prefix) :].removeprefix(_OF_SOURCE) in _KNOWN
        for other in row
    )


@lru_cache(maxsize=4_096)
def _added_to(
    names: tuple[str, ...], prefix: str | None, columns: frozenset[str] | tuple[()]
) -> Mapping[str, str]:
    """Which names of a row were added to it, with what they are without the prefix; a declared column is none of them.

    It is the same for all rows of a table, and is worked out once.
    """
    found: dict[str, str] = {}
    for name in names if prefix is not None else ():
        if name.startswith(prefix or "") and name not in columns:
            bare = name[len(prefix or "") :]
            if prefix or bare.removeprefix(_OF_SOURCE) in _KNOWN:
                found[name] = bare
    return found


def _of_key(values: Fields, key: tuple[frozenset[str], ...], operation: str) -> Fields:
    names = frozenset[str]().union(*key)
    if operation != _DELETE or not names.intersection(values):
        return values
    return {name: value for name, value in values.items() if name in names}
