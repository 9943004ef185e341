"""What a Connect schema says of a row's columns: their logical types, and which Spark SQL type serves each.

Vendor: Kafka Connect's JsonConverter; Debezium's documentation, "Data type mappings".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from transforms.column_types.column_type import ColumnType
from transforms.column_types.nested import Array, Map, Struct
from transforms.column_types.parts import ELEMENT, KEY, VALUE
from transforms.column_types.registry import SIMPLE
from transforms.families.whole_numbers import whole
from transforms.json_values import part

CONNECT: Final = "org.apache.kafka.connect.data."
TIME: Final = "io.debezium.time."
DECIMAL: Final = f"{CONNECT}Decimal"
VARIABLE_DECIMAL: Final = "io.debezium.data.VariableScaleDecimal"
DATES: Final = frozenset({f"{CONNECT}Date", f"{TIME}Date"})
ISO: Final = frozenset({f"{TIME}IsoDate", f"{TIME}IsoTimestamp"})
CLOCKS: Final = {
    f"{CONNECT}Time": 1_000,
    f"{TIME}Time": 1_000,
    f"{TIME}MicroTime": 1_000_000,
    f"{TIME}NanoTime": 1_000_000_000,
}
"""Times of day: how many of what they count since midnight are a second."""
MOMENTS: Final = {
    f"{CONNECT}Timestamp": 1_000,
    f"{TIME}Timestamp": 1_000,
    f"{TIME}MicroTimestamp": 1_000_000,
    f"{TIME}NanoTimestamp": 1_000_000_000,
}
"""Times without a zone: how many of what they count since 1970 are a second."""

_OPEN: Final = frozenset({None, "int8", "int16", "int32", "int64", "bytes"})
_OF_TYPE: Final = {name: one.name for one in SIMPLE.values() for name in one.connect}
_OF_NAME: Final = {
    **dict.fromkeys(DATES, "date"),
    f"{TIME}IsoDate": "date",
    **dict.fromkeys(CLOCKS, "string"),
    # A timestamp holds no nanoseconds.
    **{name: "timestamp_ntz" if per < 10**9 else "string" for name, per in MOMENTS.items()},
    f"{TIME}IsoTimestamp": "timestamp_ntz",
    f"{TIME}ZonedTimestamp": "timestamp",
    VARIABLE_DECIMAL: "string",
}


class Kind(NamedTuple):
    """A type of Connect: ``name`` is the logical one, which says what a value of ``type`` stands for.

    ``parts``: of an array, a map or a struct, the types of what it holds, by their names in a path.
    """

    type: str | None = None
    name: str | None = None
    scale: int | None = None
    precision: int | None = None
    parts: tuple[tuple[str, Kind], ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether nothing says what a value stands for: it is a plain whole number, plain bytes, or of no type."""
        return self.name is None and self.type in _OPEN


class Column(NamedTuple):
    """A column of a row; ``default`` is the JSON value of a row without it."""

    field: str | None
    kind: Kind
    default: Any = None


def spark_type(kind: Kind) -> str:
    """The Spark SQL type of a column, whose text ``values`` gives; structs and maps are JSON in a text."""
    if kind.type == "array":
        return f"array<{spark_type(dict(kind.parts).get(ELEMENT, Kind()))}>"
    return _simple_type(kind)


def simple_kinds(path: str, kind: Kind) -> Iterator[tuple[str, Kind]]:
    """The simple types in one, with their paths; a simple one is its own."""
    if not kind.parts:
        yield path, kind
    for name, one in kind.parts:
        yield from simple_kinds(f"{path}.{name}", one)


def _simple_type(kind: Kind) -> str:
    if kind.name == DECIMAL:
        scale, precision = kind.scale, 38 if kind.precision is None else kind.precision
        fits = scale is not None and 0 <= scale <= precision <= 38 and precision >= 1
        return f"decimal({precision},{scale})" if fits else "string"
    return _OF_NAME.get(kind.name or "") or _OF_TYPE.get(kind.type or "", "string")


# The columns. A schema may come from anybody: what is not of the shape that Connect writes (``type``, ``name``,
# ``parameters``, ``items``) says nothing, and is no error.


def columns_of(fields: Sequence[Any]) -> tuple[Column, ...]:
    """The columns in the order of the schema."""
    return tuple(
        Column(
            _text(field, "field"),
            _kind(field),
            part(field, "default"),
        )
        for field in fields
    )


def columns_by_name(columns: Sequence[Column]) -> dict[str, Column] | None:
    """The columns by their names; None where two have one name, or one has none."""
    named = {column.field: column for column in columns if column.field is not None}
    return named if len(named) == len(columns) else None


def row_fields(schema: Any) -> list[Any] | None:
    """What an envelope's schema says of a row: of the new image, which the old one shares; None where it does not."""
    for field in _list(part(schema, "fields")) or ():
        if part(field, "field") in ("before", "after"):
            fields = _list(part(field, "fields"))
            if fields is not None:
                return fields
    return None


def fields_of(schema: Any) -> list[Any] | None:
    """The fields that a struct's schema lists."""
    return _list(part(schema, "fields"))


def _kind(field: Any) -> Kind:
    parameters = part(field, "parameters")
    scale, precision = part(parameters, "scale"), part(parameters, "connect.decimal.precision")
    kind = _text(field, "type")
    parts: dict[str, Kind] = {}
    if kind == "array":
        parts = {ELEMENT: _kind(part(field, "items"))}
    elif kind == "map":
        parts = {KEY: _kind(part(field, "keys")), VALUE: _kind(part(field, "values"))}
    elif kind == "struct" and _text(field, "name") != VARIABLE_DECIMAL:
        found = fields_of(field) or ()
        parts = {name: _kind(one) for one in found if (name := _text(one, "field")) is not None}
    return Kind(kind, _text(field, "name"), whole(scale), whole(precision), tuple(parts.items()))


def kind_of_declared(kind: ColumnType) -> Kind:
    """How a declared type's values are written where no schema says it: a day counts, and all else is as it is."""
    if kind.name == "date":
        return Kind("int32", f"{TIME}Date")
    if isinstance(kind, Array):
        return Kind("array", parts=((ELEMENT, kind_of_declared(kind.element)),))
    if isinstance(kind, Map):
        parts = ((KEY, kind_of_declared(kind.key)), (VALUE, kind_of_declared(kind.item)))
        return Kind("map", parts=parts)
    if isinstance(kind, Struct):
        named = ((name, kind_of_declared(one)) for name, one in kind.fields.items())
        return Kind("struct", parts=tuple(named))
    return Kind()


def _text(value: Any, name: str) -> str | None:
    found = part(value, name)
    return found if type(found) is str else None


def _list(value: Any) -> list[Any] | None:
    return value if type(value) is list else None
