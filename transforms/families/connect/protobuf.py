"""Protobuf's bytes read as Kafka Connect's JSON converter would have written them: a schema, and the payload beside it.

A schema is a set of ``.proto`` files in the form that ``protoc --descriptor_set_out`` writes, in base64, each behind
those that it imports; messages are of the last one. Which of its messages a record is, its indexes say.

A field that knows whether it was set is null without a value; any other one has Protobuf's zero then, as nothing in the
bytes tells the two apart. Members of a oneof are fields as all others.

Vendors: Confluent, "Wire format" and ProtobufData.java (``confluent.field_meta``, ``confluent.type.Decimal``,
``google.type``, wrappers); protobuf.dev, "Encoding" and "Field presence".
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

from google.protobuf import (
    any_pb2,
    api_pb2,
    descriptor_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    source_context_pb2,
    struct_pb2,
    timestamp_pb2,
    type_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from transforms.column_types.times import moment_text
from transforms.families.connect.scalars import (
    Convert,
    Unusable,
    base64_text,
    decimal_number,
    float32,
    float64,
)
from transforms.families.connect.schemas import CONNECT, DECIMAL, TIME, VARIABLE_DECIMAL
from transforms.fault import shown
from transforms.json_values import MalformedJson

_Kind = FieldDescriptor


def _text(value: str | bytes) -> str:
    """A text. Before proto3 nothing has looked whether it is one, and the library gives bytes where it is none."""
    if type(value) is not str:
        raise MalformedJson(f"a text is no UTF-8: {shown(value)}")
    return value


_PLAIN: Final[Mapping[int, tuple[str, Convert | None]]] = {
    **dict.fromkeys((_Kind.TYPE_INT32, _Kind.TYPE_SINT32, _Kind.TYPE_SFIXED32), ("int32", None)),
    **dict.fromkeys((_Kind.TYPE_INT64, _Kind.TYPE_SINT64, _Kind.TYPE_SFIXED64), ("int64", None)),
    **dict.fromkeys((_Kind.TYPE_UINT32, _Kind.TYPE_FIXED32), ("int64", None)),
    _Kind.TYPE_BOOL: ("boolean", None),
    _Kind.TYPE_STRING: ("string", _text),
    _Kind.TYPE_BYTES: ("bytes", base64_text),
    _Kind.TYPE_FLOAT: ("float", float32),
    _Kind.TYPE_DOUBLE: ("double", float64),
}
"""What Kafka Connect's JSON calls the types without parts. Those of 64 bits without a sign are more than its int64."""

_WITHOUT_SIGN: Final = (_Kind.TYPE_UINT64, _Kind.TYPE_FIXED64)
_OF_20_DIGITS: Final = {
    **{"type": "bytes", "name": DECIMAL},
    "parameters": {"scale": "0", "connect.decimal.precision": "20"},
}

_DEEPEST: Final = 50
_LONGEST_VARINT: Final = 5


class ProtobufSchema:
    """One schema that messages were written by: reads bytes into documents of ``schema`` and ``payload``.

    Every document of a message has the same object as its schema, so that whoever knows it need not compare it.

    Raises:
        Unusable: Nothing can be read by it.
    """

    __slots__ = ("_file", "_messages")

    def __init__(self, text: str) -> None:
        files = _files_in(text)
        pool = DescriptorPool()
        _add_all(pool, files)
        self._file = pool.FindFileByName(files[-1].name)
        self._messages: dict[tuple[int, ...], _Root] = {}

    def read(self, data: bytes, indexes: bytes | None = None) -> dict[str, Any]:
        """The message, behind the indexes that say which one it is unless these are given.

        Raises:
            MalformedJson: The bytes are no message of this schema.
        """
        which, start = _indexes_in(data if indexes is None else indexes)
        root = self._messages.get(which)
        if root is None:
            root = self._messages[which] = _Root(self._message(which))
        return root.read(data[start:] if indexes is None else data)

    def _message(self, which: tuple[int, ...]) -> Descriptor:
        """The message of these indexes: the first is its place in the file, each other one within that message."""
        found: Descriptor | None = None
        for index in which:
            within = (
                list(self._file.message_types_by_name.values())
                if found is None
                else [one for one in found.nested_types if not one.GetOptions().map_entry]
            )
            if not 0 <= index < len(within):
                of = f"the message {found.full_name}" if found is not None else "the schema"
                many = f"{len(within)} messages" if len(within) != 1 else "one message"
                raise MalformedJson(
                    f"its message indexes are {list(which)}, and {of} has {many}, which count from 0"
                )
            found = within[index]
        assert found is not None  # there is one index at least
        return found


