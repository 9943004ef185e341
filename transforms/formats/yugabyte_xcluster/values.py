"""YugabyteDB's own values (QLValuePB) as JSON, in pairs with their columns' names.

Names and texts are bytes there, so that JSON has them as base64. Facts: yugabyte-db, src/yb/common/value.proto.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.formats._yugabyte import Shape, camel

PLAIN = (
    *("int8_value", "int16_value", "int32_value", "int64_value", "uint32_value", "uint64_value"),
    *("float_value", "double_value", "bool_value", "time_value"),
)
"""Numbers and flags: the text is the value."""

READ = (
    *PLAIN,
    *("string_value", "binary_value", "uuid_value", "timestamp_value", "date_value"),
)

UNREAD = (
    *("inetaddress_value", "map_value", "set_value", "list_value", "decimal_value"),
    *("varint_value", "frozen_value", "timeuuid_value", "jsonb_value", "virtual_value"),
    *("gin_null_value", "tuple_value"),
)
"""Values in the server's own encodings: not read, and not taken for null."""

PAIR: Shape = {
    "key": "string",
    "value": {"Value": "map<string,string>", **dict.fromkeys((*READ, *UNREAD), "string")},
}
"""KeyValuePairPB; ``Value`` is the name of a field of Go's struct."""

_DATE_OFFSET = 2_147_483_648
"""The day of 1970-01-01 (DateTime::DateFromString)."""


def pairs(listed: Column) -> Column:
    """The columns: ``name``, ``text``, ``kind`` (null for null), ``is_unread``, ``is_plain`` for what is no base64."""
    empty = F.array().cast(
        "array<struct<name:string,text:string,kind:string,is_unread:boolean,is_plain:boolean>>"
    )
    return F.coalesce(F.transform(listed, _pair), empty)


def _pair(pair: Column) -> Column:
    value = pair["value"]
    go_names = {camel(name)[0].upper() + camel(name)[1:]: name for name in (*READ, *UNREAD)}
    names = F.create_map(*[F.lit(part) for one in go_names.items() for part in one])
    member = F.try_element_at(F.map_entries(value["Value"]), F.lit(1))
    of_go = F.when(
        member.isNotNull(),
        F.struct(
            F.coalesce(F.try_element_at(names, member["key"]), member["key"]).alias("kind"),
            member["value"].alias("text"),
        ),
    )
    others = [
        F.when(
            value[name].isNotNull(), F.struct(F.lit(name).alias("kind"), value[name].alias("text"))
        )
        for name in (*READ, *UNREAD)
    ]
    found = F.coalesce(of_go, *others)
    is_text = found["kind"] == "string_value"
    plain = decoded(pair["key"]).isNull() | (is_text & decoded(found["text"]).isNull())
    return F.struct(
        F.coalesce(decoded(pair["key"]), pair["key"]).alias("name"),
        _text(found).alias("text"),
        found["kind"].alias("kind"),
        (found["kind"].isNotNull() & ~found["kind"].isin(*READ)).alias("is_unread"),
        F.coalesce(plain, F.lit(False)).alias("is_plain"),
    )


def decoded(base64: Column) -> Column:
    """The text whose bytes these are; null where it is no base64, or no text."""
    return F.try_validate_utf8(F.try_to_binary(base64, F.lit("base64")).cast("string"))


def _text(member: Column) -> Column:
    kind, text = member["kind"], member["text"]
    octets = F.lower(F.hex(F.try_to_binary(text, F.lit("base64"))))
    uuid = F.regexp_replace(octets, r"^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5")
    moment = F.timestamp_micros(text.try_cast("bigint")).cast("string")
    day = F.date_from_unix_date((text.try_cast("bigint") - _DATE_OFFSET).try_cast("int"))
    return (
        F.when(kind == "string_value", F.coalesce(decoded(text), text))
        .when(kind == "binary_value", F.coalesce(F.concat(F.lit("\\x"), octets), text))
        .when(kind == "uuid_value", F.coalesce(uuid, text))
        .when(kind == "timestamp_value", F.coalesce(moment, text))
        .when(kind == "date_value", F.coalesce(day.cast("string"), text))
        .otherwise(text)
    )


def image(columns: Column) -> Column:
    """Column to text."""
    return F.map_from_entries(
        F.transform(columns, lambda one: F.struct(one["name"], one["text"]))
    ).cast(TEXTS)
