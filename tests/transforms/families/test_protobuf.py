"""Records in Protobuf: what each type becomes, which message of a schema they are, and what is none of them."""

from __future__ import annotations

import base64
import json
import random
import struct
import uuid
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import wrappers_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import given
from hypothesis import strategies as st

from tests.support.onboarded import onboarded
from tests.support.protobuf_messages import (
    change,
    envelope_file,
    file,
    file_set,
    key_file,
    message,
    registered,
    serialized,
    wired,
    written,
)
from tests.transforms.families.test_avro import event_of, feed_with
from transforms.families.connect.protobuf import ProtobufSchema, descriptor_set
from transforms.families.connect.scalars import Unusable
from transforms.feed.feed import RegisteredSchema
from transforms.formats import FORMATS
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord

REGISTRY = "http://registry:8081"
KEY = key_file("pets", id="int32")
ENVELOPE = "shop.public.pets.Envelope"


def column_of(kind: str, value: object, *nested: Any) -> tuple[object, str | None]:
    """What a column of a type becomes, as text or bytes, and the type that gold gives it; not written where None."""
    schema = envelope_file("pets", nested, id="int32", c=kind)
    row = {"id": 1} if value is None else {"id": 1, "c": value}
    data = written([schema], ENVELOPE, change("c", "pets", 5, after=row))
    feed = feed_with({"1": registered(KEY), "2": registered(schema)})
    key = written([KEY], "shop.public.pets.Key", {"id": 1})
    event = event_of(feed, wired(2, data), wired(1, key))
    assert event.fault is None
    assert event.stream_schema is not None
    assert event.stream_schema.key == ("id",)
    return event.after["c"], dict(event.stream_schema.columns)["c"]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


PART = message("Part", x="double", raw="optional bytes", **{"from": "google.protobuf.Int32Value"})
TREE = message("Tree", name="string", under="repeated Tree")
LOOSE = message("VariableScaleDecimal", scale="int32", value="bytes")
PRICE = {"value": b64((-1230).to_bytes(2, "big", signed=True)), "precision": 4, "scale": 2}
MOMENT = "2026-03-01T04:05:06.789012Z"


