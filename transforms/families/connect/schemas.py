"""What a Connect schema says of a row's columns: their logical types, and which Spark SQL type serves each.

A schema may come from anybody: what is not of the shape that Connect writes says nothing, and is no error.

Facts: Kafka Connect's JsonConverter (``type``, ``name``, ``parameters``, ``items``); Debezium's documentation, "Data
type mappings". Put here how a schema is read. Not here: which types there are (``logical_types``), and what a value of
a type means (``values``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transforms.families.connect.logical_types import Column, Kind
from transforms.families.whole_numbers import whole


def columns_of(fields: Sequence[Any]) -> tuple[Column, ...]:
    """The columns in the order of the schema."""
    return tuple(
        Column(
            _text(field, "field"),
            _kind(field),
            _kind(_part(field, "items")),
            _part(field, "default"),
        )
        for field in fields
    )


def by_name(columns: Sequence[Column]) -> dict[str, Column] | None:
    """The columns by their names; None where two have one name, or one has none."""
    named = {column.field: column for column in columns if column.field is not None}
    return named if len(named) == len(columns) else None


def row_fields(schema: Any) -> list[Any] | None:
    """What an envelope's schema says of a row: of the new image, which the old one shares; None where it does not."""
    for field in _list(_part(schema, "fields")) or ():
        if _part(field, "field") in ("before", "after"):
            fields = _list(_part(field, "fields"))
            if fields is not None:
                return fields
    return None


def fields_of(schema: Any) -> list[Any] | None:
    """The fields that a struct's schema lists."""
    return _list(_part(schema, "fields"))


def _kind(field: Any) -> Kind:
    if type(field) is not dict:
        return Kind()
    parameters = _part(field, "parameters")
    scale, precision = _part(parameters, "scale"), _part(parameters, "connect.decimal.precision")
    return Kind(_text(field, "type"), _text(field, "name"), whole(scale), whole(precision))


def _part(value: Any, name: str) -> Any:
    return value.get(name) if type(value) is dict else None


def _text(value: Any, name: str) -> str | None:
    found = _part(value, name)
    return found if type(found) is str else None


def _list(value: Any) -> list[Any] | None:
    return value if type(value) is list else None
