"""Messages of Kafka Connect: documents with their schemas, placeholders, and the values of each type."""

from __future__ import annotations

import base64

import pytest

from transforms import json_values
from transforms.event import Event
from transforms.families.connect import envelopes, schemas
from transforms.families.connect.envelopes import DocumentReader
from transforms.families.connect.values import HowRead, reader_of
from transforms.feed.feed import Feed
from transforms.formats.debezium import FORMAT
from transforms.json_values import MalformedJson, Number, as_text, read
from transforms.record import BronzeRecord

WRAPPED = '{"schema":{"a":[1.50,"ä"]},"payload":{"b":2.50}}'


@pytest.mark.parametrize(
    "text",
    [
        WRAPPED,
        '{"schema":null,"payload":null}',
        '{"schema":{"a":1}, "payload":{"b":2}}',
        '{"schema":{"a":1},"payload":{"b":2}} ',
        '{"schema":{"a":1}}',
        '{"schema":{"a":1},"payload":{"b":2},"op":"c"}',
        '{"schema":{"a":1},"payloae":{"b":2}}',
        '{"payload":{"b":2},"schema":{"a":1}}',
        '{"op":"c"}',
        "[1]",
    ],
)
def test_a_document_is_what_json_says(text: str) -> None:
    reader = DocumentReader()
    for _ in range(2):
        assert reader.read(text) == json_values.read(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"schema":{"a":1,"a":2},"payload":{}}',
        '{"schema":{},"payload":{"b":1,"b":2}}',
        '{"schema":{},"schema":{},"payload":{}}',
        '{"schema":{},"payload":{},"payload":{}}',
        '{"schema":{},"payload":"\\ud800"}',
        '{"schema":{},"payload":{}',
        '{"schema":{},"payload":}',
        '{"schema":' + "[" * 5_000 + "]" * 5_000 + ',"payload":{}}',
        '{"schema":{},"payload":NaN}',
    ],
)
def test_what_cannot_be_trusted_is_malformed_each_time(text: str) -> None:
    reader = DocumentReader()
    for _ in range(2):
        with pytest.raises(MalformedJson):
            reader.read(text)


def test_schemas_without_end_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelopes, "_ROOM", 10 << 10)
    reader = DocumentReader()
    for _ in range(2):
        seen = [reader.read(f'{{"schema":{{"a":{at}}},"payload":{{}}}}') for at in range(15)]
        assert [one["schema"]["a"] for one in seen] == list(range(15))
    assert reader.read('{"schema":{"a":14},"payload":{}}')["schema"] is seen[14]["schema"]
    again = reader.read('{"schema":{"a":0},"payload":{}}')["schema"]
    assert again == seen[0]["schema"]
    assert again is not seen[0]["schema"]


def decoded(feed: Feed, table: str, after: str, schema: str = "null") -> Event:
    source = f'{{"connector": "postgresql", "schema": "s", "table": "{table}", "lsn": 7}}'
    body = f'{{"op": "u", "before": null, "after": {after}, "source": {source}}}'
    text = body if schema == "null" else f'{{"schema": {schema}, "payload": {body}}}'
    record = BronzeRecord("w", "a.json", "g", 1, 0, None, text.encode(), None, 0, None)
    (event,) = FORMAT.decoder(feed, {})(record)
    assert isinstance(event, Event)
    return event


@pytest.mark.parametrize(
    ("items", "values"),
    [
        # Decimal.toLogical of each byte: its number is the unscaled one. Before that, each was a whole number.
        ('"type": "bytes", "name": "%s", "parameters": {"scale": "2"}', '["Zw==", "bw=="]'),
        ('"type": "bytes", "name": "%s", "parameters": {"scale": "2"}', '["KDw=", "K1w="]'),
    ],
)
def test_a_list_of_decimals_has_a_number_for_each_byte(items: str, values: str) -> None:
    feed = Feed("shop", "debezium", "/drops", unavailable_value=("go",))
    named = items % "org.apache.kafka.connect.data.Decimal"
    column = f'{{"field": "list", "type": "array", "items": {{{named}}}}}'
    sides = ",".join(
        f'{{"field": "{side}", "type": "struct", "fields": [{column}]}}'
        for side in ("before", "after")
    )
    schema = f'{{"type": "struct", "name": "E", "fields": [{sides}]}}'
    event = decoded(feed, "city", f'{{"list": {values}}}', schema)
    assert event.after == {}
    assert event.effect == "update"
    other = decoded(feed, "city", '{"list": ["Zw==", "Zw=="]}', schema)
    assert other.after == {"list": "[1.03,1.03]"}


