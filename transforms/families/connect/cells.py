"""Columns that stand in cells of their own, as the connectors of YugabyteDB and Cassandra send them.

A cell is an object with the column's ``value``, and ``set``: whether the change mentions the column. A column whose
cell is null, or that is not set, was not mentioned and keeps its value; one that is set to null is null. So a row of
cells says a part of a row.

Vendor: YugabyteDB documentation, "YugabyteDB gRPC Connector" (before and after image, ``set``); Debezium documentation,
connector for Cassandra, "Change event fields" (``value``, ``deletion_ts``, ``set``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transforms.families.connect.envelopes import Envelope

CONNECTORS: Final = frozenset({"yugabytedb", "cassandra", "scylla"})

_VALUE, _SET = "value", "set"


def unwrap(envelope: Envelope) -> bool:
    """Take the columns of an envelope out of their cells, in its images, its key and its schemas.

    Returns whether there were any: then what the new image lacks was not mentioned.
    """
    connector = (envelope.source.text("connector") or "").lower()
    if connector not in CONNECTORS:
        return False
    body = dict(envelope.body)
    found = False
    for side in ("before", "after"):
        image = body.get(side)
        if type(image) is dict and _has_cells(image):
            body[side] = _columns(image)
            found = True
    key = envelope.key
    if key.values is not None and _has_cells(key.values):
        envelope.key = key._replace(values=_columns(key.values), fields=_fields(key.fields))
        found = True
    if found:
        envelope.body = body
        envelope.row_fields = _fields(envelope.row_fields)
    return found


def _has_cells(image: Mapping[str, Any]) -> bool:
    """Whether every column is a cell or null, and some is a cell."""
    cells = [cell for cell in image.values() if cell is not None]
    return bool(cells) and all(type(cell) is dict and _SET in cell for cell in cells)


def _columns(image: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: cell.get(_VALUE) for name, cell in image.items() if cell is not None and cell[_SET]
    }


def _fields(fields: list[Any] | None) -> list[Any] | None:
    """The schema of the columns, from that of their cells: each has the name of its cell."""
    if fields is None:
        return None
    return [_field(one) for one in fields]


def _field(cell: Any) -> Any:
    if type(cell) is not dict or type(cell.get("fields")) is not list:
        return cell
    for one in cell["fields"]:
        if type(one) is dict and one.get("field") == _VALUE:
            return {**one, "field": cell.get("field"), "optional": True}
    return cell
