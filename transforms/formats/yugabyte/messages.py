"""The messages of GetChanges as JSON, and the values in their tuples.

Not here: what a row message does (``__init__``), and where it stands (``places``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.formats import _yugabyte_checkpoints as checkpoints
from transforms.formats import _yugabyte_values as own_values
from transforms.formats._yugabyte import ADDED, Shape, filled
from transforms.gold.ordering import let

DATUMS = {
    "DatumInt32": "datum_int32",
    "DatumInt64": "datum_int64",
    "DatumFloat": "datum_float",
    "DatumDouble": "datum_double",
    "DatumBool": "datum_bool",
    "DatumString": "datum_string",
    "DatumBytes": "datum_bytes",
    "DatumMissing": "datum_missing",
}
"""The members of a datum, as Go names them and as protobuf does (value.proto, DatumMessagePB)."""

NEWER = ("pg_ql_value", "pg_catalog_value")
"""Other ways to carry a value, of newer servers for other clients: not read, and not taken for null."""

READ = (*DATUMS.values(), *own_values.SINGLE)
"""The kinds of values that are read: data, and YCQL's values."""

DATUM: Shape = {
    "column_name": "string",
    "column_type": "string",
    # Of no message's spelling: the name of a field of Go's struct.
    "Datum": "map<string,string>",
    "cql_value": own_values.VALUE,
    **dict.fromkeys((*DATUMS.values(), *NEWER), "string"),
}

COLUMN_INFO: Shape = {
    "name": "string",
    "type": {"main": "string"},
    "is_key": "string",
    "oid": "string",
}

ROW_MESSAGE: Shape = {
    "transaction_id": "string",
    "commit_time": "string",
    "table": "string",
    "op": "string",
    "new_tuple": [DATUM],
    "old_tuple": [DATUM],
    "primary_key": [DATUM],
    "schema": {"column_info": [COLUMN_INFO], "tab_info": {"default_time_to_live": "string"}},
    "schema_version": "string",
    "new_table_name": "string",
    "pgschema_name": "string",
}

OP_ID: Shape = {"term": "string", "index": "string", "write_id": "string"}

PROTO_RECORD: dict[str, Shape] = {"row_message": ROW_MESSAGE, "cdc_sdk_op_id": OP_ID}

RESPONSE: dict[str, Shape] = {
    "error": "string",
    "checkpoint": {"op_id": {"term": "string", "index": "string"}},
    "cdc_sdk_proto_records": [PROTO_RECORD],
    "cdc_sdk_checkpoint": checkpoints.SHAPE,
    # One record alone.
    **PROTO_RECORD,
    **ADDED,
}

_TYPE_OF_OID = {
    "boolean": (16,),
    "binary": (17,),
    "bigint": (20, 26),
    "smallint": (21,),
    "int": (23,),
    "float": (700,),
    "double": (701,),
    "date": (1082,),
    "timestamp_ntz": (1114,),
    "timestamp": (1184,),
}
"""PostgreSQL's types that Spark has; all others are kept as the texts that they come as (numerics, too: nothing says
their scale)."""

_TYPE_OF_MAIN = {
    **{"1": "tinyint", "2": "smallint", "3": "int", "4": "bigint", "5": "string", "6": "boolean"},
    **{"7": "float", "8": "double", "10": "timestamp", "23": "date"},
    **{
        "INT8": "tinyint",
        "INT16": "smallint",
        "INT32": "int",
        "INT64": "bigint",
        "BOOL": "boolean",
    },
    **{"FLOAT": "float", "DOUBLE": "double", "TIMESTAMP": "timestamp", "DATE": "date"},
}
"""The server's own types, for columns without an oid."""


def values(tuples: Column) -> Column:
    """The named values of a tuple: ``name``, ``oid``, ``kind`` (null for null) and ``text``.

    What has no name only makes the old tuple as long as the new one.
    """
    return F.coalesce(
        F.filter(F.transform(tuples, _value), lambda one: one["name"].isNotNull()),
        F.array().cast("array<struct<name:string,oid:string,kind:string,text:string>>"),
    )


