"""Records in Avro: what each type becomes, whose schema they are read by, and what is no value of it."""

from __future__ import annotations

import base64
import io
import json
import random
import uuid
import zlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from tests.support.avro_messages import (
    change,
    envelope_schema,
    key_schema,
    registered,
    wired,
    written,
)
from tests.support.decoded import decoded, records_of
from tests.support.onboarded import onboarded
from transforms.event import Event
from transforms.families.connect.avro import AvroSchema
from transforms.families.connect.scalars import Unusable
from transforms.feed.feed import Feed, RegisteredSchema, Schemas, Table
from transforms.formats import FORMATS
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord, Limits

REGISTRY = "http://registry:8081"
KEY = key_schema("pets", {"name": "id", "type": "int"})
TIME, CONNECT = "io.debezium.time.", "org.apache.kafka.connect.data."


def feed_with(known: Mapping[str, RegisteredSchema] | None, format_name: str = "debezium") -> Feed:
    schemas = None if known is None else Schemas(REGISTRY, known)
    return Feed("shop", format_name, "kafka://broker/pets", schemas=schemas)


def event_of(
    feed: Feed,
    value: bytes | None,
    key: bytes | None = None,
    headers: list[tuple[str, bytes | None]] | None = None,
) -> Event:
    place = ("w", "shop.public.pets/0", "id", 8, 7, None)
    record = BronzeRecord(*place, value, None, 0, key, headers)
    (event,) = FORMATS[feed.format].decoder(feed, {})(record)
    assert isinstance(event, Event)
    return event


def column_of(
    kind: object, value: object, format_name: str = "debezium"
) -> tuple[object, str | None]:
    """What a column of a type becomes, as text or bytes, and the type that gold gives it."""
    schema = envelope_schema("pets", {"name": "id", "type": "int"}, {"name": "c", "type": kind})
    body = wired(2, schema, change("c", "pets", 5, after={"id": 1, "c": value}))
    feed = feed_with({"1": registered(KEY), "2": registered(schema)}, format_name)
    event = event_of(feed, body, wired(1, KEY, {"id": 1}))
    assert event.fault is None
    assert event.stream_schema is not None
    assert event.stream_schema.key == ("id",)
    return event.after["c"], dict(event.stream_schema.columns)["c"]


def named(kind: str, name: str, **parameters: str) -> dict[str, Any]:
    return {"type": kind, "connect.name": name, "connect.parameters": parameters}


def logical(kind: object, name: str, **more: object) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


FIXED = {"type": "fixed", "name": "Four", "size": 4}
MOMENT = datetime(2026, 3, 1, 4, 5, 6, 789_000, UTC)
MICROS = 1_772_337_906_789_012
DECIMAL = f"{CONNECT}Decimal"
PART = {
    **{"type": "record", "name": "Part", "connect.name": "geo.Part"},
    "fields": [{"name": "x", "type": "double"}, {"name": "raw", "type": ["null", "bytes"]}],
}