@pytest.mark.parametrize(
    ("kind", "value", "text", "spark"),
    [
        ("bool", True, "true", "boolean"),
        ("int32", -(2**31), "-2147483648", "int"),
        ("sint32", -1, "-1", "int"),
        ("int32 connect.type=int16", 7, "7", "smallint"),
        ("int64", 2**63 - 1, "9223372036854775807", "bigint"),
        ("sfixed64", -(2**63), "-9223372036854775808", "bigint"),
        ("uint32", 2**32 - 1, "4294967295", "bigint"),
        ("uint64", 2**64 - 1, "18446744073709551615", "decimal(20,0)"),
        ("float", 0.1, "0.1", "float"),
        ("double", 0.1 + 0.2, "0.30000000000000004", "double"),
        ("double", "NaN", "NaN", "double"),
        ("double", "-Infinity", "-Infinity", "double"),
        ("string", "ä\x00b", "ä\x00b", "string"),
        ("bytes", b64(b"\x00\xff"), b"\x00\xff", "binary"),
        # Without presence nothing tells a zero from no value; with it, that is null.
        ("int32", None, "0", "int"),
        ("string", None, "", "string"),
        ("optional int32", None, None, "int"),
        ("optional int32", 0, "0", "int"),
        ("optional string", "", "", "string"),
        ("google.protobuf.Int32Value", None, None, "int"),
        ("google.protobuf.Int32Value", 0, "0", "int"),
        ("google.protobuf.UInt64Value", 5, "5", "decimal(20,0)"),
        ("google.protobuf.BytesValue", b64(b"\x01"), b"\x01", "binary"),
        ("google.type.Date", {"year": 2026, "month": 3, "day": 1}, "2026-03-01", "date"),
        ("google.type.Date", {"year": 1, "month": 1, "day": 1}, "0001-01-01", "date"),
        (
            *("google.type.TimeOfDay", {"hours": 4, "minutes": 5, "seconds": 6, "nanos": 789}),
            *("04:05:06.000000789", "string"),
        ),
        (
            "google.protobuf.Timestamp",
            MOMENT,
            "2026-03-01 04:05:06.789012",
            "timestamp_ntz",
        ),
        (
            *("google.protobuf.Timestamp", "1969-12-31T23:59:59.999Z"),
            *("1969-12-31 23:59:59.999", "timestamp_ntz"),
        ),
        ("google.protobuf.Timestamp", None, None, "timestamp_ntz"),
        ("confluent.type.Decimal scale=2 precision=8", PRICE, "-12.30", "decimal(8,2)"),
        ("confluent.type.Decimal", PRICE, "-12.30", "string"),
        ("confluent.type.Decimal scale=2 precision=8", None, None, "decimal(8,2)"),
        ("VariableScaleDecimal", {"value": b64(b"\x7d"), "scale": 1}, "12.5", "string"),
        ("repeated int32", [1, 0], "[1,0]", "array<int>"),
        ("repeated int32", None, "[]", "array<int>"),
        ("repeated bytes", [b64(b"\x01")], '["AQ=="]', "array<binary>"),
        ("map string int64", {"b": 1, "a": 2}, '{"a":2,"b":1}', "string"),
        ("map bool bytes", {"true": b64(b"\x01")}, '{"true":"AQ=="}', "string"),
        ("Part", {"x": 1.5, "from": 7}, '{"x":1.5,"raw":null,"from":7}', "string"),
        ("Part", None, None, "string"),
        (
            *("Tree", {"name": "a", "under": [{"name": "b"}]}),
            *('{"name":"a","under":[{"name":"b","under":[]}]}', "string"),
        ),
    ],
)
def test_every_type_becomes_what_connects_json_would_have_given(
    kind: str, value: object, text: object, spark: str
) -> None:
    assert column_of(kind, value, PART, TREE, LOOSE) == (text, spark)


def test_a_date_or_moment_that_the_type_does_not_hold_stays_as_it_stands() -> None:
    """The column's type refuses the text, or a column of texts holds it."""
    partial = column_of("google.type.Date", {"year": 2026, "month": 3})
    assert partial == ("2026-03-00", "date")
    fine = column_of("google.protobuf.Timestamp", "2026-03-01T04:05:06.789012345Z")
    assert fine == ("2026-03-01 04:05:06.789012345", "timestamp_ntz")


def test_an_enum_is_its_values_name_and_a_number_without_one_is_itself() -> None:
    schema = envelope_file("pets", id="int32", size="Size", last="Size", odd="Size")
    size = schema.message_type[0].nested_type[0].enum_type.add(name="Size")
    size.value.add(name="SMALL", number=0)
    size.value.add(name="LARGE", number=4)
    row = {"id": 1, "last": "LARGE", "odd": 9}
    data = written([schema], ENVELOPE, change("c", "pets", 5, after=row))
    after = event_of(feed_with({"2": registered(schema)}), wired(2, data)).after
    assert after == {"id": "1", "size": "SMALL", "last": "LARGE", "odd": "9"}


def test_members_of_a_oneof_are_columns_of_which_one_has_a_value() -> None:
    schema = envelope_file("pets", id="int32", word="oneof string", number="oneof int32")
    data = written([schema], ENVELOPE, change("c", "pets", 5, after={"id": 1, "number": 0}))
    after = event_of(feed_with({"2": registered(schema)}), wired(2, data)).after
    assert after == {"id": "1", "word": None, "number": "0"}