def _indexes_in(data: bytes) -> tuple[tuple[int, ...], int]:
    """The message indexes with which bytes begin, and where they end: their number and each, a zero alone for [0]."""
    number, at = _varint(data, 0)
    if number == 0:
        return (0,), at
    if not 0 < number <= _DEEPEST:
        raise MalformedJson(f"it begins with {number} message indexes: at most {_DEEPEST} are read")
    found = []
    for _ in range(number):
        index, at = _varint(data, at)
        found.append(index)
    return tuple(found), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number with its sign in the lowest bit, and where it ends."""
    number = 0
    for count, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at + count + 1
    raise MalformedJson(
        "it does not begin with message indexes, as Confluent's wire format has them"
    )


class _Root:
    """A message of a schema as the whole of a record: ``schema`` is the one of all its documents."""

    __slots__ = ("_class", "_convert", "_schema")

    def __init__(self, message: Descriptor) -> None:
        try:
            described, self._convert = _Compiler().of_message(message)
        except RecursionError:
            raise MalformedJson(f"the message {message.full_name} is nested too deeply") from None
        self._schema = {**described, "optional": False}
        self._class = GetMessageClass(message)

    def read(self, data: bytes) -> dict[str, Any]:
        name = self._class.DESCRIPTOR.full_name
        try:
            message = self._class.FromString(data)
            size = message.ByteSize()
            message.DiscardUnknownFields()
            if message.ByteSize() != size:
                # It is a value that would be lost.
                unknown = next(_unknown_in(self._class.FromString(data)), "a field")
                raise MalformedJson(
                    f"{unknown} is not in the schema: another one wrote the message"
                )
            return {"schema": self._schema, "payload": self._convert(message)}
        except (DecodeError, ValueError, RecursionError) as why:
            if isinstance(why, MalformedJson):
                raise
            raise MalformedJson(
                f"the {len(data)} bytes are no message {name}: {shown(why)}"
            ) from None


def _unknown_in(message: Message) -> Iterator[str]:
    """The fields that the schema does not have, but for those in maps."""
    for one in UnknownFieldSet(message):
        yield f"field {one.field_number} of {message.DESCRIPTOR.full_name}"
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for inner in value if field.is_repeated else (value,):
            yield from _unknown_in(inner)


class _Compiler:
    """Goes through the messages of a schema, each once: what Kafka Connect's schema says of it, and how it is read."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[dict[str, Any], Convert]] = {}

    def of_message(self, message: Descriptor) -> tuple[dict[str, Any], Convert]:
        """What a message is described as, and how it becomes JSON; one within itself is described without fields."""
        of_its_own = _WELL_KNOWN.get(message.full_name)
        if of_its_own is not None and _has_fields(message, of_its_own[0]):
            return of_its_own[1:]
        if message.full_name in _WRAPPERS and _is_wrapper(message):
            inner, of_inner = self._of_one(message.fields_by_name["value"])
            return (
                inner,
                lambda wrapper: wrapper.value if of_inner is None else of_inner(wrapper.value),
            )
        known = self._known.get(message.full_name)
        if known is not None:
            return known
        reader = _Fields()
        described: dict[str, Any] = {"type": "struct", "name": _name_of(message)}
        self._known[message.full_name] = described, reader.read
        fields = []
        for field in message.fields:
            of_field, convert = self._of_field(field)
            is_optional = field.has_presence
            fields.append({**of_field, "optional": is_optional, "field": field.name})
            reader.add(field, convert)
        described["fields"] = fields
        return described, reader.read

    def _of_field(self, field: FieldDescriptor) -> tuple[dict[str, Any], Convert | None]:
        if not field.is_repeated:
            return self._of_one(field)
        if field.message_type is None or not field.message_type.GetOptions().map_entry:
            described, convert = self._of_one(field)
            return (
                {"type": "array", "items": {**described, "optional": False}},
                _all_by(convert),
            )
        entry = field.message_type.fields_by_name
        keys, _ = self._of_one(entry["key"])
        described, convert = self._of_one(entry["value"])
        return (
            {
                **{"type": "map", "keys": {**keys, "optional": False}},
                "values": {**described, "optional": False},
            },
            _values_by(convert),
        )

    def _of_one(self, field: FieldDescriptor) -> tuple[dict[str, Any], Convert | None]:
        """A value of a field, which may be one of several."""
        if field.message_type is not None:
            described, of_message = self.of_message(field.message_type)
            parameters = _parameters_of(field) if described.get("name") == DECIMAL else {}
            described = {**described, "parameters": parameters} if parameters else described
            return described, of_message
        if field.enum_type is not None:
            return {"type": "string", "name": field.enum_type.full_name}, _symbol(field.enum_type)
        if field.type in _WITHOUT_SIGN:
            return dict(_OF_20_DIGITS), None
        kind, of_kind = _PLAIN[field.type]
        smaller = _meta_of(field).get("connect.type") if kind == "int32" else None
        return {"type": smaller if smaller in ("int8", "int16") else kind}, of_kind