@pytest.mark.parametrize(
    ("kind", "value", "text", "spark"),
    [
        ("boolean", True, "true", "boolean"),
        ("int", -(2**31), "-2147483648", "int"),
        ("long", 2**63 - 1, "9223372036854775807", "bigint"),
        ({"type": "int", "connect.type": "int16"}, 7, "7", "smallint"),
        ("float", 0.1, "0.1", "float"),
        ("double", 0.1 + 0.2, "0.30000000000000004", "double"),
        ("double", float("nan"), "NaN", "double"),
        ("double", float("-inf"), "-Infinity", "double"),
        ("string", "ä\x00b", "ä\x00b", "string"),
        ("bytes", b"\x00\xff", b"\x00\xff", "binary"),
        (FIXED, b"\x00abc", b"\x00abc", "binary"),
        ({"type": "enum", "name": "Size", "symbols": ["S", "L"]}, "L", "L", "string"),
        (logical("int", "date"), date(2026, 3, 1), "2026-03-01", "date"),
        (logical("int", "time-millis"), time(4, 5, 6, 789_000), "04:05:06.789", "string"),
        (logical("long", "time-micros"), time(4, 5, 6, 789_012), "04:05:06.789012", "string"),
        (logical("long", "timestamp-millis"), MOMENT, "2026-03-01 04:05:06.789", "timestamp_ntz"),
        (
            logical("long", "timestamp-micros"),
            MICROS,
            "2026-03-01 04:05:06.789012",
            "timestamp_ntz",
        ),
        (
            *(logical("long", "local-timestamp-micros"), MICROS),
            *("2026-03-01 04:05:06.789012", "timestamp_ntz"),
        ),
        (
            *(logical("long", "timestamp-nanos"), MICROS * 1_000 + 345),
            *("2026-03-01 04:05:06.789012345", "string"),
        ),
        (
            logical("bytes", "decimal", precision=9, scale=2),
            Decimal("-12.30"),
            "-12.30",
            "decimal(9,2)",
        ),
        (logical("bytes", "decimal", precision=6), Decimal(1234), "1234", "decimal(6,0)"),
        (
            {**FIXED, "logicalType": "decimal", "precision": 9, "scale": 1},
            *(Decimal("7.5"), "7.5", "decimal(9,1)"),
        ),
        (logical("string", "uuid"), uuid.UUID(int=1), str(uuid.UUID(int=1)), "string"),
        (
            {"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"},
            *(uuid.UUID(int=9).bytes, str(uuid.UUID(int=9)), "string"),
        ),
        # An unknown logical type is none.
        (logical("long", "fortnights"), 3, "3", "bigint"),
        # Debezium's own names, as Confluent's converter keeps them.
        (named("int", f"{TIME}Date"), 20_513, "2026-03-01", "date"),
        (
            named("long", f"{TIME}MicroTimestamp"),
            MICROS,
            "2026-03-01 04:05:06.789012",
            "timestamp_ntz",
        ),
        (
            named("string", f"{TIME}ZonedTimestamp"),
            "2026-03-01T04:05:06Z",
            "2026-03-01T04:05:06Z",
            "timestamp",
        ),
        (
            {
                **named("bytes", DECIMAL, scale="2", **{"connect.decimal.precision": "10"}),
                **{"logicalType": "decimal", "scale": 2, "precision": 64},
            },
            *(Decimal("1.25"), "1.25", "decimal(10,2)"),
        ),
        ({"type": "array", "items": ["null", "int"]}, [1, None], "[1,null]", "array<int>"),
        ({"type": "map", "values": "bytes"}, {"a": b"\x01"}, '{"a":"AQ=="}', "string"),
        (PART, {"x": 1.5, "raw": b"\x01"}, '{"x":1.5,"raw":"AQ=="}', "string"),
        (["null", "string"], None, None, "string"),
        (["int", "null"], 4, "4", "int"),
        (["string"], "one", "one", "string"),
        # A union of several types is a struct, as in Confluent's converter.
        (["null", "int", "string"], "x", '{"int":null,"string":"x"}', "string"),
        (
            ["long", {"type": "array", "items": "bytes"}],
            [b"\x01"],
            '{"long":null,"array":["AQ=="]}',
            "string",
        ),
    ],
)
def test_every_type_becomes_what_connects_json_would_have_given(
    kind: object, value: object, text: object, spark: str
) -> None:
    for format_name in ("debezium", "arcion_kafka"):
        assert column_of(kind, value, format_name) == (text, spark)


def test_a_decimal_whose_bytes_look_like_a_number_in_base64_is_itself() -> None:
    kind = logical("bytes", "decimal", precision=12, scale=2)
    number = Decimal(int.from_bytes(base64.b64decode("1234"), "big", signed=True)).scaleb(-2)
    assert column_of(kind, number, "arcion_kafka") == (str(number), "decimal(12,2)")


def test_defaults_are_those_of_rows_from_before_a_column_came() -> None:
    schema = envelope_schema(
        *("pets", {"name": "id", "type": "int"}),
        {
            "name": "pay",
            "type": logical("bytes", "decimal", precision=4, scale=1),
            "default": "\u000f",
        },
        {"name": "size", "type": "float", "default": 2.5},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "born", "type": [logical("int", "date"), "null"], "default": 1},
        {"name": "odd", "type": "bytes"},
    )
    row = {"id": 1, "pay": Decimal("0.2"), "size": 1.0, "name": "a", "born": None, "odd": b""}
    body = wired(2, schema, change("c", "pets", 5, after=row))
    # A default that is no value of its type says nothing.
    schema["fields"][0]["type"][1]["fields"][-1]["default"] = 7
    known = {"1": registered(KEY), "2": registered(schema)}
    event = event_of(feed_with(known), body, wired(1, KEY, {"id": 1}))
    assert event.fault is None
    assert event.stream_schema is not None
    assert dict(event.stream_schema.defaults) == {"pay": "1.5", "size": "2.5", "born": "1970-01-02"}


