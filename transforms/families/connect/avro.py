"""Avro's bytes read as Kafka Connect's JSON converter would have written them: a schema, and the payload beside it.

A schema is gone through once. What fastavro is given has the logical types taken off, for it would make Python's dates
of them, which hold less; and every branch of a union of several types is put into a record of its own, which has the
same bytes and says which branch it was.

Vendors: Apache Avro, "Specification"; Confluent, AvroData.java (``connect.name``, ``connect.parameters``,
``connect.type``; a union of several types is a struct with a field for each); Debezium, "Avro serialization".
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import count
from typing import Any, Final, NamedTuple

import fastavro
from fastavro.schema import SchemaParseException, UnknownType

from transforms import json_values
from transforms.families.connect.scalars import (
    Convert,
    Unusable,
    base64_text,
    decimal_number,
    float32,
    float64,
)
from transforms.families.connect.schemas import CONNECT, DECIMAL, TIME
from transforms.families.whole_numbers import whole
from transforms.fault import shown
from transforms.json_values import MalformedJson


class _Part(NamedTuple):
    """What is known of a type: ``avro`` for fastavro, ``connect`` for Kafka Connect.

    ``convert``: from fastavro's value to JSON's; None where they are one. ``given``: from the JSON of a default to
    fastavro's value; None likewise. ``is_optional``: a union with null. ``has_bytes``: whether each value takes up any.
    """

    avro: Any
    connect: dict[str, Any]
    convert: Convert | None = None
    given: Convert | None = None
    is_optional: bool = False
    has_bytes: bool = True


_TYPES: Final = {
    "boolean": "boolean",
    "int": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "string": "string",
    "bytes": "bytes",
    "fixed": "bytes",
    "enum": "string",
    "null": "string",
}
"""Avro's types, and what Kafka Connect's JSON calls them."""

_LOGICAL: Final = {
    ("int", "date"): f"{CONNECT}Date",
    ("int", "time-millis"): f"{CONNECT}Time",
    ("long", "time-micros"): f"{TIME}MicroTime",
    ("long", "timestamp-millis"): f"{CONNECT}Timestamp",
    ("long", "timestamp-micros"): f"{TIME}MicroTimestamp",
    ("long", "timestamp-nanos"): f"{TIME}NanoTimestamp",
    ("long", "local-timestamp-millis"): f"{CONNECT}Timestamp",
    ("long", "local-timestamp-micros"): f"{TIME}MicroTimestamp",
    ("long", "local-timestamp-nanos"): f"{TIME}NanoTimestamp",
    ("string", "uuid"): "io.debezium.data.Uuid",
    ("fixed", "uuid"): "io.debezium.data.Uuid",
    ("bytes", "decimal"): DECIMAL,
    ("fixed", "decimal"): DECIMAL,
}
"""Avro's logical types by the name that Kafka Connect or Debezium gives them, where the schema has none of its own."""

_MOST_DIGITS: Final = 38
_UUID_BYTES: Final = 16


class AvroSchema:
    """One schema that a message was written by: reads bytes into documents of ``schema`` and ``payload``.

    Every document of it has the same object as its schema, so that whoever knows it need not compare it.

    Raises:
        Unusable: Nothing can be read by it.
    """

    __slots__ = ("_avro", "_convert", "_schema")

    def __init__(self, text: str, references: Sequence[str] = ()) -> None:
        try:
            part = _Compiler([*references, text]).part
            self._avro = fastavro.parse_schema(part.avro)
        except MalformedJson as why:
            raise Unusable(str(why)) from None
        except RecursionError:
            raise Unusable("it is nested too deeply") from None
        except (SchemaParseException, UnknownType, ValueError, TypeError, KeyError) as why:
            raise Unusable(shown(why)) from None
        self._convert = part.convert
        self._schema = {**part.connect, "optional": part.is_optional}

    def read(self, data: bytes) -> dict[str, Any]:
        """The message.

        Raises:
            MalformedJson: The bytes are no value of this schema, or go on behind it.
        """
        stream = BytesIO(data)
        document = self._read(stream)
        if stream.tell() != len(data):
            raise MalformedJson(f"{len(data) - stream.tell()} bytes are left behind the value")
        return document

    def length_at(self, data: bytes, start: int) -> int:
        """How many bytes the value has that begins there.

        Raises:
            MalformedJson: The bytes are no value of this schema.
        """
        stream = BytesIO(data)
        stream.seek(start)
        self._raw(stream)
        return stream.tell() - start

    def _read(self, stream: BytesIO) -> dict[str, Any]:
        value = self._raw(stream)
        if self._convert is not None and value is not None:
            value = self._convert(value)
        return {"schema": self._schema, "payload": value}

    def _raw(self, stream: BytesIO) -> Any:
        try:
            return fastavro.schemaless_reader(stream, self._avro, None)
        except (EOFError, ValueError, LookupError, TypeError, OverflowError, struct.error) as why:
            raise MalformedJson(f"the bytes are no value of the schema: {shown(why)}") from None


