"""What an export of Dgraph says: one triple per line of RDF, or per document of JSON.

An export is the baseline of a stream that starts late. Its folder is named ``dgraph.r<timestamp>.u<date>.<time>``: what
was committed up to that timestamp is in it. Not here: what a triple becomes (``effects``).

Vendor: dgraph-io/dgraph v25.3.8, worker/export.go (toRDF, toJSON, valToStr).
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms.feed import Feed
from transforms.formats.dgraph.messages import of_hexadecimal
from transforms.formats.spec import NO_FAULT, fault

RDF_NAME = r"(?i)\.rdf(\.[^/]*)?$"
READ_TS = r"(?:^|/)dgraph\.r([0-9]+)\.u[^/]*/"

# Possessive, so that a long text cannot overflow the stack of Java's matcher.
LINE = (
    r'^\s*<([^>"\\]*+)>\s*<([^>"\\]*+)>\s*'
    r'(?:<([^>"\\]*+)>|"([^"\\]*+(?:\\.[^"\\]*+)*+)"(?:\^\^<([^>"\\]*+)>|@([A-Za-z0-9-]++))?)'
    r"\s*(?:<(0[xX][0-9a-fA-F]++)>)?\s*(\(.*\))?\s*\.\s*(?:#.*)?$"
)
"""Node, predicate, then the node that it leads to, or a text with its type or language; namespace; facets."""

FACETS = 8
"""Which group of ``LINE`` they are."""

AS_JSON = (
    '{"uid":"$1","attr":"$2","node":"$3","value":"$4","type":"$5","language":"$6","namespace":"$7"}'
)
TRIPLE = "uid string, attr string, node string, value string, type string, language string, namespace string"

NODE = r'^\[\{"uid":"(0[xX][0-9a-fA-F]{1,16})"'
NUMBER = r'"[^"\\|]*+"\s*:\s*(-?[0-9][0-9.eE+-]*+)'
"""A number as it stands in the document: Spark's reader of JSON makes a double of it."""

FACET = r'"[^"\\|]*+\|[^"\\]*+"\s*:'

DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"

UNTOLD = "untold"
RESERVED = "dgraph."
"""How the predicates begin that Dgraph keeps for itself."""


TYPES = {
    "": "default",
    "int": "int",
    "integer": "int",
    "positiveInteger": "int",
    "float": "float",
    "double": "float",
    "boolean": "bool",
    "date": "datetime",
    "dateTime": "datetime",
    "string": "string",
    "decimal": "bigfloat",
    "password": "password",
    "base64Binary": "binary",
    "geojson": "geo",
    "[]float32": "float32vector",
}
"""Dgraph's name of a type, by the last part of its name in RDF."""


def is_rdf(object_name: str) -> bool:
    """Whether an object holds lines of RDF."""
    return re.search(RDF_NAME, object_name) is not None


def parsed(messages: DataFrame, feed: Feed) -> DataFrame:
    """Let records of exports say the same as events: ``kind`` is ``export``, ``commit_ts`` the export's timestamp.

    Adds ``language`` and ``has_facets``.
    """
    place = F.concat(F.lit(feed.landing.rstrip("/") + "/"), F.col("object"))
    of_rdf = F.col("object").rlike(RDF_NAME)
    is_export = of_rdf | F.col("is_document")
    line = F.col("message").rlike(LINE)
    # RDF lets a tab stand in a text as it is.
    lenient = {"allowUnquotedControlChars": "true"}
    in_rdf = F.from_json(F.regexp_replace("message", LINE, AS_JSON), TRIPLE, lenient)
    triple = F.when(of_rdf & line, in_rdf).when(~of_rdf & F.col("is_document"), document(feed))
    read_ts = F.regexp_extract(place, READ_TS, 1).try_cast("bigint")
    # Dgraph takes a day for its first moment.
    is_day = (value_type() == "datetime") & F.col("triple.value").rlike(DAY)
    midnight = F.when(is_day, F.concat("triple.value", F.lit("T00:00:00Z")))
    said = F.struct(
        F.lit("set").alias("operation"),
        unsigned("uid").alias("uid"),
        F.col("triple.attr").alias("attr"),
        F.coalesce(unsigned("node"), midnight, F.col("triple.value")).alias("value"),
        value_type().alias("value_type"),
        F.lit(None).cast("string").alias("type"),
        F.lit(None).cast("string").alias("pred"),
    )
    return (
        messages.withColumn("is_export", is_export)
        .withColumn("triple", triple)
        .withColumn("language", F.nullif(F.col("triple.language"), F.lit("")))
        .withColumn("has_facets", has_facets(of_rdf))
        .withColumns(
            {
                "fault": F.when(is_export, unreadable(read_ts)).otherwise(F.col("fault")),
                "kind": F.when(is_export, F.lit("export")).otherwise(F.col("kind")),
                "commit_ts": F.when(is_export, read_ts).otherwise(F.col("commit_ts")),
                "said": F.when(is_export, said).otherwise(F.col("said")),
                "namespace": F.when(
                    is_export, F.coalesce(unsigned("namespace"), F.lit("0"))
                ).otherwise(F.col("namespace")),
                "has_key": is_export | F.col("has_key"),
            }
        )
        .drop("triple", "document_uid", "document_namespace")
    )