def test_types_of_references_are_found_whatever_names_them() -> None:
    money = {
        **{"type": "record", "name": "shared.Money"},
        "fields": [{"name": "in", "type": "Currency"}, {"name": "cents", "type": "long"}],
    }
    currency = {"type": "enum", "name": "shared.Currency", "symbols": ["EUR", "CHF"]}
    schema = envelope_schema(
        "pets", {"name": "id", "type": "int"}, {"name": "price", "type": "shared.Money"}
    )
    row = {"id": 1, "price": {"in": "CHF", "cents": 5}}
    whole = json.loads(json.dumps(schema).replace('"shared.Money"', json.dumps(money), 1))
    whole = json.loads(json.dumps(whole).replace('"Currency"', json.dumps(currency), 1))
    body = wired(2, whole, change("c", "pets", 5, after=row))
    feed = feed_with({"2": registered(schema, currency, money)})
    assert event_of(feed, body).after == {"id": "1", "price": '{"in":"CHF","cents":5}'}
    alone = event_of(feed_with({"2": registered(schema)}), body)
    assert alone.fault is not None
    assert "names the type shared.Money, which neither it nor a reference has" in alone.fault.detail


ROW = envelope_schema(
    "pets", {"name": "id", "type": "int"}, {"name": "n", "type": ["null", "string"]}
)
KNOWN = {"1": registered(KEY), "2": registered(ROW)}
VALUE = change("u", "pets", 9, after={"id": 1, "n": "rex"})


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        (b"\x00\x00\x00\x00\x02", None),
        (b"\x00" + (2).to_bytes(8, "big"), None),
        (b"", [("__value_schema_id", b"\x00\x00\x00\x00\x02")]),
        (b"", [("__value_schema_id", b"\x01" + uuid.UUID(int=2).bytes)]),
        (b"", [("apicurio.value.globalId", (2).to_bytes(8, "big"))]),
        (b"", [("other", None), ("apicurio.value.contentId", (2).to_bytes(8, "big"))]),
    ],
)
def test_an_id_stands_before_the_value_or_in_a_header(
    head: bytes, headers: list[tuple[str, bytes | None]] | None
) -> None:
    ids = ("2", f"guid/{uuid.UUID(int=2)}", "globalId/2", "contentId/2")
    feed = feed_with(dict.fromkeys(ids, KNOWN["2"]))
    event = event_of(feed, head + written(ROW, VALUE), None, headers)
    assert (event.fault, event.after) == (None, {"id": "1", "n": "rex"})


def test_deletes_tombstones_and_keys_are_those_of_the_json_converter() -> None:
    feed, key = feed_with(KNOWN), wired(1, KEY, {"id": 4})
    gone = event_of(feed, wired(2, ROW, change("d", "pets", 9)), key)
    assert (gone.effect, gone.before, gone.fault) == ("remove", {"id": "4"}, None)
    assert event_of(feed, None, key).effect == event_of(feed_with({}), None, b"").effect
    text = event_of(
        feed_with({**KNOWN, "3": registered("string")}),
        wired(2, ROW, VALUE),
        wired(3, "string", "k"),
    )
    assert (text.fault, text.stream_schema) == (None, None)


def test_json_schemas_wire_format_is_json_behind_the_id() -> None:
    known = {"2": RegisteredSchema("JSON", "{}"), "3": RegisteredSchema("THRIFT", "struct A {}")}
    body = json.dumps(VALUE).encode()
    event = event_of(feed_with(known), b"\x00\x00\x00\x00\x02" + body)
    assert (event.fault, event.after) == (None, {"id": "1", "n": "rex"})
    other = event_of(feed_with(known), b"\x00\x00\x00\x00\x03\x00abc")
    assert other.fault is not None
    assert other.fault == (
        "no_schema",
        f"schema id 3 of {REGISTRY} is THRIFT: Avro, JSON Schema and Protobuf are read",
    )


