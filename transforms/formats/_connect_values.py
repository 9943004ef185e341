"""Kafka Connect's types, and the values that its JSON converter writes: what they are in Spark, and as texts.

Facts: Kafka Connect's JsonConverter (bytes are base64, struct and array stay JSON); Debezium's documentation, "Data
type mappings" (what the logical names of ``io.debezium`` count, and from when). Not here: envelopes (``_connect``).
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.formats._connect_decimals import unscaled
from transforms.gold.ordering import let

ITEM = "type: string, name: string, parameters: map<string,string>"
COLUMN = f"field: string, {ITEM}, items: struct<{ITEM}>"
"""What a Connect schema says of one column; ``name`` is the logical type."""

_CONNECT, _TIME, _DATA = (
    "org.apache.kafka.connect.data.",
    "io.debezium.time.",
    "io.debezium.data.",
)
_DECIMAL = f"{_CONNECT}Decimal"
_VARIABLE = f"{_DATA}VariableScaleDecimal"
_DATES = (f"{_CONNECT}Date", f"{_TIME}Date")
_PER_SECOND = {
    f"{_CONNECT}Time": 1_000,
    f"{_TIME}Time": 1_000,
    f"{_TIME}MicroTime": 1_000_000,
    f"{_TIME}NanoTime": 1_000_000_000,
}
"""Times of day: what they count since midnight."""
_MOMENTS = {
    f"{_CONNECT}Timestamp": 1_000,
    f"{_TIME}Timestamp": 1_000,
    f"{_TIME}MicroTimestamp": 1_000_000,
    f"{_TIME}NanoTimestamp": 1_000_000_000,
}
"""Times without a zone: what they count since 1970."""
_SPARK = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float32": "float",
    "float": "float",
    "float64": "double",
    "double": "double",
    "boolean": "boolean",
    "bytes": "binary",
}
_NAMED = {
    **dict.fromkeys(_DATES, "date"),
    f"{_TIME}IsoDate": "date",
    **dict.fromkeys(_PER_SECOND, "string"),
    # A timestamp holds no nanoseconds.
    **{name: "timestamp_ntz" if per < 10**9 else "string" for name, per in _MOMENTS.items()},
    f"{_TIME}IsoTimestamp": "timestamp_ntz",
    f"{_TIME}ZonedTimestamp": "timestamp",
    _VARIABLE: "string",
}

_NUMERIC = "^(?:tinyint|smallint|int|bigint|float|double|decimal)"
_NUMBER = r"^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$"

UNAVAILABLE = "__debezium_unavailable_value"
# The same as bytes, and as a UUID.
_UNAVAILABLE_BYTES = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
_UNAVAILABLE_UUID = "b68a35a7-17ad-35b3-af2a-ae46edb4545a"


def spark_type(column: Column) -> Column:
    """The Spark SQL type of a column, whose text ``decoded`` gives."""
    of_array = F.concat(F.lit("array<"), _simple_type(column["items"]), F.lit(">"))
    return F.when(
        (column["type"] == "array") & column["items"]["name"].isNull(), of_array
    ).otherwise(_simple_type(column))


def _simple_type(column: Column) -> Column:
    scale = F.try_element_at(column["parameters"], F.lit("scale")).try_cast("int")
    digits = F.try_element_at(column["parameters"], F.lit("connect.decimal.precision"))
    precision = F.coalesce(digits.try_cast("int"), F.lit(38))
    decimal = F.when(
        scale.between(0, 38) & precision.between(1, 38) & (scale <= precision),
        F.format_string("decimal(%d,%d)", precision, scale),
    )
    return F.coalesce(
        F.when(column["name"] == _DECIMAL, F.coalesce(decimal, F.lit("string"))),
        F.try_element_at(_literal(_NAMED), column["name"]),
        F.try_element_at(_literal(_SPARK), column["type"]),
        F.lit("string"),
    )


def _literal(names: dict[str, str]) -> Column:
    return F.create_map(*[F.lit(part) for pair in names.items() for part in pair])


def decoded(
    text: Column, variant: Column, column: Column, declared: Column, numbers_are_texts: bool
) -> Column:
    """The text that the column's declared type reads, from the JSON value's text, whatever the value is.

    ``variant``: the same value with its JSON type. ``column``: what the schema says of it, null where none does.
    ``declared``: the type that the feed gives it, null where it gives none; where that is a number's, a count of days
    or seconds stays one. ``numbers_are_texts``: a text that reads as a number is one, and not bytes. What cannot be
    read stays as it is written.
    """
    name, number = column["name"], text.try_cast("bigint")
    is_count = F.coalesce(declared.rlike(_NUMERIC), F.lit(False)) & number.isNotNull()
    is_text = F.schema_of_variant(variant) == "STRING"
    is_binary = (column["type"] == "bytes") & (F.coalesce(declared, F.lit("binary")) == "binary")
    return F.coalesce(
        F.when(is_count & name.isin(*_DATES, *_PER_SECOND, *_MOMENTS), text)
        .when(name.isin(*_DATES), day(number))
        .when(name == _DECIMAL, _decimal(text, is_text, column["parameters"], numbers_are_texts))
        .when(name == _VARIABLE, _variable_decimal(text))
        .when(name.isin(f"{_TIME}IsoDate", f"{_TIME}IsoTimestamp"), F.rtrim(text, F.lit("Z")))
        .when(name.isin(*_PER_SECOND), _by_unit(name, number, _PER_SECOND, clock))
        .when(name.isin(*_MOMENTS), _by_unit(name, number, _MOMENTS, moment))
        # Without a schema only the declared type can say what a number or a text is.
        .when(column.isNull() & (declared == "date"), day(number))
        .when(is_binary & is_text, F.try_to_binary(text, F.lit("base64")).cast("string"))
        .when(
            column.isNull() & is_text & (declared == "binary"),
            F.try_to_binary(text, F.lit("base64")).cast("string"),
        )
        .when(text.substr(1, 1).isin("[", "{") & ~is_text, variant.try_cast("string")),
        text,
    )


def is_unavailable(text: Column) -> Column:
    """True for Debezium's stand-in for a value that was not sent, in the column's type.

    That is a text, bytes, a list of one of these or of a UUID, a list of the signs' numbers, or an object.
    """
    one = "|".join((UNAVAILABLE, _UNAVAILABLE_BYTES, _UNAVAILABLE_UUID))
    # Numbers are in quotes where one of the message is no whole number.
    signs = r"\s*,\s*".join(rf'"?{ord(sign)}(?:\.0)?"?' for sign in UNAVAILABLE)
    listed = rf'\[\s*(?:"(?:{one})"|{signs})\s*\]'
    named = rf'\{{\s*"{UNAVAILABLE}"\s*:\s*"{UNAVAILABLE}"\s*\}}'
    alone = f"{UNAVAILABLE}|{_UNAVAILABLE_BYTES}"
    return F.coalesce(text.rlike(rf"^(?:{alone}|{listed}|{named})$"), F.lit(False))


def _by_unit(
    name: Column, number: Column, units: dict[str, int], reading: Callable[[Column, int], Column]
) -> Column:
    return F.coalesce(
        *[F.when(name == unit, reading(number, per_second)) for unit, per_second in units.items()]
    )


def day(number: Column) -> Column:
    """Days since 1970 as a date; null outside the years 1 to 9999."""
    in_range = number.between(-719_162, 2_932_896)
    return F.when(in_range, F.date_add(F.lit("1970-01-01").cast("date"), number.cast("int"))).cast(
        "string"
    )


def moment(number: Column, per_second: int) -> Column:
    """A count since 1970 as a timestamp without zone; null outside the years 1 to 9999."""
    seconds = _whole(number, per_second)
    in_range = seconds.between(-62_135_596_800, 253_402_300_799)
    whole = F.timestamp_seconds(F.when(in_range, seconds))
    return F.concat(
        F.date_format(whole, "yyyy-MM-dd HH:mm:ss"),
        _fraction(F.pmod(number, F.lit(per_second)), per_second),
    )


def clock(number: Column, per_second: int) -> Column:
    """A count since midnight as hours, minutes and seconds; MySQL's may be negative, and more than a day."""
    # Within half of 64 bits, so that nothing overflows: no time of day is near it.
    size = F.when(number.between(-(1 << 62), 1 << 62), F.abs(number))
    seconds = _whole(size, per_second)
    return F.concat(
        F.when(number < 0, "-").otherwise(""),
        F.format_string(
            "%02d:%02d:%02d",
            _whole(seconds, 3600),
            F.pmod(_whole(seconds, 60), F.lit(60)),
            F.pmod(seconds, F.lit(60)),
        ),
        _fraction(F.pmod(size, F.lit(per_second)), per_second),
    )


