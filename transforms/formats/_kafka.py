"""Kafka records, however they came: read from a topic, or from a dump of one as JSON lines.

A dump has one JSON object a line with ``partition`` and ``offset``, the key and the value: under ``key`` and ``value``,
or ``key`` and ``payload`` (kcat's ``-J``); ``ts`` or ``timestamp`` in milliseconds; ``topic`` and ``headers`` or not.
Key and value are texts, or JSON documents that stand in the line as they are. A line that is no such object is a bare
value, without a key.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed

SCHEME = "kafka://"

DUMPED = (
    "topic string, partition int, offset bigint, timestamp string, ts string, key string, value string,"
    " payload string"
)


def messages(bronze: DataFrame, feed: Feed) -> DataFrame:
    """The records with the message in each.

    Adds ``message`` (the value's text; null where it is null, or no UTF-8), ``message_key`` (the same of the key),
    ``key_bytes`` (the key as it is), ``topic``, ``partition``, ``offset`` and ``sent_at`` (UTC), null for a bare value;
    ``is_null``: true for a record whose value is null; ``is_utf8``: false where a value is there and is no UTF-8.
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
            }
        ).drop("text")
    dumped = F.col("dumped")
    # Of what is no dump nothing but the value is known.
    is_dumped = F.coalesce(
        dumped["partition"].isNotNull() & dumped["offset"].isNotNull(), F.lit(False)
    )
    value = F.coalesce(dumped["value"], dumped["payload"])
    sent = F.coalesce(dumped["timestamp"], dumped["ts"])
    return (
        with_text.withColumn("dumped", F.from_json("text", DUMPED))
        .withColumn("is_dumped", is_dumped)
        .withColumns(
            {
                "message": F.when(F.col("is_dumped"), value).otherwise(F.col("text")),
                "message_key": F.when(F.col("is_dumped"), dumped["key"]),
                "key_bytes": F.when(F.col("is_dumped"), dumped["key"].cast("binary")),
                "topic": F.when(F.col("is_dumped"), dumped["topic"]),
                "partition": F.when(F.col("is_dumped"), dumped["partition"]),
                "offset": F.when(F.col("is_dumped"), dumped["offset"]),
                "sent_at": F.when(
                    F.col("is_dumped"),
                    F.coalesce(
                        F.timestamp_millis(sent.try_cast("bigint")), sent.try_cast("timestamp")
                    ),
                ),
                "is_null": F.col("is_dumped") & value.isNull(),
            }
        )
        .drop("text", "dumped", "is_dumped")
    )
