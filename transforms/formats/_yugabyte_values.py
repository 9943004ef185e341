"""The server's own values (QLValuePB) as JSON: those of xCluster's records, and YCQL's in the CDC SDK.

Texts are bytes there, so that JSON has them as base64. Collections become JSON, as columns of such types are declared.
Facts: yugabyte-db, src/yb/common/value.proto.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.formats._yugabyte import Shape, camel, ddl
from transforms.gold.ordering import let

PLAIN = (
    *("int8_value", "int16_value", "int32_value", "int64_value", "uint32_value", "uint64_value"),
    *("float_value", "double_value", "bool_value", "time_value"),
)
"""Numbers and flags: the text is the value."""

SINGLE = (
    *PLAIN,
    *("string_value", "binary_value", "uuid_value", "timeuuid_value", "inetaddress_value"),
    *("timestamp_value", "date_value"),
)

SEQUENCES = ("list_value", "set_value", "tuple_value", "frozen_value")

READ = (*SINGLE, *SEQUENCES, "map_value")

UNREAD = (*("decimal_value", "varint_value", "jsonb_value", "virtual_value", "gin_null_value"),)
"""Values in the server's own encodings: not read, and not taken for null."""

VALUE: Shape = {"Value": "map<string,string>", **dict.fromkeys((*READ, *UNREAD), "string")}
"""QLValuePB; ``Value`` is the name of a field of Go's struct."""

COLLECTION: dict[str, Shape] = {"elems": [VALUE], "keys": [VALUE], "values": [VALUE]}
"""QLSeqValuePB or QLMapValuePB. Spellings within are those of ``read``: its names have to be known there."""

_DATE_OFFSET = 2_147_483_648
"""The day of 1970-01-01 (DateTime::DateFromString)."""

_INSIDE = "collection_of_collections"


def read(value: Column) -> Column:
    """``kind`` (null for null), ``text``, ``is_unread``, and ``is_plain`` for texts that are no base64."""
    return let(_member(value), _read)


def read_single(value: Column) -> Column:
    """``kind`` (null for null) and ``text`` of a value that is no collection: those keep their kind, and JSON."""
    return let(
        _member(value), lambda one: F.struct(one["kind"].alias("kind"), _text(one).alias("text"))
    )


def _read(member: Column) -> Column:
    kind, text = member["kind"], member["text"]
    is_whole = kind.isin(*SEQUENCES, "map_value")
    parts = F.from_json(F.when(is_whole, text), ddl(COLLECTION))
    return let(F.struct(kind.alias("kind"), text.alias("text"), parts.alias("parts")), _with_parts)


def _with_parts(member: Column) -> Column:
    kind, parts = member["kind"], member["parts"]
    no_parts = F.array().cast("array<struct<json:string,unread:string>>")

    def json_of(name: str) -> Column:
        return F.coalesce(F.transform(parts[name], lambda one: let(_member(one), _json)), no_parts)

    def collected(of: Column) -> Column:
        entries = F.zip_with(
            of["keys"],
            of["values"],
            lambda key, value: F.concat(_as_name(key["json"]), F.lit(":"), value["json"]),
        )
        listed = F.transform(of["elems"], lambda one: one["json"])
        unread = F.filter(
            F.concat(of["elems"], of["keys"], of["values"]), lambda one: one["unread"].isNotNull()
        )
        return F.struct(
            F.coalesce(F.get(unread, F.lit(0))["unread"], kind).alias("kind"),
            F.when(
                kind == "map_value", F.concat(F.lit("{"), F.array_join(entries, ","), F.lit("}"))
            )
            .when(
                kind.isin(*SEQUENCES),
                F.concat(F.lit("["), F.array_join(listed, ","), F.lit("]")),
            )
            .otherwise(_text(member))
            .alias("text"),
        )

    whole = F.struct(*[json_of(name).alias(name) for name in COLLECTION])
    done = let(whole, collected)
    is_text = kind == "string_value"
    return F.struct(
        done["kind"].alias("kind"),
        done["text"].alias("text"),
        (done["kind"].isNotNull() & ~done["kind"].isin(*READ)).alias("is_unread"),
        F.coalesce(is_text & decoded(member["text"]).isNull(), F.lit(False)).alias("is_plain"),
    )


def _member(value: Column) -> Column:
    """The member of the oneof that is set, by protobuf's name, and its JSON text."""
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
    return F.coalesce(of_go, *others)


def _json(member: Column) -> Column:
    """An element of a collection as JSON; ``unread`` names a kind that cannot stand there."""
    kind = member["kind"]
    is_known = kind.isin(*SINGLE)
    inside = F.when(kind.isin(*READ), F.lit(_INSIDE)).otherwise(kind)
    return F.struct(
        F.when(kind.isNull(), F.lit("null"))
        .when(kind.isin(*PLAIN), member["text"])
        .otherwise(_quoted(_text(member)))
        .alias("json"),
        F.when(kind.isNotNull() & ~is_known, inside).alias("unread"),
    )


def _quoted(text: Column) -> Column:
    listed = F.to_json(F.array(text))
    return F.substring(listed, F.lit(2), F.length(listed) - 2)


def _as_name(json: Column) -> Column:
    """A key of a JSON object is a text."""
    return F.when(json.startswith('"'), json).otherwise(F.concat(F.lit('"'), json, F.lit('"')))


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
        .when(kind.isin("uuid_value", "timeuuid_value"), F.coalesce(uuid, text))
        .when(kind == "inetaddress_value", F.coalesce(_address(octets), text))
        .when(kind == "timestamp_value", F.coalesce(moment, text))
        .when(kind == "date_value", F.coalesce(day.cast("string"), text))
        .otherwise(text)
    )


def _address(octets: Column) -> Column:
    """An internet address: four numbers, or eight groups of hexadecimal digits, none left out."""
    numbers = [F.conv(F.substring(octets, 2 * at + 1, 2), 16, 10) for at in range(4)]
    groups = [
        F.regexp_replace(F.substring(octets, 4 * at + 1, 4), "^0{1,3}", "") for at in range(8)
    ]
    return F.when(F.length(octets) == 8, F.concat_ws(".", *numbers)).when(
        F.length(octets) == 32, F.concat_ws(":", *groups)
    )
