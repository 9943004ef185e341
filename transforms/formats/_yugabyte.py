"""What YugabyteDB's two forms of change capture share: spellings of fields, tablets, hybrid times, bytes.

Both are protobuf messages written as JSON by a client. Go's own ``encoding/json`` writes ``row_message``, enums and
64-bit numbers as numbers, bytes as base64, a oneof as ``"Datum": {"DatumInt32": 1}``; protojson writes ``row_message``
or ``rowMessage``, enums by name, 64-bit numbers as texts, a oneof's member in its message. All scalars are read as
texts, so that both are one.

Facts: yugabyte-db, src/yb/cdc/cdc_service.proto and src/yb/common/value.proto; hybrid times are microseconds since 1970
shifted by 12 bits of a logical clock, unsigned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.spec import NO_FAULT, fault

Shape: TypeAlias = "str | Mapping[str, Shape] | Sequence[Shape]"
"""A field: a Spark type, a message with its fields, or a list of one of them."""

ADDED: Mapping[str, Shape] = dict.fromkeys(
    ("tablet", "tablet_id", "stream", "stream_id", "db_stream_id"), "string"
)
"""What no response has and a client may add."""

_TIME_SEGMENT = (
    r"^(?:\d{4}-\d{2}-\d{2}(?:T[\d:]+Z?)?|\d{4}|\d{2}|(?:dt|date|day|hour|hr|year|month)=.*)$"
)

_CORRUPT = "_corrupt_record"


def camel(name: str) -> str:
    """A field's name as protojson writes it by default."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)


def ddl(shape: Shape) -> str:
    """The Spark type of a field."""
    if isinstance(shape, str):
        return shape
    if isinstance(shape, Mapping):
        return f"struct<{_fields(shape)}>"
    return f"array<{ddl(shape[0])}>"


def _fields(shape: Mapping[str, Shape]) -> str:
    return ",".join(f"`{name}`:{ddl(kind)}" for name, kind in shape.items())


def _names(shape: Shape) -> set[str]:
    if isinstance(shape, str):
        return set()
    if isinstance(shape, Mapping):
        return set(shape).union(*map(_names, shape.values()))
    return _names(shape[0])


def read(text: Column, shape: Mapping[str, Shape]) -> Column:
    """The JSON text as a message, its fields under their protobuf names, whichever way they are spelled."""
    kind = f"struct<{_fields(shape)},`{_CORRUPT}`:string>"
    return F.from_json(in_one_spelling(text, shape), kind, {"columnNameOfCorruptRecord": _CORRUPT})


def in_one_spelling(text: Column, shape: Mapping[str, Shape]) -> Column:
    """The JSON text with protobuf's names for fields.

    Only names of fields are met: within a text a quote is escaped, and after a text's end there is no colon.
    """
    spellings = {camel(name): name for name in sorted(_names(shape)) if camel(name) != name}
    any_name = "|".join(spellings)
    replaced = text
    for spelling, name in spellings.items():
        replaced = F.regexp_replace(replaced, rf'(?<!\\)"{spelling}"(?=\s*:)', f'"{name}"')
    return F.when(text.rlike(rf'(?<!\\)"(?:{any_name})"\s*:'), replaced).otherwise(text)


def is_unreadable(message: Column) -> Column:
    """True where the text was no JSON object, or one of its fields has another shape."""
    return message.isNull() | message[_CORRUPT].isNotNull()


def record_fault(message: Column) -> Column:
    """Why a record's bytes are no such message, typed also where they are one."""
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(F.col("text").isNull(), fault("invalid_utf8", "the record is not valid UTF-8"))
        .when(
            is_unreadable(message),
            fault(
                "malformed_json", "no JSON object, or a field has another shape than its message"
            ),
        )
        .cast(NO_FAULT)
    )


def filled(text: Column) -> Column:
    """The text, or null where it is empty: what protobuf calls unset."""
    return F.when(text != "", text)


def transaction_id(told: Column) -> Column:
    """A transaction's id, as a uuid where it is one: JSON has it as base64, of a uuid's text or of its 16 bytes."""
    octets = F.try_to_binary(told, F.lit("base64"))
    text = F.try_validate_utf8(octets.cast("string"))
    of_bytes = F.regexp_replace(
        F.lower(F.hex(octets)), r"^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5"
    )
    return (
        F.when(told.rlike(_UUID), F.lower(told))
        .when(text.rlike(_UUID), F.lower(text))
        .when(F.octet_length(octets) == 16, of_bytes)
        .otherwise(filled(told))
    )


_UUID = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


def with_note(items: Column) -> Column:
    """What a response becomes: null for itself, and its items."""
    nothing = F.when(F.lit(False), F.get(items, F.lit(0)))
    return F.coalesce(F.concat(F.array(nothing), items), F.array(nothing))


def tablet(feed: Feed) -> Column:
    """The tablet that a ``response`` tells; else its object's ``tablet=`` segment, its folder's name, or the landing's.

    Folders that say a time, or the stream, name no tablet.
    """
    landing = feed.landing.rstrip("/").rpartition("/")[2]
    segments = F.split("object", "/")
    folders = F.slice(segments, F.lit(1), F.size(segments) - 1)
    named = F.filter(
        folders,
        lambda one: (one != "") & ~one.rlike(_TIME_SEGMENT) & ~one.startswith("stream="),
    )
    return F.coalesce(
        _first_told("tablet_id", "tablet"),
        segment("tablet"),
        F.try_element_at(named, F.lit(-1)),
        F.lit(landing),
    )


def stream() -> Column:
    """The stream that a ``response`` tells, or its object's ``stream=`` segment; null where nothing does."""
    return F.coalesce(_first_told("stream_id", "db_stream_id", "stream"), segment("stream"))


def _first_told(*names: str) -> Column:
    return F.coalesce(*[filled(F.col(f"response.{name}")) for name in names])


def segment(name: str) -> Column:
    """What a segment of the object's path says."""
    return filled(F.regexp_extract("object", rf"(?:^|/){name}=([^/]+)/", 1))


def unsigned(text: Column) -> Column:
    """An unsigned 64-bit number as a decimal, so that those above 2^63 compare as they should."""
    number = text.try_cast("decimal(20,0)")
    return F.when(number >= 0, number)


def instant(hybrid: Column) -> list[Column]:
    """A hybrid time as two numbers that order as it does: microseconds since 1970, and the logical clock."""
    number = unsigned(hybrid)
    return [
        F.floor(number / 4096).cast("bigint"),
        (number - F.floor(number / 4096).cast("decimal(20,0)") * 4096).cast("bigint"),
    ]


def moment(hybrid: Column) -> Column:
    """When a hybrid time is, in UTC; null beyond the year 9999."""
    micros = instant(hybrid)[0]
    return F.when(micros <= 253_402_300_799_999_999, F.timestamp_micros(micros))
