"""Debezium's messages as Confluent's ProtobufConverter writes them: schemas, and values in the wire format."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, json_format, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from transforms.feed.feed import RegisteredSchema

IMPORTS = {
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
    "google.protobuf.Struct": "google/protobuf/struct.proto",
    "google.type.Date": "google/type/date.proto",
    "google.type.TimeOfDay": "google/type/timeofday.proto",
    "confluent.type.Decimal": "confluent/type/decimal.proto",
    **{
        f"google.protobuf.{one}Value": "google/protobuf/wrappers.proto"
        for one in ("Int32", "UInt64", "String", "Bytes", "Bool", "Double")
    },
}
"""Where the messages are that a registry knows by itself."""


def message(name: str, nested: Sequence[Any] = (), /, **fields: str) -> Any:
    """A message whose fields are numbered from 1; of each the type, behind ``optional``, ``repeated`` or ``map <key>``.

    A type that has a large letter is a message or an enum, as converters write it: neither's name is complete, nor is
    it said which of the two it is. ``oneof`` in front of a type makes it a member of the message's only one. What is
    written behind the type are parameters of ``confluent.field_meta``.
    """
    made = descriptor_pb2.DescriptorProto(name=name, nested_type=nested)
    for number, (field, words) in enumerate(fields.items(), 1):
        *labels, kind = (one for one in words.split() if "=" not in one)
        one = made.field.add(name=field, number=number)
        if labels[:1] == ["map"]:
            entry = message(f"{field.title()}Entry", key=labels[1], value=kind)
            entry.options.map_entry = True
            made.nested_type.append(entry)
            labels, kind = ["repeated"], entry.name
        if labels == ["repeated"]:
            one.label = one.LABEL_REPEATED
        if labels in (["optional"], ["oneof"]):
            one.proto3_optional = labels == ["optional"]
            one.oneof_index = len(made.oneof_decl)
            if labels == ["optional"] or not any(o.name == "kind" for o in made.oneof_decl):
                made.oneof_decl.add(name=f"_{field}" if labels == ["optional"] else "kind")
            else:
                one.oneof_index = [o.name for o in made.oneof_decl].index("kind")
        if kind.islower():
            one.type = getattr(one, f"TYPE_{kind.upper()}")
        else:
            one.type_name = kind
        parameters = dict(word.split("=") for word in words.split() if "=" in word)
        if parameters:
            one.options.MergeFromString(_meta(parameters))
    return made


def _meta(parameters: Mapping[str, str]) -> bytes:
    """The bytes of ``confluent.field_meta``: field 1088, in it field 2 for each parameter, a key and a value."""

    def within(tag: bytes, data: bytes) -> bytes:
        return tag + bytes([len(data)]) + data

    entries = [
        within(b"\x12", within(b"\x0a", name.encode()) + within(b"\x12", value.encode()))
        for name, value in parameters.items()
    ]
    return within(b"\x82\x44", b"".join(entries))


def file(package: str, *messages: Any, name: str = "default", imports: Sequence[str] = ()) -> Any:
    """A file of messages; a registry calls each ``default``. It imports what it has of the messages that all know."""
    made = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
    made.message_type.extend(messages)
    text = str(made)
    known = {path for kind, path in IMPORTS.items() if f'"{kind}"' in text}
    made.dependency.extend([*sorted(known), *imports])
    return made


def serialized(file: Any) -> str:
    """A file as a registry answers with ``format=serialized``."""
    return base64.b64encode(file.SerializeToString()).decode()


def file_set(*files: Any) -> bytes:
    """What ``protoc --include_imports --descriptor_set_out`` writes, without what is known anyway."""
    return bytes(descriptor_pb2.FileDescriptorSet(file=files).SerializeToString())


def registered(*files: Any) -> RegisteredSchema:
    """A schema as the driver has it from a folder: the last file."""
    return RegisteredSchema("PROTOBUF", base64.b64encode(file_set(*files)).decode())


def known_files() -> list[Any]:
    """What a registry knows by itself, as its vendors write it: ``google/type`` and ``confluent/type`` from memory."""
    numbers = dict.fromkeys(("hours", "minutes", "seconds", "nanos"), "int32")
    day = message("Date", year="int32", month="int32", day="int32")
    decimal = message("Decimal", value="bytes", precision="uint32", scale="int32")
    own = {
        "google/type/date.proto": file("google.type", day),
        "google/type/timeofday.proto": file("google.type", message("TimeOfDay", **numbers)),
        "confluent/type/decimal.proto": file("confluent.type", decimal),
    }
    for name, one in own.items():
        one.name = name
    return [
        *own.values(),
        *(
            descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
            for module in (struct_pb2, timestamp_pb2, wrappers_pb2)
        ),
    ]


def written(files: Sequence[Any], name: str, value: Mapping[str, Any]) -> bytes:
    """A value, in ProtoJSON, in Protobuf's bytes."""
    made = _class(tuple(one.SerializeToString() for one in files), name)()
    json_format.ParseDict(value, made)
    return bytes(made.SerializeToString(deterministic=True))


@cache
def _class(files: tuple[bytes, ...], name: str) -> Any:
    pool = DescriptorPool()
    for one in (*(known.SerializeToString() for known in known_files()), *files):
        pool.AddSerializedFile(one)
    return GetMessageClass(pool.FindMessageTypeByName(name))


def wired(number: int, data: bytes, indexes: bytes = b"\x00") -> bytes:
    """A message in Confluent's wire format."""
    return b"\x00" + number.to_bytes(4, "big") + indexes + data


SOURCE = message(
    *("Source",),
    **{"connector": "string", "ts_ms": "int64", "snapshot": "string", "db": "string"},
    **{"schema": "string", "table": "string", "lsn": "int64"},
)


def key_file(table: str, /, **columns: str) -> Any:
    """The schema of the keys of a table's messages."""
    return file(f"shop.public.{table}", message("Key", **columns))


def envelope_file(table: str, nested: Sequence[Any] = (), /, **columns: str) -> Any:
    """The schema of the messages of a table with these columns."""
    envelope = message(
        *("Envelope", [message("Value", nested, **columns), SOURCE]),
        **{"before": "Value", "after": "Value", "source": "Source", "op": "string"},
        ts_ms="int64",
    )
    return file(f"shop.public.{table}", envelope)


def change(op: str, table: str, lsn: int, **images: Any) -> dict[str, Any]:
    """A change of a row in ProtoJSON, with its images ``before`` and ``after``."""
    source = {
        **{"connector": "postgresql", "ts_ms": 1_763_611_200_000 + lsn, "snapshot": "false"},
        **{"db": "shop", "schema": "public", "table": table, "lsn": lsn},
    }
    return {**images, "source": source, "op": op, "ts_ms": 1_763_611_200_500}