def test_proto2_has_presence_and_defaults_of_its_own() -> None:
    row = message("Row", a="int32", b="int32", c="string")
    row.field[1].default_value = "7"
    schema = file("old", row)
    schema.syntax = "proto2"
    read = ProtobufSchema(registered(schema).text).read
    assert read(b"\x00")["payload"] == {"a": None, "b": 7, "c": None}
    assert read(b"\x00\x08\x05")["payload"] == {"a": 5, "b": 7, "c": None}
    with pytest.raises(MalformedJson, match="a text is no UTF-8"):
        read(b"\x00\x1a\x01\xff")


def test_deletes_and_tombstones_are_those_of_the_json_converter() -> None:
    feed = feed_with({"1": registered(KEY), "2": registered(ROW)})
    key = wired(1, written([KEY], "shop.public.pets.Key", {"id": 4}))
    gone = written([ROW], ENVELOPE, change("d", "pets", 9, before={"id": 4, "n": "x"}))
    event = event_of(feed, wired(2, gone), key)
    assert (event.effect, event.before, event.fault) == ("remove", {"id": "4", "n": "x"}, None)
    assert event_of(feed, None, key).operation == "tombstone"


ROW = envelope_file("pets", id="int32", n="optional string")
VALUE = change("u", "pets", 9, after={"id": 1, "n": "rex"})
DATA = written([ROW], ENVELOPE, VALUE)


@pytest.mark.parametrize(
    ("value", "headers"),
    [
        (wired(2, DATA), None),
        (wired(2, DATA, b"\x02\x00"), None),
        (DATA, [("__value_schema_id", b"\x00\x00\x00\x00\x02\x00")]),
        (DATA, [("__value_schema_id", b"\x01" + uuid.UUID(int=2).bytes + b"\x02\x00")]),
    ],
)
def test_id_and_indexes_stand_before_the_value_or_in_a_header(
    value: bytes, headers: list[tuple[str, bytes | None]] | None
) -> None:
    feed = feed_with(dict.fromkeys(("2", f"guid/{uuid.UUID(int=2)}"), registered(ROW)))
    event = event_of(feed, value, None, headers)
    assert (event.fault, event.after) == (None, {"id": "1", "n": "rex"})


def test_indexes_count_messages_and_those_within_without_the_entries_of_maps() -> None:
    inner, other = message("Inner", a="int32"), message("Other", b="int32")
    outer = message("Outer", m="map string int32")
    outer.nested_type.extend([inner, other])
    read = ProtobufSchema(registered(file("p", message("First", z="bool"), outer)).text).read
    one = b"\x08\x05"
    assert read(b"\x00\x08\x01")["payload"] == {"z": True}
    assert read(b"\x02\x02")["payload"] == {"m": {}}
    assert read(b"\x04\x02\x00" + one)["payload"] == {"a": 5}
    found = read(b"\x04\x02\x02" + one)
    assert found["payload"] == {"b": 5}
    assert found["schema"]["name"] == "p.Outer.Other"
    assert read(b"\x04\x02\x02")["schema"] is found["schema"]
    for data, words in (
        (b"\x04\x02\x04", r"indexes are \[1, 2\], and the message p.Outer has 2 messages"),
        (b"\x02\x04", r"indexes are \[2\], and the schema has 2 messages"),
        (b"\x02\x01", r"indexes are \[-1\]"),
        (b"\x01", "begins with -1 message indexes"),
        (b"\xfe\x01", "begins with 127 message indexes"),
        (b"\x04\x02", "does not begin with message indexes"),
        (b"\xff" * 9, "does not begin with message indexes"),
        (b"", "does not begin with message indexes"),
    ):
        with pytest.raises(MalformedJson, match=words):
            read(data)


