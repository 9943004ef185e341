"""Each type of Connect: the text that its values become, and the Spark type that reads it."""

from __future__ import annotations

import base64

import pytest

from transforms.column_types import numbers
from transforms.column_types.numbers import LONGEST, TooLong
from transforms.families.connect import schemas
from transforms.families.connect.values import bytes_of, reader_of
from transforms.json_values import Number, as_text, read

CONNECT, TIME, DATA = schemas.CONNECT, schemas.TIME, "io.debezium.data."


def column(kind: str, name: str | None = None, **parameters: str) -> schemas.Column:
    said = {"field": "c", "type": kind, "name": name, "parameters": parameters}
    return schemas.columns_of([said])[0]


def value(
    given: object, column: schemas.Column | None, declared: str | None = None, **texts: bool
) -> object:
    reader = reader_of(
        column, declared, decimals_may_be_plain=texts.get("decimals_may_be_plain", False)
    )
    return as_text(given) if reader is None else reader(given)


@pytest.mark.parametrize(
    ("kind", "name", "given", "text"),
    [
        ("int32", f"{CONNECT}Date", 18_460, "2020-07-17"),
        ("int32", f"{TIME}Date", -1, "1969-12-31"),
        ("int32", f"{TIME}Date", "18460", "2020-07-17"),
        ("int32", f"{TIME}Date", -719_162, "0001-01-01"),
        ("int32", f"{TIME}Date", -719_163, "-719163"),
        ("int32", f"{TIME}Date", 2_932_897, "2932897"),
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
        ("int64", f"{TIME}MicroTimestamp", -62_135_596_800_000_001, "-62135596800000001"),
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
    ("kind", "name", "given", "declared", "text"),
    [
        ("int64", f"{TIME}MicroTimestamp", 7, "bigint", "7"),
        ("int32", f"{TIME}Date", 7, "decimal(10,0)", "7"),
        ("int32", f"{TIME}Date", 7, "string", "1970-01-08"),
        ("bytes", None, "aGVsbG8=", "string", "aGVsbG8="),
        ("bytes", None, "aGVsbG8=", "binary", b"hello"),
        ("string", None, "aGVsbG8=", "binary", "aGVsbG8="),
        ("int32", None, 7, "date", "7"),
        (None, None, 7, "date", "1970-01-08"),
        (None, None, "2020-07-17", "date", "2020-07-17"),
        (None, None, "aGVsbG8=", "binary", b"hello"),
        (None, None, 7, "binary", "7"),
        (None, None, 7, "timestamp", "7"),
        (None, None, 7, None, "7"),
    ],
)
def test_the_declared_type_decides_what_the_schema_does_not(
    kind: str | None, name: str | None, given: object, declared: str | None, text: object
) -> None:
    assert value(given, column(kind, name) if kind else None, declared) == text


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
    ("kind", "name", "parameters", "given"),
    [
        ("bytes", schemas.DECIMAL, {}, "AA=="),
        ("bytes", schemas.DECIMAL, {"scale": "x"}, "AA=="),
        ("bytes", schemas.DECIMAL, {"scale": "1001"}, "AA=="),
        ("bytes", schemas.DECIMAL, {"scale": "2"}, "no base64"),
        ("struct", schemas.VARIABLE_DECIMAL, {}, {"value": "AA=="}),
        ("struct", schemas.VARIABLE_DECIMAL, {}, {"scale": 1}),
        ("struct", schemas.VARIABLE_DECIMAL, {}, {"scale": 1, "value": 7}),
        ("struct", schemas.VARIABLE_DECIMAL, {}, "AA=="),
    ],
)
def test_a_decimal_that_cannot_be_read_stays_as_it_is(
    kind: str, name: str, parameters: dict[str, str], given: object
) -> None:
    assert value(given, column(kind, name, **parameters)) == as_text(given)


def test_a_number_of_thousands_of_digits_is_refused_and_costs_nothing() -> None:
    longest = numbers.decimal_text(b"\x7f" * LONGEST, 0)
    assert longest is not None
    assert len(longest) == 1_000
    with pytest.raises(TooLong, match=r"a number of 100,000 bytes"):
        numbers.decimal_text(b"\x7f" * 100_000, 0)


def test_base64_may_lack_its_padding_and_have_line_breaks() -> None:
    texts = ("aGVsbG8=", "aGVsbG8", "aGVs\r\nbG8=", "", "a===", "aGVsbG8==", "aGVs bG8=", "ä")
    assert [bytes_of(text) for text in texts] == [*[b"hello"] * 3, b"", *[None] * 4]


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
            "string",
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
    assert schemas.spark_type(schemas.columns_of([read(said)])[0]) == spark


def test_columns_have_names_of_their_own() -> None:
    named = schemas.columns_by_name(schemas.columns_of([{"field": "a"}, {"field": "b"}]))
    assert named is not None
    assert list(named) == ["a", "b"]
    for fields in ([{"field": "a"}, {"field": "a"}], [{"field": "a"}, {}], [{"field": 7}], ["a"]):
        assert schemas.columns_by_name(schemas.columns_of(fields)) is None


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (
            '{"fields": [{"field": "before", "fields": [1]}, {"field": "after", "fields": [2]}]}',
            [1],
        ),
        ('{"fields": [{"field": "before"}, 7, {"field": "after", "fields": [2]}]}', [2]),
        *[
            (schema, None)
            for schema in (
                "null",
                "7",
                "{}",
                '{"fields": 7}',
                '{"fields": [{"field": "op", "fields": []}]}',
            )
        ],
    ],
)
def test_the_images_share_one_schema(schema: str, fields: list[int] | None) -> None:
    assert schemas.row_fields(read(schema)) == fields
