"""Kafka records, however they came: read from a topic, or from a dump of one as JSON lines.

A dump has one JSON object a line with ``partition`` and ``offset``, the key and the value: under ``key`` and ``value``,
or ``key`` and ``payload`` (kcat's ``-J``); ``ts`` or ``timestamp`` in milliseconds; ``topic`` and ``headers`` or not.
Key and value are texts, JSON documents that stand in the line as they are, or JSON objects in base64. Where and when it
was may stand in an object ``metadata``, or be missing: a line that has ``value``, and nothing that a record has not, is
a record, too. Any other line is a bare value, without a key.

Vendors: edenhill/kcat, json.c (``-J``); redpanda-data/redpanda, rpk topic consume (a null value is left out);
Aiven-Open/cloud-storage-connectors-for-apache-kafka, JSON lines (no partition, ``value`` alone by default); Lenses,
"Message Envelope" (``metadata``); Confluent's REST proxy, embedded format ``binary`` (base64).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats._json_numbers import marked, unmarked
from transforms.gold.ordering import let

SCHEME = "kafka://"

# Numbers are read as texts: some tools write them so.
_PLACE = "topic string, partition string, offset string, timestamp string"
_DUMPED = (
    f"{_PLACE}, ts string, key string, value string, payload string, metadata struct<{_PLACE}>"
)
_FIELDS = (
    *("topic", "partition", "offset", "key", "value", "headers", "metadata"),
    *(
        "timestamp",
        "timestampType",
        "timestamp_type",
        "ts",
        "tstype",
        "leaderEpoch",
        "leader_epoch",
    ),
)
"""What a record may have."""

_DOCUMENT = r'"(?:key|value|payload)"\s*:\s*[\[{0-9-]'
_BASE64_OF_OBJECT = "^e[w-z0-9+/][A-Za-z0-9+/]*={0,2}$"


def messages(bronze: DataFrame, feed: Feed) -> DataFrame:
    """The records with the message in each.

    Adds ``message`` (the value's text; null where it is null, or no UTF-8), ``message_key`` (the same of the key),
    ``key_bytes`` (the key as it is), ``topic``, ``partition``, ``offset`` and ``sent_at`` (UTC), null for a bare value;
    ``is_null``: true for a record whose value is null; ``is_keyless``: true for one that is known to have no key;
    ``is_utf8``: false where a value is there and is no UTF-8.
    """
    text = F.try_validate_utf8(F.col("payload").cast("string"))
    with_text = bronze.withColumn("text", text).withColumn(
        "is_utf8", F.col("payload").isNull() | F.col("text").isNotNull()
    )
    if feed.landing.startswith(SCHEME):
        return with_text.withColumns(
            {
                "message": F.col("text"),
                "message_key": F.try_validate_utf8(F.col("key").cast("string")),
                "key_bytes": F.col("key"),
                "topic": F.regexp_extract("object", "^(.*)/", 1),
                "partition": F.substring_index("object", "/", -1).try_cast("int"),
                "offset": F.col("byte_offset"),
                "sent_at": F.col("landed_at"),
                "is_null": F.col("payload").isNull(),
                "is_keyless": F.col("key").isNull(),
            }
        ).drop("text")
    line = marked(F.col("text"), F.col("text").rlike(_DOCUMENT))
    return (
        with_text.withColumn("dumped", dumped(F.from_json(line, _DUMPED)))
        .withColumn("names", names())
        .withColumn("is_dumped", is_dumped())
        .withColumns(
            {
                "message": F.when(F.col("is_dumped"), F.col("dumped.value")).otherwise(
                    F.col("text")
                ),
                "message_key": of_dump("key"),
                "key_bytes": of_dump("key").cast("binary"),
                "topic": of_dump("topic"),
                "partition": of_dump("partition"),
                "offset": of_dump("offset"),
                "sent_at": of_dump("sent_at"),
                "is_null": F.col("is_dumped") & F.col("dumped.value").isNull(),
                "is_keyless": is_keyless(),
            }
        )
        .drop("text", "dumped", "names", "is_dumped")
    )


def dumped(line: Column) -> Column:
    """What a line says if it is a record: the key, the value, and where and when it was."""

    def said(one: Column) -> Column:
        place = {
            name: unmarked(F.coalesce(one[name], one["metadata"][name]))
            for name in ("partition", "offset")
        }
        sent = unmarked(F.coalesce(one["timestamp"], one["ts"], one["metadata"]["timestamp"]))
        return F.struct(
            document(one["key"]).alias("key"),
            document(F.coalesce(one["value"], one["payload"])).alias("value"),
            F.coalesce(one["topic"], one["metadata"]["topic"]).alias("topic"),
            place["partition"].try_cast("int").alias("partition"),
            place["offset"].try_cast("bigint").alias("offset"),
            F.coalesce(
                F.timestamp_millis(sent.try_cast("bigint")), sent.try_cast("timestamp")
            ).alias("sent_at"),
        )

    return let(line, said)


def document(given: Column) -> Column:
    """A key or value as it was: numbers as they are written, and an object that is in base64 out of it."""
    read = F.try_validate_utf8(F.try_to_binary(given, F.lit("base64")).cast("string"))
    is_object = F.when(read.rlike(r"(?s)^\{.*\}\s*$"), read)
    return F.coalesce(F.when(given.rlike(_BASE64_OF_OBJECT), is_object), unmarked(given))


def has_place() -> Column:
    """True for a line that says where in the topic it stood."""
    return F.col("dumped.partition").isNotNull() & F.col("dumped.offset").isNotNull()


def names() -> Column:
    """The names of a line's fields where they decide whether it is a record; else null."""
    is_open = F.col("dumped.key").isNotNull() | F.col("dumped.value").isNotNull()
    return F.when(~has_place() & is_open, F.json_object_keys("text"))


def is_dumped() -> Column:
    """True for a line that is a record: of any other nothing but the value is known."""
    others = F.array_except("names", F.array(*[F.lit(name) for name in _FIELDS]))
    is_record = F.array_contains("names", "value") & (F.size(others) == 0)
    return F.coalesce(has_place() | is_record, F.lit(False))


def of_dump(name: str) -> Column:
    """What the line says; null where it is no record."""
    return F.when(F.col("is_dumped"), F.col(f"dumped.{name}"))


def is_keyless() -> Column:
    """True for a record whose key is null; one that has its value alone tells nothing of the key."""
    tells = F.coalesce(has_place() | F.array_contains("names", "key"), F.lit(False))
    return F.col("is_dumped") & tells & F.col("dumped.key").isNull()