CONNECT, TIME, DATA = schemas.CONNECT, schemas.TIME, "io.debezium.data."


def column(kind: str, name: str | None = None, **parameters: str) -> schemas.Kind:
    said = {"field": "c", "type": kind, "name": name, "parameters": parameters}
    return schemas.columns_of([said])[0].kind


def value(
    given: object, kind: schemas.Kind | None, declared: str | None = None, **texts: bool
) -> object:
    of_feed = {} if declared is None else {"c": declared}
    reader = reader_of("c", kind, HowRead(of_feed, texts.get("decimals_may_be_plain", False)))
    return as_text(given) if reader is None else reader(given)


@pytest.mark.parametrize(
    ("kind", "name", "given", "text"),
    [
        ("int32", f"{CONNECT}Date", 18_460, "2020-07-17"),
        ("int32", f"{TIME}Date", -1, "1969-12-31"),
        ("int32", f"{TIME}Date", "18460", "2020-07-17"),
        ("int32", f"{TIME}Date", -719_162, "0001-01-01"),
        ("int32", f"{TIME}Date", -719_163, "+0000-12-31"),
        ("int32", f"{TIME}Date", 2_932_897, "+10000-01-01"),
        ("int32", f"{TIME}Date", "2020-07-17", "2020-07-17"),
        ("string", f"{TIME}IsoDate", "2020-07-17Z", "2020-07-17"),
        ("int32", f"{CONNECT}Time", 64_822_123, "18:00:22.123"),
        ("int32", f"{TIME}Time", -3_600_001, "-01:00:00.001"),
        ("int64", f"{TIME}MicroTime", 838 * 3_600 * 10**6 + 1, "838:00:00.000001"),
        ("int64", f"{TIME}NanoTime", 1, "00:00:00.000000001"),
        ("int64", f"{TIME}NanoTime", "noon", "noon"),
        ("int64", f"{CONNECT}Timestamp", -1, "1969-12-31 23:59:59.999"),
        ("int64", f"{TIME}Timestamp", 1_595_008_822_000, "2020-07-17 18:00:22"),
        ("int64", f"{TIME}MicroTimestamp", 1_595_008_822_123_450, "2020-07-17 18:00:22.12345"),
        ("int64", f"{TIME}MicroTimestamp", -62_135_596_800_000_000, "0001-01-01 00:00:00"),
        ("int64", f"{TIME}MicroTimestamp", -62_135_596_800_000_001, "+0000-12-31 23:59:59.999999"),
        ("int64", f"{TIME}NanoTimestamp", (1 << 63) - 1, "2262-04-11 23:47:16.854775807"),
        ("int64", f"{TIME}NanoTimestamp", -(1 << 63), "1677-09-21 00:12:43.145224192"),
        # What 64 bits do not hold is no count.
        ("int64", f"{TIME}NanoTimestamp", 1 << 63, "9223372036854775808"),
        ("int64", f"{TIME}Timestamp", Number("1.5"), "1.5"),
        ("string", f"{TIME}IsoTimestamp", "2020-07-17T18:00:22Z", "2020-07-17T18:00:22"),
        ("string", f"{TIME}ZonedTimestamp", "2020-07-17T18:00:22Z", "2020-07-17T18:00:22Z"),
        ("bytes", None, "aGVsbG8=", b"hello"),
        ("bytes", f"{DATA}Bits", "AQ==", b"\x01"),
        ("bytes", None, "no base64!", "no base64!"),
        ("bytes", None, {"a": 1}, '{"a":1}'),
        ("string", None, "aGVsbG8=", "aGVsbG8="),
        ("string", f"{DATA}Json", '{"k": 1.50}', '{"k": 1.50}'),
        ("boolean", None, True, "true"),
        ("double", None, Number("3.140000104904175"), "3.140000104904175"),
        (
            "struct",
            f"{DATA}geometry.Point",
            {"x": Number("1.0"), "wkb": "AQ=="},
            '{"x":1.0,"wkb":"AQ=="}',
        ),
        ("array", None, [1, None, 3], "[1,null,3]"),
        ("map", None, {"a": "b"}, '{"a":"b"}'),
    ],
)
def test_a_value_is_read_by_its_type(
    kind: str, name: str | None, given: object, text: object
) -> None:
    assert value(given, column(kind, name)) == text


