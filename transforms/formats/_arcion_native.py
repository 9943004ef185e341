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
from transforms.formats._connect import SOURCE, contains
from transforms.formats._json_numbers import exact

_OPERATIONS = {"I": "insert", "U": "update", "D": "delete", "R": "replace"}


def as_envelopes(frame: DataFrame, feed: Feed) -> DataFrame:
    """The frame of ``_connect.read`` while it is made: what is NATIVE has an envelope, too."""
    is_change = contains("top", "tableName") & contains("top", "opType") & contains("top", "cursor")
    nested = F.concat(F.lit('{"after":'), F.translate("message", "\n\r\t", "   "), F.lit("}"))
    named = F.array_union("names", F.array(F.lit("op"), F.lit("source")))
    cursor = cursor_fields(F.try_variant_get("document", "$.cursor", "string"))
    return (
        frame.withColumn("is_native", is_change)
        .withColumn("is_bare", is_bare(feed))
        .withColumn("cursor", F.when(F.col("is_native"), cursor))
        .withColumn(
            "envelope",
            F.when(F.col("is_native"), change())
            .when(F.col("is_bare"), row())
            .otherwise(F.col("envelope")),
        )
        .withColumn(
            "body", F.when(F.col("is_bare"), F.try_parse_json(nested)).otherwise(F.col("body"))
        )
        .withColumn(
            "names", F.when(F.col("is_native") | F.col("is_bare"), named).otherwise(F.col("names"))
        )
    )


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
    """The envelope of a change; without a cursor it is of the snapshot."""
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
    return enveloped(
        F.coalesce(F.try_element_at(known, F.upper(F.trim(op))), op), source
    ).withField("ts_ms", at("extractionTimestamp"))


def row() -> Column:
    """The envelope of a row of the snapshot."""
    source = {"table": F.col("object_table"), "snapshot": F.lit("true")}
    return enveloped(F.lit("read"), source).withField("after", exact(F.col("message")))


def enveloped(op: Column, source: Mapping[str, Column]) -> Column:
    """The envelope as it was read, with an operation and a source."""
    parts = [source.get(name, F.lit(None)).cast("string").alias(name) for name in SOURCE]
    return F.col("envelope").withField("op", op).withField("source", F.struct(*parts))
