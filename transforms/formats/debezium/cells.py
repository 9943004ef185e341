"""Columns in cells, as the connectors of YugabyteDB and Cassandra send them; and what Cassandra's operations mean.

A cell is an object with the column's ``value``, and ``set``: whether the change mentions the column. A column whose
cell is null, or that is not set, was not mentioned and keeps its value; one that is set to null is null: a row of cells
says a part of a row. YugabyteDB's connector for logical replication names itself ``postgresql`` and sends cells with
its plugin ``yboutput`` alone; so cells are known by their form.

Cassandra's ``op`` is i, u, d or r; an insert there writes the columns that it mentions, and no others. A delete whose
key lacks its last columns is of a whole partition. ``r`` is a tombstone of a range, which no scope can say. A value
with ``deletion_ts`` is one that Cassandra will drop by itself (TTL).

Vendor: YugabyteDB documentation, "YugabyteDB connector transformers" and "YugabyteDB gRPC connector";
PGTableSchemaBuilder and PostgresChangeRecordEmitter in https://github.com/yugabyte/debezium; Debezium documentation,
connector for Cassandra, "Change event fields"; Record (``Operation``), CassandraSchemaFactory and
Cassandra4CommitLogReadHandlerImpl in https://github.com/debezium/debezium-connector-cassandra
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transforms.event import EventWarning, Image
from transforms.families.connect import schemas
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.images import Images
from transforms.fault import Fault
from transforms.json_values import part

EXPIRES: Final = EventWarning(
    "value_expires",
    "values_do_not_expire",
    "No value is written with a time at which its source drops it.",
    "Cassandra drops a value with a time to live when that time is over, and sends nothing: gold keeps it. Take a new"
    " snapshot from time to time.",
)

_VALUE, _SET, _DELETED_AT = "value", "set", "deletion_ts"
_CELL: Final = frozenset({_VALUE, _SET, _DELETED_AT})
_RANGES: Final = frozenset({"_range_start", "_range_end"})

_CASSANDRA: Final = "cassandra"
_OPERATIONS: Final = {"i": "insert", "r": "range_tombstone"}
_RANGE: Final = Fault(
    "range_tombstone",
    "a delete of a range of clustering columns names no rows, so that gold keeps them: repeat it in Cassandra row by"
    " row, or for the whole partition",
)


def unwrap_cells(envelope: Envelope) -> bool:
    """Take the columns of an envelope out of their cells, in its images, its key and its schemas.

    Returns whether there were any: then what the new image lacks was not mentioned.
    """
    is_cassandra = envelope.source.text("connector") == _CASSANDRA
    if is_cassandra:
        _read_operation(envelope)
    body = dict(envelope.body)
    found = False
    for side in ("before", "after"):
        image = body.get(side)
        if is_cassandra and type(image) is dict:
            image = {name: cell for name, cell in image.items() if name not in _RANGES}
        if type(image) is dict and _has_cells(image):
            body[side] = _columns(image)
            found = True
            envelope.expires |= envelope.operation != "delete" and _expires(image)
    key = envelope.key
    if key.values is not None and _has_cells(key.values):
        envelope.key = key._replace(values=_columns(key.values), fields=_fields(key.fields))
        found = True
    if found:
        envelope.body = body
        envelope.row_fields = _fields(envelope.row_fields)
    return found


def may_be_in_cells(envelope: Envelope) -> bool:
    """Whether an image, or the key, holds cells."""
    body = envelope.body
    return any(
        one and _has_cells(one) for one in (body["before"], body["after"], envelope.key.values)
    )


def _read_operation(envelope: Envelope) -> None:
    op = envelope.body.get("op")
    if type(op) is str and op in _OPERATIONS:
        envelope.operation = _OPERATIONS[op]
    if op == "r":
        envelope.fault = envelope.fault or _RANGE
    # Rows of a snapshot are whole.
    flag = (envelope.source.text("snapshot") or "false").lower()
    envelope.is_merged = op == "i" and flag == "false"


def scope_of(envelope: Envelope, images: Images) -> Image | None:
    """Which rows a delete is of whose key lacks columns: those of a partition in Cassandra; None of a whole key."""
    key = envelope.key.values
    if envelope.source.text("connector") != _CASSANDRA or not key:
        return None
    said = {**images.after, **images.before}
    known = {name: said.get(name) for name, value in key.items() if value is not None}
    return known if 0 < len(known) < len(key) else None


def _has_cells(image: Mapping[str, Any]) -> bool:
    found = False
    for cell in image.values():
        if cell is None:
            continue
        if type(cell) is not dict or type(cell.get(_SET)) is not bool or not cell.keys() <= _CELL:
            return False
        found = True
    return found


def _expires(image: Mapping[str, Any]) -> bool:
    cells = (cell for cell in image.values() if cell is not None)
    return any(one.get(_VALUE) is not None and one.get(_DELETED_AT) is not None for one in cells)


def _columns(image: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: cell.get(_VALUE) for name, cell in image.items() if cell is not None and cell[_SET]
    }


def _fields(fields: list[Any] | None) -> list[Any] | None:
    """The schema of the columns, from that of their cells: each has the name of its cell."""
    if fields is None:
        return None
    return [_field(one) for one in fields if part(one, "field") not in _RANGES]


def _field(cell: Any) -> Any:
    for one in schemas.fields_of(cell) or ():
        if part(one, "field") == _VALUE:
            return {**one, "field": cell.get("field"), "optional": True}
    return cell