class _Compiler:
    """Goes through a schema, whose last text may name the types that those before it define."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._definitions: dict[str, Mapping[str, Any]] = {}
        self._made: dict[str, _Part] = {}
        self._open: set[str] = set()
        self._numbers = count()
        documents = [_schema_in(text) for text in texts]
        for document in documents:
            self._define(document, "")
        self.part = self._of(documents[-1], "")

    def _define(self, schema: Any, namespace: str) -> None:
        """Note every type that has a name."""
        if type(schema) is list:
            for one in schema:
                self._define(one, namespace)
        if type(schema) is not dict:
            return
        kind = schema.get("type")
        if kind in ("record", "error", "enum", "fixed"):
            name = _full_name(schema, namespace)
            self._definitions.setdefault(name, schema)
            namespace = name.rpartition(".")[0]
            fields = schema.get("fields")
            for one in fields if type(fields) is list else ():
                self._define(one.get("type") if type(one) is dict else None, namespace)
        else:
            for one in ("type", "items", "values"):
                self._define(schema.get(one), namespace)

    def _of(self, schema: Any, namespace: str) -> _Part:
        if type(schema) is list:
            return self._of_union(schema, namespace)
        if type(schema) is str:
            return self._of_name(schema, namespace)
        if type(schema) is not dict:
            raise Unusable(f"{shown(schema)} is no type")
        kind = schema.get("type")
        if kind in ("record", "error", "enum", "fixed"):
            return self._of_name(_full_name(schema, namespace), "")
        if kind == "array":
            return self._of_array(schema, namespace)
        if kind == "map":
            return self._of_map(schema, namespace)
        if type(kind) is str and kind in _TYPES:
            return _of_plain(kind, schema)
        # A type within a type: {"type": {"type": "string"}}, or a name with attributes of its own.
        inner = self._of(kind, namespace)
        return inner._replace(connect={**inner.connect, **_attributes(schema)})

    def _of_name(self, name: str, namespace: str) -> _Part:
        if name in _TYPES and name not in ("fixed", "enum"):
            return _of_plain(name, {})
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        full = full if full in self._definitions else name
        if full in self._open:
            raise Unusable(f"{full} contains itself, which no row of a table does")
        if full not in self._definitions:
            raise Unusable(f"it names the type {shown(full)}, which neither it nor a reference has")
        known = self._made.get(full)
        if known is not None:
            # Defined before: fastavro is given its name alone.
            return known._replace(avro=known.avro["name"])
        schema = self._definitions[full]
        self._open.add(full)
        kind = schema["type"]
        made = self._of_record(schema, full) if kind in ("record", "error") else None
        if made is None:
            size = whole(schema.get("size"))
            if kind == "fixed" and (size is None or size < 0):
                raise Unusable(f"{full} has no size")
            if kind == "enum" and type(schema.get("symbols")) is not list:
                raise Unusable(f"{full} has no list of symbols")
            avro = {
                "type": kind,
                "name": self._new_name(),
                **({"size": size} if kind == "fixed" else {"symbols": schema.get("symbols")}),
            }
            made = _of_plain(kind, schema)._replace(avro=avro, has_bytes=size != 0)
        self._open.discard(full)
        self._made[full] = made
        return made

    def _new_name(self) -> str:
        """Names mean nothing to the bytes: each type gets one of Weir's, so that none is misunderstood."""
        return f"t{next(self._numbers)}"

    def _of_record(self, schema: Mapping[str, Any], full: str) -> _Part:
        fields = schema.get("fields")
        if type(fields) is not list:
            raise Unusable(f"{full} has no list of fields")
        name, namespace = self._new_name(), full.rpartition(".")[0]
        parts: dict[str, _Part] = {}
        described = []
        for one in fields:
            field = one.get("name") if type(one) is dict else None
            if type(field) is not str or field in parts:
                raise Unusable(f"{full} has a field without a name, or one twice: {shown(field)}")
            part = parts[field] = self._of(one.get("type"), namespace)
            described.append(_field(field, part, one))
        converted = {one: part.convert for one, part in parts.items() if part.convert is not None}
        avro_fields = [{"name": one, "type": part.avro} for one, part in parts.items()]
        return _Part(
            {"type": "record", "name": name, "fields": avro_fields},
            {"type": "struct", "name": full, **_attributes(schema), "fields": described},
            _fields_by(converted) if converted else None,
            _fields_by({one: part.given for one, part in parts.items() if part.given is not None}),
            has_bytes=any(part.has_bytes for part in parts.values()),
        )

    def _of_array(self, schema: Mapping[str, Any], namespace: str) -> _Part:
        part = self._of(schema.get("items"), namespace)
        if not part.has_bytes:
            # A few bytes could ask for billions of them.
            raise Unusable("it has an array whose items have no bytes")
        return _Part(
            {"type": "array", "items": part.avro},
            {
                **{"type": "array", **_attributes(schema)},
                "items": {**part.connect, "optional": part.is_optional},
            },
            _all_by(part.convert),
            _all_by(part.given),
        )

    def _of_map(self, schema: Mapping[str, Any], namespace: str) -> _Part:
        part = self._of(schema.get("values"), namespace)
        return _Part(
            {"type": "map", "values": part.avro},
            {
                **{"type": "map", **_attributes(schema)},
                "keys": {"type": "string", "optional": False},
                "values": {**part.connect, "optional": part.is_optional},
            },
            _values_by(part.convert),
            _values_by(part.given),
        )

    def _of_union(self, branches: Sequence[Any], namespace: str) -> _Part:
        """Null and one type is that type, optional; several are a struct, of which one field has a value."""
        parts = [None if one in _NULLS else self._of(one, namespace) for one in branches]
        real = [one for one in parts if one is not None]
        if not real:
            raise Unusable("it has a union of no types but null")
        has_null = len(real) < len(parts)
        starts_with_null = parts[0] is None
        if len(real) == 1:
            avro = ["null" if one is None else one.avro for one in parts]
            given = None if starts_with_null else real[0].given
            return real[0]._replace(avro=avro, given=given, is_optional=has_null, has_bytes=True)
        names = _branch_names(real)
        wrapped, converts, fields = [], {}, []
        for name, one in zip(names, real, strict=True):
            field = {"name": name, "type": one.avro}
            wrapped.append({"type": "record", "name": self._new_name(), "fields": [field]})
            converts[name] = one.convert
            fields.append({**one.connect, "optional": True, "field": name})
        waiting = iter(wrapped)
        first = None if starts_with_null else _as_branch(names[0], real[0].given)
        return _Part(
            ["null" if one is None else next(waiting) for one in parts],
            {"type": "struct", "name": "io.confluent.connect.avro.Union", "fields": fields},
            _branch_by(converts),
            first,
            is_optional=has_null,
        )