@pytest.mark.parametrize(
    ("number", "scale"),
    [(57_005, 2), (-1, 2), (0, 2), (123, 0), (-123, -2), (0, -2), (10**40, 5), (-(10**38) + 1, 0)],
)
def test_a_decimal_is_its_unscaled_bytes(number: int, scale: int) -> None:
    raw = number.to_bytes(20, "big", signed=True)
    text = f"{abs(number):0{max(scale, 0) + 1}}"
    text = f"{text[:-scale]}.{text[-scale:]}" if scale > 0 else text + "0" * -scale * bool(number)
    written = base64.b64encode(raw).decode()
    assert value(written, column("bytes", schemas.DECIMAL, scale=str(scale))) == (
        "-" * (number < 0) + text
    )
    variable = {"scale": scale, "value": written}
    assert value(variable, column("struct", schemas.VARIABLE_DECIMAL)) == "-" * (number < 0) + text


@pytest.mark.parametrize(
    ("given", "read_as_bytes", "read_as_number"),
    [
        (Number("3.10"), "3.10", "3.10"),
        (346, "346", "346"),
        ("1.25", "1.25", "1.25"),
        ("-100", "-100", "-100"),
        ("123", "123", "123"),
        # Three bytes in base64, or a number of four digits: only the format knows.
        ("1234", "-26588.24", "1234"),
        ("EtaH", "12345.67", "12345.67"),
        ("", "", ""),
    ],
)
def test_a_text_of_digits_is_a_number_where_the_format_says_so(
    given: object, read_as_bytes: str, read_as_number: str
) -> None:
    decimal = column("bytes", schemas.DECIMAL, scale="2")
    assert value(given, decimal) == read_as_bytes
    assert value(given, decimal, decimals_may_be_plain=True) == read_as_number


@pytest.mark.parametrize(
    ("said", "spark"),
    [
        ('{"type": "int8"}', "tinyint"),
        ('{"type": "int16"}', "smallint"),
        ('{"type": "int32"}', "int"),
        ('{"type": "int64"}', "bigint"),
        ('{"type": "float"}', "float"),
        ('{"type": "float64"}', "double"),
        ('{"type": "boolean"}', "boolean"),
        ('{"type": "bytes"}', "binary"),
        ('{"type": "string"}', "string"),
        ('{"type": "struct"}', "string"),
        ('{"type": "map"}', "string"),
        ('{"type": "array", "items": {"type": "int32"}}', "array<int>"),
        (
            '{"type": "array", "items": {"type": "int32", "name": "io.debezium.time.Date"}}',
            "array<date>",
        ),
        ('{"type": "array"}', "array<string>"),
        (f'{{"type": "int32", "name": "{CONNECT}Date"}}', "date"),
        (f'{{"type": "int64", "name": "{TIME}MicroTimestamp"}}', "timestamp_ntz"),
        (f'{{"type": "int64", "name": "{TIME}NanoTimestamp"}}', "string"),
        (f'{{"type": "int64", "name": "{TIME}MicroTime"}}', "string"),
        (f'{{"type": "string", "name": "{TIME}ZonedTimestamp"}}', "timestamp"),
        (f'{{"type": "int32", "name": "{TIME}Year"}}', "int"),
        (f'{{"type": "bytes", "name": "{DATA}Bits"}}', "binary"),
        (
            f'{{"type": "bytes", "name": "{CONNECT}Decimal", "parameters": {{"scale": "2"}}}}',
            "decimal(38,2)",
        ),
        (
            f'{{"type": "bytes", "name": "{CONNECT}Decimal",'
            ' "parameters": {"scale": "2", "connect.decimal.precision": "12"}}',
            "decimal(12,2)",
        ),
        (
            f'{{"type": "bytes", "name": "{CONNECT}Decimal",'
            ' "parameters": {"scale": "2", "connect.decimal.precision": "65"}}',
            "string",
        ),
        (
            f'{{"type": "bytes", "name": "{CONNECT}Decimal", "parameters": {{"scale": "-2"}}}}',
            "string",
        ),
        (f'{{"type": "bytes", "name": "{CONNECT}Decimal"}}', "string"),
        (f'{{"type": "struct", "name": "{DATA}VariableScaleDecimal"}}', "string"),
        *[
            (said, "string")
            for said in ("{}", "7", "null", '{"type": 7, "name": [], "parameters": 1}')
        ],
    ],
)
def test_every_type_has_a_spark_type(said: str, spark: str) -> None:
    assert schemas.spark_type(schemas.columns_of([read(said)])[0].kind) == spark