def test_a_key_that_is_a_wrapper_alone_is_its_value() -> None:
    known = FileDescriptorProto.FromString(wrappers_pb2.DESCRIPTOR.serialized_pb)
    names = [one.name for one in known.message_type]
    indexes = bytes([2, 2 * names.index("Int64Value")])
    assert ProtobufSchema(registered(known).text).read(indexes + b"\x08\x07") == {
        "schema": {"type": "int64", "optional": False},
        "payload": 7,
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (DATA + b"\x38\x01", "field 7 of shop.public.pets.Envelope is not in the schema"),
        (DATA[:-3], "bytes are no message shop.public.pets.Envelope: Error parsing message"),
        (b"\x22\x02\xff\xfe", "bytes are no message shop.public.pets.Envelope"),
        (b'{"op": "c"}', "bytes are no message shop.public.pets.Envelope"),
    ],
)
def test_bytes_that_are_no_message_are_a_fault_that_names_what_was_found(
    data: bytes, words: str
) -> None:
    event = event_of(feed_with({"2": registered(ROW)}), wired(2, data))
    assert event.fault is not None
    assert event.fault.reason == "malformed_protobuf"
    assert event.fault.detail.startswith("the value, by schema id 2: ")
    assert words in event.fault.detail


def test_a_field_that_the_schema_of_a_nested_message_lacks_is_found_there() -> None:
    wider = envelope_file("pets", id="int32", n="optional string", more="int32")
    data = written([wider], ENVELOPE, change("c", "pets", 9, after={"id": 1, "more": 4}))
    event = event_of(feed_with({"2": registered(ROW)}), wired(2, data))
    assert event.fault is not None
    assert "field 3 of shop.public.pets.Envelope.Value is not in the schema" in event.fault.detail


def test_hostile_bytes_are_a_fault_and_never_raise() -> None:
    draw = random.Random(7)
    every = envelope_file(
        *("pets", [PART, TREE, LOOSE]),
        **{"id": "int32", "s": "string", "b": "optional bytes", "f": "float", "d": "double"},
        **{
            "m": "map string Part",
            "l": "repeated sint64",
            "t": "Tree",
            "v": "VariableScaleDecimal",
        },
        **{"p": "confluent.type.Decimal scale=2", "day": "google.type.Date", "w": "bool"},
        **{"at": "google.protobuf.Timestamp", "clock": "google.type.TimeOfDay"},
        **{"u": "google.protobuf.UInt64Value", "any": "google.protobuf.Struct"},
    )
    row = {
        **{"id": 1, "s": "ab", "b": b64(b"1"), "f": 1.5, "d": 2.5, "m": {"k": {"x": 1}}},
        **{"l": [1, -2], "t": {"under": [{}]}, "v": {"value": "fQ==", "scale": 1}, "p": PRICE},
        **{"day": {"year": 2026, "month": 1, "day": 1}, "at": MOMENT, "clock": {"hours": 3}},
        **{"u": 5, "any": {"a": [1, None]}, "w": True},
    }
    good = written([every], ENVELOPE, change("c", "pets", 5, after=row))
    feed = feed_with({"1": registered(every), "2": registered(every)})
    assert event_of(feed, wired(2, good)).fault is None
    decode = FORMATS[feed.format].decoder(feed, {})
    for _ in range(3_000):
        body = bytearray(wired(2, good))
        for _ in range(draw.randint(1, 4)):
            body[draw.randrange(5, len(body))] = draw.randrange(256)
        hostile = bytes(body[: draw.randrange(5, len(body) + 1)])
        value = hostile if draw.random() < 0.5 else bytes(body)
        place = ("w", "shop.public.pets/0", "id", 8, 7, None)
        decode(BronzeRecord(*place, value, None, 0, wired(1, hostile[5:]), None))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**127), 2**127 - 1),
    st.integers(0, 40),
    st.binary(max_size=8),
    st.floats(width=32),
    st.none() | TEXTS,
    st.dictionaries(TEXTS, st.integers(-(2**31), 2**31 - 1), max_size=4),
)
def test_values_come_back_as_they_were_written(
    number: int,
    unscaled: int,
    scale: int,
    raw: bytes,
    small: float,
    text: str | None,
    pairs: dict[str, int],
) -> None:
    row = message(
        *("Row",),
        **{"number": "int64", "price": "confluent.type.Decimal", "raw": "bytes", "small": "float"},
        **{"text": "optional string", "pairs": "map string int32"},
    )
    written_float = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(str(small), small)
    price = {"value": b64(unscaled.to_bytes(17, "big", signed=True)), "scale": scale}
    value = {
        "number": number,
        "price": price,
        "raw": b64(raw),
        "small": written_float,
        "pairs": pairs,
    }
    if text is not None:
        value["text"] = text
    schema = file("p", row)
    found = PARSED.setdefault(serialized(schema), ProtobufSchema(registered(schema).text)).read(
        b"\x00" + written([schema], "p.Row", value)
    )["payload"]
    assert (found["number"], found["text"], found["pairs"]) == (number, text, pairs)
    assert base64.b64decode(found["raw"]) == raw
    assert struct.pack("f", float(found["small"])) == struct.pack("f", small) or small != small
    digits = found["price"].replace(".", "")
    assert int(digits) == unscaled
    assert len(found["price"].partition(".")[2]) == scale


