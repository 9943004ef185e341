"""What a JSON record says: an event with its namespace, or a document of an export.

Not here: what an event does (``effects``), and what an export says (``exports``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats._kafka import SCHEME
from transforms.formats.spec import NO_FAULT, fault

# Numbers are read as texts: an int, a uid and a timestamp have up to 64 bits, of which doubles lose the last ones.
EVENT = (
    "meta:struct<commit_ts:string>,type:string,"
    "event:struct<operation:string,uid:string,attr:string,value:string,value_type:string,"
    "type:string,pred:string>"
)
DOCUMENT = f"struct<{EVENT},key:string,value:struct<{EVENT}>,uid:string,namespace:string,_corrupt_record:string>"

WHOLE = "^[0-9]{1,20}$"
"""How an unsigned number is written."""

HEXADECIMAL = "^0[xX]([0-9a-fA-F]{1,16})$"
"""How Dgraph writes it outside of its stream."""

UNSIGNED = "decimal(20,0)"


def parsed(messages: DataFrame, feed: Feed) -> DataFrame:
    """Add what the record says: ``commit_ts``, ``kind``, ``said`` (the event's fields), ``namespace``, ``has_key``.

    And ``fault``, and ``is_document``: true for a document of a JSON export, of which only ``document_uid`` and
    ``document_namespace`` are known here. Dgraph without namespaces exports none.
    """
    reading = F.from_json("message", DOCUMENT, {"columnNameOfCorruptRecord": "_corrupt_record"})
    is_line = F.col("document.value").isNotNull() & F.col("document.meta").isNull()

    def part(name: str) -> Column:
        in_line, bare = F.col(f"document.value.{name}"), F.col(f"document.{name}")
        return F.when(is_line, in_line).otherwise(bare)

    is_node = F.col("document.namespace").isNotNull() | (
        F.col("document.uid").rlike(HEXADECIMAL) & F.col("document.meta").isNull()
    )
    is_document = F.col("document.uid").isNotNull() & F.col("document.event").isNull() & is_node
    return (
        messages.withColumn("document", reading)
        .withColumn("is_document", F.coalesce(is_document, F.lit(False)))
        .withColumn("commit_ts", part("meta.commit_ts"))
        .withColumn("kind", part("type"))
        .withColumn("said", part("event"))
        .withColumn("key_text", F.coalesce("message_key", F.when(is_line, F.col("document.key"))))
        .withColumn("has_key", F.col("key_text").isNotNull() | F.col("key_bytes").isNotNull())
        .withColumn("namespace", namespace(of_topic=feed.landing.startswith(SCHEME)))
        .withColumn("fault", unreadable())
        .withColumn("commit_ts", F.col("commit_ts").try_cast("bigint"))
        .withColumn("namespace", F.coalesce("namespace", F.lit("0")))
        .withColumn("kind", F.lower("kind"))
        .withColumn("document_uid", F.col("document.uid"))
        .withColumn("document_namespace", F.col("document.namespace"))
        .drop("document", "key_text")
    )


def namespace(*, of_topic: bool) -> Column:
    """The key as a number: eight bytes, or what a dump makes of them: digits, base64, or each byte as a character.

    Eight bytes that are all digits are taken for digits: as bytes they would be a namespace of nineteen figures.
    """
    text, raw = F.col("key_text"), F.col("key_bytes")
    number = F.when(text.rlike(WHOLE), text.try_cast(UNSIGNED).cast("string"))
    if of_topic:
        return F.coalesce(number, F.when(F.octet_length(raw) == 8, of_bytes(raw)))
    of_base64 = F.when(
        text.rlike("^[A-Za-z0-9+/]{11}=$"), of_bytes(F.try_to_binary(text, F.lit("base64")))
    )
    is_bytes = (F.char_length(text) == 8) & ~text.rlike(r"[^\x{00}-\x{ff}]")
    return F.coalesce(number, of_base64, F.when(is_bytes, of_bytes(F.encode(text, "ISO-8859-1"))))


def of_bytes(raw: Column) -> Column:
    """Big-endian bytes as an unsigned number."""
    return F.conv(F.hex(raw), 16, 10)


def of_hexadecimal(text: Column) -> Column:
    """A number that is written as 0x…, in decimal; null for all else."""
    return F.conv(F.nullif(F.regexp_extract(text, HEXADECIMAL, 1), F.lit("")), 16, 10)


def unreadable() -> Column:
    """Why a record is no event; null where it is one, or is of an export."""
    says_nothing = (
        F.coalesce(
            F.col("document._corrupt_record"), F.when(F.col("document").isNull(), F.lit(""))
        ).isNotNull()
        & F.coalesce(F.col("commit_ts"), F.col("kind"), F.col("document.uid")).isNull()
    )
    missing = F.array_compact(
        F.array(
            F.when(F.col("commit_ts").isNull(), F.lit("meta.commit_ts")),
            F.when(F.col("kind").isNull(), F.lit("type")),
            F.when(F.col("said.operation").isNull(), F.lit("event.operation")),
        )
    )
    return (
        F.when(F.col("defect").isNotNull(), fault("damaged_record", F.col("defect")))
        .when(~F.col("is_utf8"), fault("invalid_utf8", "the record is not valid UTF-8"))
        .when(F.col("message").isNull(), fault("missing_field", "the record has no value"))
        .when(F.col("is_document"), F.lit(None).cast(NO_FAULT))
        .when(says_nothing, fault("malformed_json", "the record is no JSON object"))
        .when(
            F.size(missing) > 0,
            fault("missing_field", "the event lacks ", F.array_join(missing, ", ")),
        )
        .when(
            ~F.coalesce(F.col("commit_ts").try_cast("bigint") >= 0, F.lit(False)),
            fault(
                "unknown_position",
                "meta.commit_ts is ",
                F.col("commit_ts"),
                ", which is no timestamp",
            ),
        )
        .when(
            F.col("has_key") & F.col("namespace").isNull(),
            fault(
                "unknown_namespace",
                *("the key is ", F.coalesce("key_text", F.hex("key_bytes"))),
                "; known: eight bytes, as they are or in base64, or a decimal number",
            ),
        )
    )