def _whole(number: Column, by: int) -> Column:
    """Integer division that rounds down, exact for 64 bits."""
    return F.call_function("div", F.try_subtract(number, F.pmod(number, F.lit(by))), F.lit(by))


def _fraction(rest: Column, per_second: int) -> Column:
    digits = F.rtrim(F.lpad(rest.cast("string"), len(str(per_second)) - 1, "0"), F.lit("0"))
    return F.when(digits == "", "").otherwise(F.concat(F.lit("."), digits))


def _decimal(text: Column, is_text: Column, parameters: Column, numbers_are_texts: bool) -> Column:
    """A decimal as its exact text: a JSON number, a number in a text, or the unscaled number's bytes in base64."""
    scale = F.try_element_at(parameters, F.lit("scale")).try_cast("int")
    is_number = text.rlike(_NUMBER)
    if not numbers_are_texts:
        # Base64 of bytes has neither signs nor a point, and a length that four divides.
        is_number &= text.rlike("[.-]") | (F.char_length(text) % 4 != 0)
    return F.when(is_text & ~is_number, unscaled(text, scale))


def _variable_decimal(text: Column) -> Column:
    # Its scale may be a number in a text, as all numbers of the message are where one of them is no whole one.
    parts = F.from_json(text, "scale string, value string")
    return let(parts, lambda read: unscaled(read["value"], read["scale"].try_cast("int")))