def _value(datum: Column) -> Column:
    member = F.try_element_at(F.map_entries(datum["Datum"]), F.lit(1))
    names = F.create_map(*[F.lit(part) for pair in DATUMS.items() for part in pair])
    of_go = F.when(
        member.isNotNull(),
        _member(F.coalesce(F.try_element_at(names, member["key"]), member["key"]), member["value"]),
    )
    of_protojson = [
        F.when(datum[name].isNotNull(), _member(F.lit(name), datum[name]))
        for name in (*DATUMS.values(), *NEWER)
    ]
    found = F.coalesce(of_go, *of_protojson)

    def told(one: Column) -> Column:
        return F.struct(
            filled(datum["column_name"]).alias("name"),
            datum["column_type"].alias("oid"),
            one["kind"].alias("kind"),
            one["text"].alias("text"),
        )

    of_ycql = F.when(datum["cql_value"].isNotNull(), own_values.read_single(datum["cql_value"]))
    return let(F.coalesce(let(found, _with_text), of_ycql), told)


def _member(kind: Column, text: Column) -> Column:
    return F.struct(kind.alias("kind"), text.alias("text"))


def _with_text(member: Column) -> Column:
    return F.when(member.isNotNull(), _member(member["kind"], _text(member)))


def _text(member: Column) -> Column:
    """Bytes as PostgreSQL writes them; all else as it is."""
    written = F.concat(
        F.lit("\\x"), F.lower(F.hex(F.try_to_binary(member["text"], F.lit("base64"))))
    )
    return F.when(member["kind"] == "datum_bytes", F.coalesce(written, member["text"])).otherwise(
        member["text"]
    )


def image(mentioned: Column, texts: Column) -> Column:
    """Column to text; a column whose value is marked as missing is not mentioned.

    ``texts`` are the columns that are declared, and not as binary: bytea is there the text that PostgreSQL writes, and
    elsewhere the bytes themselves.
    """
    given = F.filter(mentioned, lambda one: ~one["kind"].eqNullSafe("datum_missing"))

    def entry(one: Column) -> Column:
        is_bytes = (one["oid"] == "17") & ~F.array_contains(texts, one["name"])
        octets = F.when(one["text"].rlike(_HEX), F.unhex(F.substring(one["text"], 3, 2**31 - 1)))
        value = F.when(is_bytes, F.coalesce(octets.cast("string"), one["text"]))
        return F.struct(one["name"], value.otherwise(one["text"]))

    return F.map_from_entries(F.transform(given, entry)).cast(TEXTS)


_HEX = r"^\\x(?:[0-9a-fA-F]{2})*$"
"""A bytea as PostgreSQL writes it."""


def names(mentioned: Column) -> Column:
    """The columns that values are of."""
    return F.transform(mentioned, lambda one: one["name"])


def unread_value(mentioned: Column) -> Column:
    """The first value of a kind that is not known; null where there is none."""
    return F.get(
        F.filter(mentioned, lambda one: one["kind"].isNotNull() & ~one["kind"].isin(*READ)),
        F.lit(0),
    )


def spark_type(oid: Column, main: Column) -> Column:
    """The Spark SQL type of a column, by its PostgreSQL oid, or by the server's own type where it has none."""
    number = oid.try_cast("bigint")
    choice = F.lit("string")
    for name, oids in _TYPE_OF_OID.items():
        choice = F.when(number.isin(*oids), F.lit(name)).otherwise(choice)
    mains = F.create_map(*[F.lit(part) for pair in _TYPE_OF_MAIN.items() for part in pair])
    own = F.coalesce(F.try_element_at(mains, F.upper(main)), F.lit("string"))
    return F.when(F.coalesce(number, F.lit(0)) == 0, own).otherwise(choice)