class _Fields:
    """Reads the fields of a message: ``absent`` is the row without any."""

    __slots__ = ("_absent", "_by_number")

    def __init__(self) -> None:
        self._absent: dict[str, Any] = {}
        self._by_number: dict[int, tuple[str, Convert | None]] = {}

    def add(self, field: FieldDescriptor, convert: Convert | None) -> None:
        self._by_number[field.number] = field.name, convert
        zero: Any = None
        if field.is_repeated:
            is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
            zero = {} if is_map else []
        elif field.message_type is None and (not field.has_presence or field.has_default_value):
            zero = field.default_value if convert is None else convert(field.default_value)
        self._absent[field.name] = zero

    def read(self, message: Message) -> dict[str, Any]:
        row = self._absent.copy()
        for field, value in message.ListFields():
            if field.is_extension:
                raise MalformedJson(f"the extension {field.full_name} is no field of a row")
            name, convert = self._by_number[field.number]
            row[name] = value if convert is None else convert(value)
        return row


def _all_by(one: Convert | None) -> Convert:
    if one is None:
        return list
    return lambda values: [one(value) for value in values]


def _values_by(one: Convert | None) -> Convert:
    """An object of a map, in the order of its keys: Protobuf's maps have none, and the library one at random."""
    return lambda values: {
        _key_text(key): values[key] if one is None else one(values[key])
        for key in sorted(values, key=_key_text)
    }


def _key_text(key: Any) -> str:
    if type(key) is bool:
        return "true" if key else "false"
    return str(key) if type(key) is int else _text(key)


def _symbol(kind: EnumDescriptor) -> Convert:
    """The name of an enum's value; the number of one that the schema does not have."""
    names = {number: one.name for number, one in kind.values_by_number.items()}
    return lambda number: names.get(number) or str(number)


def _name_of(message: Descriptor) -> str:
    """The full name; Debezium's decimals without a fixed scale come under the short one alone."""
    is_variable = message.name == "VariableScaleDecimal"
    if is_variable and {*message.fields_by_name} == {"scale", "value"}:
        return VARIABLE_DECIMAL
    return str(message.full_name)