PARSED: dict[str, ProtobufSchema] = {}


def test_onboarding_names_the_key_that_is_needed(tmp_path: Path) -> None:
    record = {
        "topic": "shop.public.pets",
        "partition": 0,
        "offset": 3,
        "value": b64(wired(2, DATA)),
    }
    (tmp_path / "dump.json").write_text(json.dumps(record))
    found = onboarded(str(tmp_path))
    assert found.feed.format == "debezium"
    assert "# schemas:\n#   registry: http://host:8081\n" in found.draft.text
    assert "`schemas: {registry: http://host:8081}`" in found.proposal.notes[0]


# Schemas.


def test_types_of_references_are_found_by_the_names_that_they_are_imported_by() -> None:
    money = file("shared", message("Money", cents="int64"))
    priced = file("p", message("P", price="shared.Money"), imports=["shared/money.proto"])
    text = descriptor_set(serialized(priced), {"shared/money.proto": serialized(money)})
    read = ProtobufSchema(text).read
    assert read(b"\x00\x0a\x02\x08\x05")["payload"] == {"price": {"cents": 5}}
    with pytest.raises(
        Unusable, match=r"shared\.Money.*imports shared/money\.proto, which neither"
    ):
        ProtobufSchema(descriptor_set(serialized(priced), {}))


def test_an_import_for_options_alone_need_not_be_there() -> None:
    schema = file(
        "p", message("P", a="int32"), imports=["confluent/meta.proto", "google/api.proto"]
    )
    assert ProtobufSchema(registered(schema).text).read(b"\x00")["payload"] == {"a": 0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("message A {}", "no set of descriptors"),
        (b64(b"\xff"), "no set of descriptors"),
        ("", "set of no descriptors"),
        (b64(file_set(file("p", message("A"), name=""))), "without names"),
        (registered(file("p", message("A", b="Nowhere"))).text, "Nowhere"),
        (registered(file("p", message("A"), message("A"))).text, "A"),
    ],
)
def test_a_schema_that_nothing_can_be_read_by_says_why(text: str, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        ProtobufSchema(text)
    feed = feed_with({"2": RegisteredSchema("PROTOBUF", text)})
    fault = event_of(feed, wired(2, DATA)).fault
    assert fault is not None
    assert fault.reason == "no_schema"
    assert fault.detail.startswith(f"schema id 2 of {REGISTRY} cannot be used: ")


def test_messages_that_are_nested_without_end_are_a_fault() -> None:
    links = [message(f"M{n}", a=f"M{n + 1}") for n in range(3_000)]
    schema = registered(file("p", *links, message("M3000", a="int32")))
    event = event_of(feed_with({"2": schema}), wired(2, b""))
    assert event.fault is not None
    assert event.fault.detail.endswith("the message p.M0 is nested too deeply")
    read = ProtobufSchema(schema.text).read
    with pytest.raises(MalformedJson):
        read(b"\x00")
    # Message 2999 has the last one within it.
    assert read(b"\x02\xee\x2e\x0a\x00")["payload"] == {"a": {"a": 0}}