def test_a_json_schema_tells_keys_and_types_as_kafka_connects_schema_does() -> None:
    decimal = f"{CONNECT}Decimal"
    row = {
        "type": "object",
        "properties": {
            "pay": {
                "type": "number",
                "title": decimal,
                "connect.type": "bytes",
                "connect.index": 1,
                "connect.parameters": {"scale": "2", "connect.decimal.precision": "8"},
            },
            "id": {"type": "integer", "connect.type": "int32", "connect.index": 0},
            "born": {
                "connect.index": 2,
                "oneOf": [
                    {"type": "null"},
                    {"type": "integer", "title": f"{TIME}Date", "connect.type": "int32"},
                ],
            },
            "tags": {"type": "array", "connect.index": 3, "items": {"type": "string"}},
            "odd": {"connect.index": 4, "oneOf": [{"type": "string"}, {"type": "integer"}]},
            "flag": {"type": "boolean", "default": False},
            "none": 7,
        },
    }
    envelope = {
        "definitions": {"Row": row},
        "type": "object",
        "properties": {
            "before": {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/Row"}]},
            "after": {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/Row"}]},
        },
    }
    key = {"type": "object", "properties": {"id": {"type": "integer", "connect.type": "int32"}}}
    known = {
        "1": RegisteredSchema("JSON", json.dumps(key)),
        "2": RegisteredSchema("JSON", json.dumps(envelope)),
    }
    after = {
        "id": 1,
        "pay": 2.5,
        "born": 20_513,
        "tags": ["a"],
        "odd": 4,
        "flag": True,
        "none": None,
    }
    value = {**VALUE, "after": after}
    event = event_of(
        feed_with(known),
        b"\x00\x00\x00\x00\x02" + json.dumps(value).encode(),
        b"\x00\x00\x00\x00\x01" + b'{"id": 1}',
    )
    assert event.fault is None
    assert event.after == {
        "id": "1",
        "pay": "2.5",
        "born": "2026-03-01",
        "tags": '["a"]',
        "odd": "4",
        "flag": "true",
        "none": None,
    }
    assert event.stream_schema is not None
    assert event.stream_schema.key == ("id",)
    assert event.stream_schema.columns == (
        ("id", "int"),
        ("pay", "decimal(8,2)"),
        ("born", "date"),
        ("tags", "array<string>"),
        ("odd", "string"),
        ("flag", "boolean"),
        ("none", "string"),
    )


@pytest.mark.parametrize(
    "text", ["{", "7", '{"$ref": "#"}', '{"$ref": "#/a", "a": {"$ref": "#/a"}}', "{}"]
)
def test_a_json_schema_that_says_nothing_leaves_the_json_alone(text: str) -> None:
    feed = feed_with({"2": RegisteredSchema("JSON", text)})
    event = event_of(feed, b"\x00\x00\x00\x00\x02" + json.dumps(VALUE).encode())
    assert (event.fault, event.after, event.stream_schema) == (None, {"id": "1", "n": "rex"}, None)


def test_without_the_key_of_the_feed_file_the_fault_names_format_id_and_key() -> None:
    event = event_of(feed_with(None), wired(2, ROW, VALUE))
    assert event.fault is not None
    assert event.fault.reason == "no_schema"
    for word in ("wire format", "Avro", "schema id 2", "schemas: {registry: http://host:8081}"):
        assert word in event.fault.detail


def test_json_whose_schema_a_header_names_is_read_without_any_registry() -> None:
    headers: list[tuple[str, bytes | None]] = [("apicurio.value.globalId", bytes(7) + b"\x02")]
    event = event_of(feed_with(None), json.dumps(VALUE).encode(), b'{"id": 1}', headers)
    assert (event.fault, event.after) == (None, {"id": "1", "n": "rex"})


def test_an_id_that_the_registry_does_not_have_is_named_with_it() -> None:
    event = event_of(feed_with({"1": KNOWN["1"]}), wired(2, ROW, VALUE))
    assert event.fault is not None
    assert event.fault.reason == "no_schema"
    assert event.fault.detail.startswith(f"{REGISTRY} has no schema with the id 2")
    of_key = event_of(feed_with({"2": KNOWN["2"]}), wired(2, ROW, VALUE), wired(1, KEY, {"id": 1}))
    assert of_key.fault is not None
    assert "the id 1" in of_key.fault.detail


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (
            {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]},
            "contains itself",
        ),
        ({"type": "array", "items": "null"}, "no bytes"),
        (
            {"type": "record", "name": "N", "fields": [{"name": "a", "type": "int"}] * 2},
            "one twice",
        ),
        ({"type": "record", "name": "N"}, "no list of fields"),
        ({"type": "fixed", "name": "N"}, "no size"),
        ({"type": "enum", "name": "N", "symbols": None}, "symbols"),
        ({"type": "map"}, "null is no type"),
        ({"type": "what"}, "names the type what"),
        ([], "no types"),
        (7, "7 is no type"),
    ],
)
def test_a_schema_that_nothing_can_be_read_by_says_why(schema: object, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        AvroSchema(json.dumps(schema))
    fault = event_of(feed_with({"2": registered(schema)}), b"\x00\x00\x00\x00\x02abc").fault
    assert fault is not None
    assert fault.reason == "no_schema"


def test_schemas_that_are_no_json_or_nested_without_end_are_unusable() -> None:
    deep: object = "int"
    for _ in range(150):
        deep = {"type": "array", "items": deep}
    chain = [
        {"type": "record", "name": f"R{n}", "fields": [{"name": "a", "type": f"R{n + 1}"}]}
        for n in range(3_000)
    ]
    for text, references in (("{", ()), (json.dumps(chain[0]), tuple(map(json.dumps, chain[1:])))):
        with pytest.raises(Unusable):
            AvroSchema(text, references)
    assert AvroSchema(json.dumps(deep)).read(b"\x00")["payload"] == []


def test_hostile_bytes_are_a_fault_and_never_raise() -> None:
    draw = random.Random(7)
    every = {
        **{"type": "record", "name": "E"},
        "fields": [
            {"name": f"c{at}", "type": kind}
            for at, kind in enumerate(
                [
                    *(
                        "string",
                        ["null", "bytes"],
                        "float",
                        "double",
                        {"type": "map", "values": "string"},
                    ),
                    *({"type": "array", "items": "long"}, ["null", "int", "string"], FIXED),
                    *(logical("bytes", "decimal", precision=9, scale=2), logical("int", "date")),
                ]
            )
        ],
    }
    values = [
        "ab",
        b"1",
        1.0,
        2.0,
        {"k": "v"},
        [1, 2],
        3,
        b"1234",
        Decimal("1.25"),
        date(2026, 1, 1),
    ]
    good = written(every, {f"c{at}": value for at, value in enumerate(values)})
    schema = AvroSchema(json.dumps(every))
    assert schema.read(good)["payload"]["c8"] == "1.25"
    feed = feed_with({"1": registered(every), "2": registered(every)})
    for _ in range(3_000):
        body = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            body[draw.randrange(len(body))] = draw.randrange(256)
        hostile = (
            bytes(body[: draw.randrange(len(body) + 1)]) if draw.random() < 0.5 else bytes(body)
        )
        head = b"\x00\x00\x00\x00\x02"
        event_of(feed, head + hostile, b"\x00\x00\x00\x00\x01" + hostile)
    event = event_of(feed, b"\x00\x00\x00\x00\x02" + good + b"!")
    assert event.fault == (
        "malformed_avro",
        "the value, by schema id 2: 1 bytes are left behind the value",
    )
    with pytest.raises(MalformedJson):
        schema.read(good[:-1])


def test_onboarding_names_the_key_that_is_needed(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_bytes(
        dumped(value=base64.b64encode(wired(2, ROW, VALUE)).decode())["dump.jsonl"]
    )
    found = onboarded(str(tmp_path))
    assert found.feed.format == "debezium"
    assert "# schemas:\n#   registry: http://host:8081\n" in found.draft.text
    assert "`schemas: {registry: http://host:8081}`" in found.proposal.notes[0]
    (tmp_path / "dump.json").unlink()
    (tmp_path / "shop.public.pets+0+0000000000.avro").write_bytes(container("deflate", *VALUES))
    of_container = onboarded(str(tmp_path))
    assert of_container.gold()["pets"] != []


# Dumps.


def dumped(**fields: object) -> dict[str, bytes]:
    return {
        "dump.jsonl": json.dumps(
            {"topic": "shop.public.pets", "partition": 0, "offset": 3, **fields}
        ).encode()
    }


def test_a_dump_may_have_the_bytes_in_base64() -> None:
    value, key = (
        base64.b64encode(one).decode() for one in (wired(2, ROW, VALUE), wired(1, KEY, {"id": 1}))
    )
    feed = Feed("shop", "debezium", "/drops", schemas=Schemas(REGISTRY, KNOWN))
    ((_, event),) = decoded(feed, records_of(feed, dumped(key=key, value=value)))
    assert (event.fault, event.after) == (None, {"id": "1", "n": "rex"})
    assert event.stream_schema is not None


def test_avros_own_json_is_taken_out_of_its_unions() -> None:
    feed = Feed(
        "shop", "debezium", "/drops", tables={"pets": Table("pets", ("id",), {"id": "int"}, ())}
    )
    row = {
        "id": {"int": 1},
        "n": {"string": "rex"},
        "raw": {"bytes": "\u00ff"},
        "no": None,
        "tags": {"array": [{"int": 1}]},
    }
    message = {**VALUE, "after": {"shop.public.pets.Value": row}, "ts_ms": {"long": 5}}
    message["source"] = {**message["source"], "lsn": {"long": 9}, "snapshot": {"string": "false"}}
    ((_, event),) = decoded(feed, records_of(feed, {"a.json": json.dumps(message).encode()}))
    assert event.fault is None
    assert event.after == {"id": "1", "n": "rex", "raw": "/w==", "no": None, "tags": "[1]"}


# Container files.


def container(codec: str, *values: object, schema: object = ROW) -> bytes:
    if codec in ("snappy", "zstandard"):
        return packed(codec, *values)
    stream = io.BytesIO()
    fastavro.writer(
        stream,
        fastavro.parse_schema(json.loads(json.dumps(schema))),
        values,
        codec=codec,
        sync_interval=1,
    )
    return stream.getvalue()


def packed(codec: str, *values: object) -> bytes:
    """A container of one block, made by hand: fastavro needs packages of its own for some codecs."""
    body = b"".join(written(ROW, one) for one in values)
    block = pa.Codec({"zstandard": "zstd"}.get(codec, codec)).compress(body).to_pybytes()
    if codec == "snappy":
        block += zlib.crc32(body).to_bytes(4, "big")
    head = {"avro.schema": json.dumps(ROW).encode(), "avro.codec": codec.encode()}
    mark = b"a mark of 16 ...".ljust(16)
    parts = [b"Obj\x01", written({"type": "map", "values": "bytes"}, head), mark]
    return b"".join([*parts, written("long", len(values)), written("bytes", block), mark])


VALUES = [change("c", "pets", lsn, after={"id": lsn, "n": f"p{lsn}"}) for lsn in range(1, 6)]
FEED = Feed("shop", "debezium", "/drops")


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz", "snappy", "zstandard"])
def test_a_container_is_cut_into_records_that_can_be_read_alone(codec: str) -> None:
    drop = {"topics/pets/shop.public.pets+0+0000000040.avro": container(codec, *VALUES)}
    records = records_of(FEED, drop)
    assert [one.payload for one in records] == [written(ROW, one) for one in VALUES]
    assert [one.line for one in records] == [1, 2, 3, 4, 5]
    for record, value in zip(records, VALUES, strict=True):
        ((_, event),) = decoded(FEED, [record])
        assert event.fault is None
        assert event.after == {"id": str(value["after"]["id"]), "n": value["after"]["n"]}


@pytest.mark.parametrize(
    ("at", "byte"),
    [(-1, b""), (-1, b"\x00"), (-3, b""), (4, b"\x00"), (30, b"")],
)
def test_a_damaged_container_ends_in_a_record_with_a_defect(at: int, byte: bytes) -> None:
    data = container("null", *VALUES)
    broken = data[:at] + byte + (data[at + 1 :] if byte else b"")
    records = records_of(FEED, {"a.avro": broken})
    assert records
    assert records[-1].defect is not None
    assert records[-1].defect.startswith("damaged Avro container: ")
    assert all(one.defect is None for one in records[:-1])
    for _, event in decoded(FEED, records[-1:]):
        assert event.fault is not None
        assert event.fault.reason == "damaged_record"


def test_a_block_that_inflates_without_end_is_no_record() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "bytes"}]}
    data = container("deflate", {"a": bytes(1 << 20)}, schema=schema)
    small = Limits(largest_object=1 << 16, largest_record=1 << 10)
    (one,) = FORMATS["debezium"].split(data, FEED, "a.avro", small)
    assert one.defect is not None
    assert "larger together than an object may be" in one.defect
    (long,) = FORMATS["debezium"].split(data, FEED, "a.avro", Limits(largest_record=1 << 10))
    assert long.defect == Limits(largest_record=1 << 10).too_long