def document(feed: Feed) -> Column:
    """The triple of a document: its one name that is neither uid, namespace nor a facet; of the declared type.

    JSON tells texts from numbers and no more, so that the type of a value has to be declared.
    """
    typed = {one.name: one.type for one in feed.predicates.values() if one.type}
    declared = F.create_map(*[F.lit(part) for pair in typed.items() for part in pair]).cast(
        "map<string,string>"
    )
    entries = F.filter(
        F.map_entries(F.from_json("message", "map<string,string>")),
        lambda entry: ~entry["key"].isin("uid", "namespace") & ~entry["key"].contains("|"),
    )

    def spelled(entry: Column) -> Column:
        name, value = F.substring_index(entry["key"], "@", 1), entry["value"]
        number = F.nullif(F.regexp_extract("message", NUMBER, 1), F.lit(""))
        return F.struct(
            F.col("document_uid").alias("uid"),
            name.alias("attr"),
            F.regexp_extract(value, NODE, 1).alias("node"),
            F.coalesce(number, value).alias("value"),
            F.when(name.startswith(RESERVED), "default")
            .otherwise(F.coalesce(F.try_element_at(declared, name), F.lit(UNTOLD)))
            .alias("type"),
            F.substring(entry["key"], F.char_length(name) + 2, F.char_length(entry["key"])).alias(
                "language"
            ),
            F.col("document_namespace").alias("namespace"),
        )

    return F.when(F.size(entries) == 1, F.transform(entries, spelled)[0]).cast(
        T.StructType.fromDDL(TRIPLE)
    )


def unsigned(name: str) -> Column:
    """A part of the triple, written as 0x…, as an unsigned number."""
    return of_hexadecimal(F.col(f"triple.{name}"))


def has_facets(of_rdf: Column) -> Column:
    """True where the record has facets beside its value."""
    in_line = F.regexp_extract("message", LINE, FACETS) != ""
    in_document = F.col("is_document") & F.col("message").rlike(FACET)
    return F.when(of_rdf, in_line).otherwise(in_document)


def value_type() -> Column:
    """Dgraph's name of the value's type; the name in RDF where it is none that is known."""
    name = F.substring_index(F.substring_index("triple.type", ":", -1), "#", -1)
    known = F.create_map(*[F.lit(part) for pair in TYPES.items() for part in pair])
    told = F.coalesce(
        F.when(~F.col("is_document"), F.try_element_at(known, name)), F.col("triple.type")
    )
    return F.when(F.col("triple.node") != "", F.lit("uid")).otherwise(told)


def unreadable(read_ts: Column) -> Column:
    """Why a record of an export is no triple with a place; null where it is one."""
    is_reserved = F.col("triple.attr").startswith(RESERVED)
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(~F.col("is_utf8"), fault("invalid_utf8", "the record is not valid UTF-8"))
        .when(
            F.col("triple.attr").isNull() & F.col("is_document"),
            fault("malformed_json", "the document of an export holds not exactly one value"),
        )
        .when(
            F.col("triple.attr").isNull(),
            fault("malformed_rdf", "the line is no triple of an export"),
        )
        .when(
            unsigned("uid").isNull() | ((F.col("triple.node") != "") & unsigned("node").isNull()),
            fault("value_does_not_fit", "a node is no number of the form 0x1"),
        )
        .when(
            read_ts.isNull(),
            fault(
                "unknown_position",
                "the folder of the export does not tell its timestamp: it is named dgraph.r<timestamp>.u<date>",
            ),
        )
        .when(
            (F.col("triple.language") != "") & ~is_reserved,
            fault(
                "language_value",
                *(
                    "a value of ",
                    F.col("triple.attr"),
                    " in the language ",
                    F.col("triple.language"),
                ),
                ": the stream never tells languages, so that nothing would keep it up to date",
            ),
        )
        .when(
            value_type() == UNTOLD,
            fault(
                "unknown_value_type",
                *("an export in JSON tells no types: declare the type of ", F.col("triple.attr")),
            ),
        )
        .otherwise(F.lit(None).cast(NO_FAULT))
    )