# What a file's other files are, and what Confluent's converter notes of a field.


def _files_in(text: str) -> list[Any]:
    try:
        found = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(text, validate=True))
    except (DecodeError, ValueError):
        raise Unusable(
            "it is no set of descriptors, as protoc --descriptor_set_out writes"
        ) from None
    if not found.file or not all(one.name for one in found.file):
        raise Unusable("it is a set of no descriptors, or of such without names")
    return list(found.file)


def _add_all(pool: DescriptorPool, files: list[Any]) -> None:
    """Give the files to a pool, with what they import: theirs, else known ones, else an empty one.

    Many imports are there for options alone, which nothing is read by. If a type is missing then, the pool says so.
    """
    known = {**_KNOWN_FILES, **{one.name: one for one in files}}
    added: set[str] = set()
    missing: list[str] = []

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        file = known.get(name)
        if file is None:
            missing.append(name)
            file = descriptor_pb2.FileDescriptorProto(name=name)
        for one in file.dependency:
            add(one)
        pool.AddSerializedFile(file.SerializeToString())

    try:
        for one in files:
            add(one.name)
    except (TypeError, ValueError, RecursionError) as why:
        # The pool says in its first words only that it could not.
        said = shown(str(why).removeprefix("Couldn't build proto file into descriptor pool: "))
        lacks = ", ".join(shown(one) for one in missing)
        imports = f" (it imports {lacks}, which neither it nor a reference has)" if missing else ""
        raise Unusable(f"{said}{imports}") from None


def descriptor_set(text: str, references: Mapping[str, str]) -> str:
    """A schema's file, and by the names that they are imported by those it refers to, in base64 as a registry has them.

    Raises:
        Unusable: One is no such file: the message says what it is, as the end of a sentence.
    """
    found = descriptor_pb2.FileDescriptorSet()
    for name, one in (*references.items(), (_ITSELF, text)):
        try:
            file = descriptor_pb2.FileDescriptorProto.FromString(
                base64.b64decode(one, validate=True)
            )
        except (DecodeError, ValueError):
            raise Unusable(f"the text of a .proto file: {shown(one)}") from None
        # A registry calls each file the same; others import it by the name of their reference.
        file.name = name
        found.file.append(file)
    return base64_text(found.SerializeToString())


_ITSELF: Final = "the schema itself"


def _file(name: str, message: str, fields: Mapping[str, int]) -> Any:
    """A file of one message, whose fields have the numbers 1 and on."""
    file = descriptor_pb2.FileDescriptorProto(name=name, syntax="proto3")
    file.package, _, short = message.rpartition(".")
    made = file.message_type.add(name=short)
    for number, (field, kind) in enumerate(fields.items(), 1):
        made.field.add(name=field, number=number, type=kind, label=_Kind.LABEL_OPTIONAL)
    return file


_DATE: Final = dict.fromkeys(("year", "month", "day"), _Kind.TYPE_INT32)
_CLOCK: Final = dict.fromkeys(("hours", "minutes", "seconds", "nanos"), _Kind.TYPE_INT32)
_MOMENT: Final = {"seconds": _Kind.TYPE_INT64, "nanos": _Kind.TYPE_INT32}
_NUMBER: Final = {
    **{"value": _Kind.TYPE_BYTES, "precision": _Kind.TYPE_UINT32, "scale": _Kind.TYPE_INT32}
}

_KNOWN_FILES: Final = {
    one.name: one
    for one in (
        _file("google/type/date.proto", "google.type.Date", _DATE),
        _file("google/type/timeofday.proto", "google.type.TimeOfDay", _CLOCK),
        _file("confluent/type/decimal.proto", "confluent.type.Decimal", _NUMBER),
        *(
            descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
            for module in (
                *(any_pb2, api_pb2, descriptor_pb2, duration_pb2, empty_pb2, field_mask_pb2),
                *(source_context_pb2, struct_pb2, timestamp_pb2, type_pb2, wrappers_pb2),
            )
        ),
    )
}
"""Files that registries know without a reference, as far as converters write messages of them."""