_NULLS: Final = ("null", {"type": "null"})


def _schema_in(text: str) -> Any:
    """The JSON of a schema; one that is a bare name need not be quoted."""
    return text.strip() if text.strip() in _TYPES else json_values.read(text)


def _full_name(schema: Mapping[str, Any], namespace: str) -> str:
    name, own = schema.get("name"), schema.get("namespace")
    if type(name) is not str or not name:
        raise Unusable(f"it has a {shown(schema.get('type'))} without a name")
    if "." in name:
        return name
    around = own if type(own) is str else namespace
    return f"{around}.{name}" if around else name


def _branch_names(parts: Sequence[_Part]) -> list[str]:
    """What Confluent's converter calls the fields of a union: by type, or by the name of a record, enum or fixed."""
    names = []
    for one in parts:
        kind = one.avro if type(one.avro) is str and one.avro in _TYPES else None
        if kind is None and type(one.avro) is dict and one.avro["type"] in ("array", "map"):
            kind = one.avro["type"]
        full = str(one.connect.get("avro.name") or one.connect.get("name") or one.connect["type"])
        names.append(kind or full)
    short = [one.rpartition(".")[2] for one in names]
    return short if len({*short}) == len(short) else names


def _attributes(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a schema keeps of Kafka Connect's own."""
    name, parameters = schema.get("connect.name"), schema.get("connect.parameters")
    found: dict[str, Any] = {}
    if type(name) is str:
        found["name"] = name
    if type(parameters) is dict:
        found["parameters"] = parameters
    if schema.get("connect.type") in ("int8", "int16"):
        found["type"] = schema["connect.type"]
    return found


def _field(name: str, part: _Part, field: Mapping[str, Any]) -> dict[str, Any]:
    found = {**part.connect, "optional": part.is_optional, "field": name}
    default = field.get("default")
    if default is not None:
        try:
            default = default if part.given is None else part.given(default)
            found["default"] = default if part.convert is None else part.convert(default)
        except (ValueError, TypeError, LookupError, AttributeError):
            # A default that is no value of its type says nothing.
            return found
    return found


def _of_plain(kind: str, schema: Mapping[str, Any]) -> _Part:
    """A type that has no parts."""
    connect: dict[str, Any] = {"type": _TYPES[kind]}
    if kind in ("enum", "fixed"):
        connect["avro.name"] = schema.get("name")
    logical = schema.get("logicalType")
    name = _LOGICAL.get((kind, logical)) if type(logical) is str else None
    if name is not None:
        connect["name"] = name
    connect |= _attributes(schema)
    name = connect.get("name")
    convert: Convert | None = None
    if kind in ("bytes", "fixed"):
        convert = base64_text
        if name == DECIMAL:
            connect["parameters"] = parameters = _decimal_parameters(schema, connect)
            convert = _decimal(whole(parameters["scale"]) or 0)
        elif kind == "fixed" and logical == "uuid" and schema.get("size") == _UUID_BYTES:
            connect["type"], convert = "string", _uuid
    elif kind == "float":
        convert = float32
    elif kind == "double":
        convert = float64
    given = _GIVEN.get(kind)
    return _Part(kind, connect, convert, given, kind == "null", kind != "null")


def _decimal_parameters(schema: Mapping[str, Any], connect: Mapping[str, Any]) -> dict[str, Any]:
    """Scale and precision as Kafka Connect has them; Confluent writes a precision of 64 where none is known."""
    own = connect.get("parameters")
    found = dict(own) if type(own) is dict else {}
    found.setdefault("scale", str(whole(schema.get("scale")) or 0))
    precision = whole(schema.get("precision"))
    if precision is not None and 1 <= precision <= _MOST_DIGITS:
        found.setdefault("connect.decimal.precision", str(precision))
    return found


# From fastavro's values to those of JSON.


def _uuid(value: bytes) -> str:
    return str(uuid.UUID(bytes=value))


def _decimal(scale: int) -> Convert:
    return lambda value: decimal_number(value, scale)


def _fields_by(converts: Mapping[str, Convert]) -> Convert:
    """A record's fields, in the dict that fastavro has made for it alone."""
    each = tuple(converts.items())

    def convert(row: dict[str, Any]) -> dict[str, Any]:
        for name, one in each:
            value = row.get(name)
            if value is not None:
                row[name] = one(value)
        return row

    return convert


def _all_by(one: Convert | None) -> Convert | None:
    if one is None:
        return None
    return lambda values: [None if value is None else one(value) for value in values]


def _values_by(one: Convert | None) -> Convert | None:
    if one is None:
        return None
    return lambda values: {
        key: None if value is None else one(value) for key, value in values.items()
    }


def _branch_by(converts: Mapping[str, Convert | None]) -> Convert:
    nothing = dict.fromkeys(converts)

    def convert(value: Mapping[str, Any]) -> dict[str, Any]:
        ((name, inner),) = value.items()
        one = converts[name]
        return {**nothing, name: inner if one is None or inner is None else one(inner)}

    return convert


def _as_branch(name: str, given: Convert | None) -> Convert:
    return lambda value: {name: value if given is None else given(value)}


_GIVEN: Final[Mapping[str, Convert]] = {
    "bytes": lambda text: text.encode("latin-1"),
    "fixed": lambda text: text.encode("latin-1"),
    "float": float,
    "double": float,
}
"""How the JSON of a default becomes a value, where it is written otherwise."""


# Avro's own JSON, as kafka-avro-console-consumer prints it: the value of a union stands in an object, under its type.
# Vendor: Apache Avro, "Specification", JSON encoding.

_WRAPPERS: Final = frozenset(
    {"boolean", "int", "long", "float", "double", "bytes", "string", "array", "map"}
)


def without_unions(document: Any) -> Any:
    """An envelope in Avro's own JSON as Kafka Connect's has it; anything else as it is."""
    if type(document) is not dict:
        return document
    read_at = document.get("ts_ms")
    is_wrapped = type(read_at) is dict and read_at.keys() == {"long"}
    if is_wrapped or any(_is_wrapped_image(document.get(one)) for one in ("before", "after")):
        return {name: _unwrapped(value) for name, value in document.items()}
    return document


def _is_wrapped_image(image: Any) -> bool:
    """Whether an image stands under the full name of its record, such as ``shop.public.orders.Value``."""
    if type(image) is not dict or len(image) != 1:
        return False
    ((name, row),) = image.items()
    return name.endswith(".Value") and type(row) is dict


def _unwrapped(value: Any) -> Any:
    """A value out of its type's name, and those in it."""
    if type(value) is dict and len(value) == 1:
        ((name, inner),) = value.items()
        if name == "bytes" and type(inner) is str:
            try:
                return base64_text(inner.encode("latin-1"))
            except UnicodeEncodeError:
                return inner
        if name in _WRAPPERS or "." in name:
            value = inner
    if type(value) is dict:
        return {name: _unwrapped(one) for name, one in value.items()}
    return [_unwrapped(one) for one in value] if type(value) is list else value
