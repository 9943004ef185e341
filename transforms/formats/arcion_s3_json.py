"""Arcion on S3, JSON: one object per operation, or one per snapshot row.

An operation is an envelope: tableName, opType, cursor, before, after, exists, operationcount, with every value as text
and null as the text ``null`` (so a text column that holds the word null cannot be told from null: the document's own
loss). A snapshot row is such an envelope with a null cursor, or (Arcion's 2021 files) a bare object of columns, whose
table is then the one that its path names.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", JSON file format.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats import _arcion
from transforms.formats.spec import SourceFormat, fault
from transforms.record import Record
from transforms.splitting import json_documents

NULL = "null"
ENVELOPE_FIELDS = ("opType", "cursor", "before", "after", "exists")


def split(data: bytes, feed: Feed, object_name: str) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data)


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per JSON document (see ``spec.EVENT_COLUMNS``)."""
    text = F.try_validate_utf8(F.col("payload").cast("string"))
    parsed = (
        bronze.withColumn("text", text)
        .withColumn("document", F.try_parse_json("text"))
        .withColumn("fields", F.col("document").try_cast("map<string,variant>"))
        .withColumn("bare", is_bare(F.map_keys("fields")))
        .withColumn("fault", unreadable())
        .withColumn("catalog", name_part("$.tableName.namespace.catalog"))
        .withColumn("schema", name_part("$.tableName.namespace.schema"))
        .withColumn("named", name_part("$.tableName.name"))
        .withColumn("name", table_name(feed))
        .withColumn("op", field_text("opType"))
        .withColumn("cursor", field_text("cursor"))
        # Columns of their own: inside the cells' lambda an expression would be evaluated for every cell.
        .withColumn("new_texts", F.when(F.col("bare"), texts("$")).otherwise(texts("$.after")))
        .withColumn("old_texts", texts("$.before"))
        .withColumn("flags", texts("$.exists"))
        .withColumn("fault", F.coalesce("fault", beyond_doubles()))
        .withColumn("cells", F.when(F.col("bare"), bare_cells()).otherwise(envelope_cells()))
    )
    return _arcion.to_events(parsed)


def is_bare(names: Column) -> Column:
    """True for a snapshot row without an envelope: nothing names the operation and the images."""
    enveloped = [F.array_contains(names, F.lit(field)) for field in ENVELOPE_FIELDS]
    votes = sum((vote.cast("int") for vote in enveloped), F.lit(0))
    return F.coalesce(~F.array_contains(names, F.lit("tableName")) & (votes < 2), F.lit(False))


def unreadable() -> Column:
    """Why a record is no document of this format; null where it is one."""
    missing = F.filter(
        F.array(F.lit("opType"), F.lit("exists")),
        lambda field: ~F.array_contains(F.map_keys("fields"), field),
    )
    # A snapshot envelope may leave opType out, but nothing can stand in for the flags.
    needed = F.array_contains(missing, F.lit("exists")) | (
        F.array_contains(missing, F.lit("opType")) & field_text("cursor").isNotNull()
    )
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(F.col("text").isNull(), fault("invalid_utf8", "the record is not valid UTF-8"))
        .when(
            F.col("document").isNull(),
            fault("malformed_json", "not JSON, or a name stands twice in one object"),
        )
        .when(F.col("fields").isNull(), fault("malformed_json", "the document is no JSON object"))
        .when(
            ~F.col("bare") & needed,
            fault("missing_field", "the envelope lacks ", F.concat_ws(", ", missing)),
        )
        .otherwise(_arcion.without_fault())
    )


def beyond_doubles() -> Column:
    """A number that is none any more when it has been read: 1e400 becomes infinity."""
    values = F.concat(F.map_values("new_texts"), F.map_values("old_texts"))
    infinite = F.exists(values, lambda text: F.coalesce(text.rlike("^-?Infinity$"), F.lit(False)))
    return F.when(
        infinite & ~F.contains("text", F.lit("Infinity")),
        fault("number_out_of_range", "a number is beyond what 64 bits of floating point can hold"),
    )


def name_part(path: str) -> Column:
    """One part of the table's name; null where it is null or blank."""
    part = F.try_variant_get("document", path, "string")
    return F.when((F.trim(part) != "") & (part != NULL), part)


def table_name(feed: Feed) -> Column:
    """The table that the envelope names, else the one that the path names.

    A path may well name no table (``part-1.json``): only a bare row, which has nothing else, takes its word unchecked.
    """
    by_path = F.when(
        F.col("bare") | F.col("object_table").isin(list(feed.tables)), F.col("object_table")
    )
    return F.coalesce(F.when(~F.col("bare"), F.col("named")), by_path)


def field_text(name: str) -> Column:
    """A field of the envelope as text; an object stays JSON text, null and the word null are null."""
    return _arcion.null_marked(F.try_variant_get("document", f"$.{name}", "string"), NULL)


def texts(path: str) -> Column:
    """An object within the document as a map of texts; empty where it is null, missing or no object."""
    return F.coalesce(
        F.try_variant_get("document", path, "map<string,string>"),
        F.create_map().cast("map<string,string>"),
    )


def envelope_cells() -> Column:
    """One cell per column that the flags or an image name."""
    names = F.array_distinct(
        F.concat(F.map_keys("flags"), F.map_keys("new_texts"), F.map_keys("old_texts"))
    )
    return F.transform(
        names,
        lambda name: F.struct(
            name.alias("name"),
            _arcion.null_marked(F.try_element_at("new_texts", name), NULL).alias("new"),
            _arcion.null_marked(F.try_element_at("old_texts", name), NULL).alias("old"),
            F.trim(F.try_element_at("flags", name)).alias("flag"),
            F.map_contains_key("new_texts", name).alias("new_given"),
            F.map_contains_key("old_texts", name).alias("old_given"),
        ),
    ).cast(f"array<{_arcion.CELL}>")


def bare_cells() -> Column:
    """One cell per column of a bare row: all are given, as if by an insert."""
    return F.transform(
        F.map_keys("new_texts"),
        lambda name: F.struct(
            name.alias("name"),
            _arcion.null_marked(F.try_element_at("new_texts", name), NULL).alias("new"),
            F.lit(None).cast("string").alias("old"),
            F.lit("1").alias("flag"),
            F.lit(True).alias("new_given"),
            F.lit(False).alias("old_given"),
        ),
    ).cast(f"array<{_arcion.CELL}>")


FORMAT = SourceFormat(
    name="arcion_s3_json",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    to_events=to_events,
    remarks=(_arcion.FLAGS_DISAGREE,),
    unknowable=(
        _arcion.NO_COMMITS,
        "a text column's word null: the format writes null the same way.",
    ),
)