_META: Final = 1088
"""The number of ``confluent.field_meta`` among a field's options; its own field 2 is a map of parameters."""


def _meta_of(field: FieldDescriptor) -> dict[str, str]:
    """The parameters that Confluent's converter notes of a field."""
    found: dict[str, str] = {}
    for option in UnknownFieldSet(field.GetOptions()):
        if option.field_number != _META:
            continue
        try:
            meta = _META_CLASS.FromString(option.data)
        except (DecodeError, TypeError):
            continue
        found.update((one.key, one.value) for one in meta.params)
    return found


def _meta_class() -> Any:
    file = _file("meta", "meta.Entry", {"key": _Kind.TYPE_STRING, "value": _Kind.TYPE_STRING})
    meta = file.message_type.add(name="Meta")
    meta.field.add(
        **{"name": "params", "number": 2, "type": _Kind.TYPE_MESSAGE},
        **{"label": _Kind.LABEL_REPEATED, "type_name": ".meta.Entry"},
    )
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("meta.Meta"))


_META_CLASS: Final = _meta_class()


def _parameters_of(field: FieldDescriptor) -> dict[str, str]:
    """A decimal's scale and precision, where the converter has noted them; each value has its own scale."""
    meta = _meta_of(field)
    names = {"scale": "scale", "precision": "connect.decimal.precision"}
    return {names[one]: value for one, value in meta.items() if one in names}


# Messages that are values.


def _has_fields(message: Descriptor, wanted: Mapping[str, int]) -> bool:
    return {one.name: one.type for one in message.fields if not one.is_repeated} == wanted


def _is_wrapper(message: Descriptor) -> bool:
    field = message.fields_by_name.get("value")
    return field is not None and field.message_type is None and not field.is_repeated


def _decimal(message: Any) -> str:
    return decimal_number(message.value, message.scale)


def _day(message: Any) -> int | str:
    """Days since 1970; a date without its year or day is none, and stays a text that says so."""
    year, month, day = message.year, message.month, message.day
    try:
        return date(year, month, day).toordinal() - _EPOCH
    except (ValueError, OverflowError):
        return f"{year:04}-{month:02}-{day:02}"


def _clock(message: Any) -> int:
    """Nanoseconds since midnight."""
    minutes = message.hours * 60 + message.minutes
    nanos: int = (minutes * 60 + message.seconds) * 10**9 + message.nanos
    return nanos


def _moment(message: Any) -> int | str:
    """Microseconds since 1970; a text where they are not enough, which a column of texts can hold."""
    number = int(message.seconds) * 10**9 + int(message.nanos)
    micros, rest = divmod(number, 1000)
    return (moment_text(number, 10**9) or f"{number} ns") if rest else micros


_EPOCH: Final = date(1970, 1, 1).toordinal()

_WELL_KNOWN: Final[Mapping[str, tuple[Mapping[str, int], dict[str, Any], Convert]]] = {
    "confluent.type.Decimal": (_NUMBER, {"type": "bytes", "name": DECIMAL}, _decimal),
    "google.type.Date": (_DATE, {"type": "int32", "name": f"{CONNECT}Date"}, _day),
    "google.type.TimeOfDay": (_CLOCK, {"type": "int64", "name": f"{TIME}NanoTime"}, _clock),
    "google.protobuf.Timestamp": (
        *(_MOMENT, {"type": "int64", "name": f"{TIME}MicroTimestamp"}, _moment),
    ),
}
"""By their names: the fields that they must have, what Kafka Connect calls them, and how they become JSON."""

_WRAPPERS: Final = frozenset(
    f"google.protobuf.{one}Value"
    for one in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
