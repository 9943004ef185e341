"""Arcion on Kafka, JSON CDC: one message per operation, key and value each with Connect's schema and a payload.

The format changed four times. One object with key and value numbered (``schema_1``, ``payload_1``, ``schema_2``,
``payload_2``) and operations in words; then key and value apart; then numbers as texts, tombstones and missing keys as
the text ``default``; then numbers, ``{}`` for an image that there is none of, and null. All are read, in any mixture.
``before`` may hold no more than the key and ``after`` no more than what changed (``before-image-format``,
``after-image-format``): a column that is absent is unchanged. Messages of ``replication-format: NATIVE`` are read, too
(``_arcion_native``).

Vendor: Arcion documentation, "JSON CDC format for Kafka".
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import STREAM
from transforms.feed import Feed
from transforms.formats import _connect, _connect_events
from transforms.formats._arcion_native import as_envelopes
from transforms.formats._connect_images import with_images
from transforms.formats.spec import as_events

NOTHING = ("null", "default", "{}")
"""What stands for an image, a key or a value that there is none of."""

OPERATIONS = {
    "r": "read",
    "c": "insert",
    "u": "update",
    "d": "delete",
    "read": "read",
    "insert": "insert",
    "create": "insert",
    "update": "update",
    "delete": "delete",
    "replace": "replace",
}


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per message (see ``spec.EVENT_COLUMNS``)."""
    parsed = (
        _connect.read(bronze, feed, NOTHING, as_envelopes)
        .withColumn("note", note())
        .withColumn("operation", _connect_events.operation(OPERATIONS))
        .withColumn("is_snapshot", is_snapshot())
    )
    placed = (
        with_images(parsed, feed, NOTHING, numbers_are_texts=True)
        .withColumn("stand", place())
        .withColumn("effect", effect())
    )
    return as_events(_connect_events.finished(placed, OPERATIONS))


def note() -> Column:
    """What says nothing of any row: a tombstone, and a key that stands alone in a file."""
    return F.when(F.col("is_tombstone"), "tombstone").when(_connect_events.is_lone_key(), "key")


def is_snapshot() -> Column:
    """True for a row that the snapshot read."""
    flag = F.lower("envelope.source.snapshot") == "true"
    return (F.col("operation") == "read") | (F.col("operation").isin("insert", "replace") & flag)


def effect() -> Column:
    """A delete removes, an insert is a whole row, an update may say no more than what changed."""
    return (
        F.when(F.col("operation") == "delete", "remove")
        .when(F.col("operation") == "update", "merge")
        .otherwise("put")
    )


def place() -> Column:
    """Log file number, position and row; where there is no log, the place in the topic. A snapshot stands before."""
    logged = F.when(_connect_events.has_log(), _connect_events.log())
    return (
        F.when(F.col("is_snapshot"), _connect_events.in_snapshot(logged))
        .when(_connect_events.has_log(), _connect_events.stand(STREAM, _connect_events.log()))
        .otherwise(_connect_events.in_topic())
    )
