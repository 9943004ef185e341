"""Messages of Arcion's other format for Kafka, ``replication-format: NATIVE``, brought to its JSON CDC's envelopes.

A change has tableName, opType, cursor (an object) and both images, null for one that there is none of. A row of the
snapshot is a bare object of columns, and nothing in it names its table: it is taken where its path is that of a table
that the feed declares, and it has all of its columns. Types are the feed's: there is no schema.

Vendor: Arcion documentation, "Native format" of its CDC formats.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats._arcion import cursor_fields
from transforms.formats._connect import contains

_OPERATIONS = {"I": "insert", "U": "update", "D": "delete", "R": "replace"}


def as_envelopes(frame: DataFrame, feed: Feed) -> DataFrame:
    """Messages, parsed once, that are NATIVE become the JSON of an envelope, so that all else reads one form only."""
    is_change = contains("top", "tableName") & contains("top", "opType") & contains("top", "cursor")
    cursor = cursor_fields(F.try_variant_get("document", "$.cursor", "string"))
    envelope = F.col("envelope_text")
    return (
        frame.withColumn("cursor", F.when(is_change, cursor))
        .withColumn("envelope_text", F.when(is_change, change()).when(is_bare(feed), row()))
        .withColumn("message", F.coalesce(envelope, "message"))
        .withColumn(
            "document",
            F.when(envelope.isNotNull(), parsed(envelope)).otherwise(F.col("document")),
        )
    )


def parsed(text: Column) -> Column:
    """The JSON as a variant, with line breaks within strings as JSON allows them."""
    return F.try_parse_json(F.translate(text, "\n\r\t", "   "))


def is_bare(feed: Feed) -> Column:
    """True for a row of the snapshot."""
    columns = [
        part
        for name, table in feed.tables.items()
        for part in (F.lit(name), F.array(*[F.lit(column) for column in table.columns]))
    ]
    if not columns:
        return F.lit(False)
    lacking = F.array_except(
        F.try_element_at(F.create_map(*columns), F.col("object_table")), F.col("top")
    )
    enveloped = F.array(*[F.lit(name) for name in ("op", "source", "before", "after", "payload")])
    return F.coalesce(
        (F.size(lacking) == 0) & ~F.arrays_overlap("top", enveloped) & ~F.col("is_double"),
        F.lit(False),
    )


def change() -> Column:
    """The envelope of a change, its own images and all; without a cursor it is of the snapshot."""
    known = F.create_map(*[F.lit(part) for pair in _OPERATIONS.items() for part in pair])
    op = F.try_variant_get("document", "$.opType", "string")
    namespace = "$.tableName.namespace"

    def at(name: str) -> Column:
        return F.try_element_at("cursor", F.lit(name))

    source = {
        "db": F.try_variant_get("document", f"{namespace}.catalog", "string"),
        "schema": F.try_variant_get("document", f"{namespace}.schema", "string"),
        "table": F.try_variant_get("document", "$.tableName.name", "string"),
        "snapshot": F.col("cursor").isNull().cast("string"),
        "ts_ms": at("timestamp"),
        "file": at("log"),
        "pos": at("position"),
        "row": at("logSeqNum"),
    }
    said = F.coalesce(F.try_element_at(known, F.upper(F.trim(op))), op)
    head = as_json({"op": said, "ts_ms": at("extractionTimestamp"), "source": struct_of(source)})
    members = F.substr(F.col("message"), F.instr("message", "{") + 1)
    return F.concat(F.regexp_replace(head, r"\}$", ","), members)


def row() -> Column:
    """The envelope of a row of the snapshot."""
    source = {"table": F.col("object_table"), "snapshot": F.lit("true")}
    head = as_json({"op": F.lit("read"), "source": struct_of(source)})
    return F.concat(F.regexp_replace(head, r"\}$", ',"after":'), F.col("message"), F.lit("}"))


def struct_of(parts: Mapping[str, Column]) -> Column:
    """The parts as a struct."""
    return F.struct(*[part.alias(name) for name, part in parts.items()])


def as_json(parts: Mapping[str, Column]) -> Column:
    """The parts as an object, nulls included."""
    return F.to_json(struct_of(parts), {"ignoreNullFields": "false"})
