"""Debezium's relational connectors: change events, with Connect's schema beside the payload or without it.

``op`` is r (read by a snapshot), c, u, d, t (truncate), m (a message written into the log, which changes no row).
``transaction`` says which transaction an event is part of, and the records of the transaction topic (``status`` BEGIN
and END with ``event_count``) when it is whole: see ``waits``. ``__debezium_unavailable_value`` stands for a value that
the database did not log because it did not change. Flattened rows (ExtractNewRecordState) are no envelopes.

Vendor: Debezium documentation, connectors for MySQL and PostgreSQL.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import EPOCH, STREAM, TRANSACTION
from transforms.feed import Feed
from transforms.formats import _connect, _connect_events
from transforms.formats._connect_images import with_images
from transforms.formats._kafka import SCHEME
from transforms.formats.spec import as_events, remarks

OPERATIONS = {
    "r": "read",
    "c": "insert",
    "u": "update",
    "d": "delete",
    "t": "truncate",
    "m": "message",
}


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per message (see ``spec.EVENT_COLUMNS``)."""
    parsed = (
        _connect.read(bronze, feed)
        .withColumn("control", control())
        .withColumn("operation", _connect_events.operation(OPERATIONS))
        .withColumn("note", note())
        .withColumn("snapshot_flag", F.lower("envelope.source.snapshot"))
        .withColumn("is_snapshot", is_snapshot())
    )
    placed = (
        with_images(parsed, feed, stand_ins=True)
        .withColumn("stand", place())
        .withColumn("effect", effect())
        .withColumn("scope", scope())
        .withColumn("transaction_id", transaction_id())
    )
    found = (
        _connect_events.finished(placed, OPERATIONS)
        .withColumn("transaction", transaction(feed))
        .withColumn("remarks", noticed(feed))
    )
    return as_events(with_control(found))


def waits(feed: Feed) -> bool:
    """Whether changes wait for the end of their transaction.

    No record says whether the feed reads the transaction topic. A feed of topics that names none that ends in
    ``transaction`` does not, and waiting would be for ever; files may be of any topic, so theirs wait.
    """
    if not feed.landing.startswith(SCHEME):
        return True
    topics = feed.landing.removeprefix(SCHEME).partition("/")[2].split(",")
    return any(topic.strip().endswith("transaction") for topic in topics)


def control() -> Column:
    """``begin`` or ``commit`` for a record of the transaction topic, else null."""
    status = F.lower("envelope.status")
    marks = F.col("envelope.op").isNull() & F.col("envelope.id").isNotNull()
    return F.when(marks & (status == "begin"), "begin").when(marks & (status == "end"), "commit")


def note() -> Column:
    """What says nothing of any row: tombstones, messages in the log, changed tables, heartbeats, lone keys."""
    no_operation = F.col("envelope.op").isNull()
    ddl = _connect.contains("names", "ddl") | _connect.contains("names", "historyRecord")
    return (
        F.when(F.col("is_tombstone"), "tombstone")
        .when(F.col("control").isNotNull(), F.col("control"))
        .when(F.col("operation") == "message", "message")
        .when(no_operation & ddl, "schema_change")
        .when(F.col("names") == F.array(F.lit("ts_ms")), "heartbeat")
        .when(_connect_events.is_lone_key(), "key")
    )


def is_snapshot() -> Column:
    """True for a row that a snapshot read before the stream began; an incremental one reads amid it."""
    flag = F.coalesce("snapshot_flag", F.lit("false"))
    amid = (flag == "incremental") & numbers().isNotNull()
    of_snapshot = (F.col("operation") == "insert") & ~flag.isin("false", "incremental", "")
    return ((F.col("operation") == "read") & ~amid) | of_snapshot


def effect() -> Column:
    """An update is the whole row, but for values that were not sent; a row without a key is told by its images."""
    in_part = F.col("is_partial") | F.col("key_texts").isNull()
    return (
        F.when(F.col("operation").isin("delete", "truncate"), "remove")
        .when((F.col("operation") == "update") & in_part, "merge")
        .otherwise("put")
    )


def scope() -> Column:
    """A truncate is for every row of the table."""
    return F.when(F.col("operation") == "truncate", F.create_map().cast("map<string,string>"))


def numbers() -> Column:
    """The numbers of the source's log; null where it is none that is known."""
    source = F.col("envelope.source")
    lsn = source["lsn"].try_cast("bigint")
    last_commit = F.get(F.from_json(source["sequence"], "array<string>"), F.lit(0))
    order = F.coalesce(F.col("envelope.transaction.total_order").try_cast("bigint"), F.lit(0))
    # Of a source's first transaction no commit stands before it.
    postgres = F.array(F.coalesce(last_commit.try_cast("bigint"), lsn), lsn, order)
    return F.when(lsn.isNotNull(), postgres).when(_connect_events.has_log(), _connect_events.log())


def place() -> Column:
    """Postgres: the commit before, the event's own LSN, its number in its transaction. MySQL: file, position, row.

    Others stand where they do in their topic.
    """
    known = numbers()
    return (
        F.when(F.col("is_snapshot"), _connect_events.in_snapshot(known))
        .when(known.isNotNull(), _connect_events.stand(STREAM, known))
        .otherwise(_connect_events.in_topic())
    )


def transaction_id() -> Column:
    """The transaction of an event or a mark. Postgres's is its number and an LSN, which differs from event to event."""
    own = F.coalesce(
        F.when(F.col("control").isNotNull(), F.col("envelope.id")), "envelope.transaction.id"
    )
    return F.nullif(F.regexp_extract(own, r"^(\d+(?=:\d+$)|.+)", 1), F.lit(""))


def transaction(feed: Feed) -> Column:
    """The transaction that an event waits for; its end says of how many events it consists."""
    if not waits(feed):
        return F.lit(None).cast(TRANSACTION)
    expected = F.when(F.col("control") == "commit", F.col("envelope.event_count"))
    parts = {
        "id": F.col("transaction_id"),
        "expected": expected.try_cast("bigint"),
        "has_begin": F.lit(True),
        "at_commit": F.lit(False),
        "commit": F.lit(None).cast("array<bigint>"),
    }
    fields = F.struct(*[column.alias(name) for name, column in parts.items()])
    return F.when(F.col("transaction_id").isNotNull(), fields).cast(TRANSACTION)


def noticed(feed: Feed) -> Column:
    """What is worth knowing of an event that is taken all the same."""
    makes_row = F.col("operation").isin("insert", "read")
    is_own = F.col("transaction_id").isNotNull() & F.col("control").isNull()
    return remarks(
        unavailable_value=makes_row & F.col("is_partial"),
        commit_not_awaited=is_own & ~F.lit(waits(feed)),
    )


def with_control(found: DataFrame) -> DataFrame:
    """The marks of transactions with their effect; what they are is what their record says."""
    is_mark = F.col("control").isNotNull()
    at_start = F.array(F.lit(EPOCH), F.lit(STREAM)).cast("array<bigint>")
    return (
        found.withColumn("effect", F.when(is_mark, F.col("control")).otherwise(F.col("effect")))
        .withColumn("position", F.when(is_mark, at_start).otherwise(F.col("position")))
        .withColumn(
            "identity",
            F.when(is_mark, F.array(F.col("control"), F.col("envelope.id"))).otherwise(
                F.col("identity")
            ),
        )
    )
