"""YugabyteDB's first form of change capture, xCluster: GetChanges responses with ``records``, one JSON document each.

A record is a CDCRecordPB: WRITE (insert and update look the same), DELETE, APPLY. A WRITE or DELETE of a transaction is
an intent: it takes effect at the APPLY of that transaction, and only if one comes; an abort says nothing. Leader and
followers deliver the same records. A stream is of one table, which no record names: the object's path does. One record
of a response alone may stand in a line, too.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (CDCRecordPB) and ent/src/yb/cdc/cdc_producer.cc, 2.11 and 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats import _yugabyte
from transforms.formats import _yugabyte_checkpoints as checkpoints
from transforms.formats._yugabyte import Shape
from transforms.formats.spec import SourceFormat, as_events, fault
from transforms.formats.yugabyte_xcluster import decode, effects, values
from transforms.gold.ordering import let
from transforms.record import Record
from transforms.splitting import json_documents
from transforms.splitting.limits import DEFAULTS, Limits

RECORD: dict[str, Shape] = {
    "time": "string",
    "operation": "string",
    "key": [values.PAIR],
    "changes": [values.PAIR],
    "transaction_state": {"transaction_id": "string", "commit_hybrid_time": "string"},
}

RESPONSE: dict[str, Shape] = {
    "error": "string",
    "checkpoint": {"op_id": {"term": "string", "index": "string"}},
    "records": [RECORD],
    "table": "string",
    "table_name": "string",
    **RECORD,
    **_yugabyte.ADDED,
}


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per record, and one per response with its checkpoint (see ``spec.EVENT_COLUMNS``)."""
    return as_events(effects.events(rows(responses(bronze, feed))))


def responses(bronze: DataFrame, feed: Feed) -> DataFrame:
    """The responses with ``items``: null for the response itself, then its records with their ordinals."""
    response = F.col("response")
    alone = F.array(F.struct(*[response[name].alias(name) for name in RECORD]))
    records = F.coalesce(
        response["records"],
        F.when(response["operation"].isNotNull(), alone),
        F.slice(alone, 1, 0),
    )
    nothing = F.lit(None).cast(
        "struct<term:string,index:string,write_id:string,key:string,snapshot_time:string>"
    )
    return (
        bronze.withColumn("text", F.try_validate_utf8(F.col("payload").cast("string")))
        .withColumn("response", _yugabyte.read(F.col("text"), RESPONSE))
        .withColumn("fault", F.coalesce(_yugabyte.record_fault(response), no_response(response)))
        .withColumn("tablet", _yugabyte.tablet(feed))
        .withColumn("stream_id", _yugabyte.stream())
        .withColumn("checkpoint", checkpoints.told(nothing, response["checkpoint"]["op_id"]))
        .withColumn(
            "checkpoint",
            # Hybrid times order this form, so that no checkpoint can be said to be behind a commit.
            checkpoints.with_reached(
                F.col("checkpoint"), F.array().cast("array<bigint>"), F.lit(False)
            ),
        )
        .withColumn(
            "named",
            F.coalesce(
                _yugabyte.filled(response["table"]),
                _yugabyte.filled(response["table_name"]),
                _yugabyte.segment("table"),
                F.col("object_table"),
            ),
        )
        .withColumn("records", F.when(F.col("fault").isNull(), records))
        .withColumn("items", let(numbered(F.col("records")), _yugabyte.with_note))
        .drop("text", "response", "records")
    )


def no_response(response: Column) -> Column:
    """Why a JSON object is no response that can be read."""
    parts = ("records", "operation", "time", "checkpoint")
    has_any = F.coalesce(
        *[F.when(response[part].isNotNull(), True) for part in parts], F.lit(False)
    )
    return F.when(
        response["error"].isNotNull(),
        fault("error_response", "the server answered with an error: ", response["error"]),
    ).when(~has_any, fault("missing_field", "neither records, operation nor a checkpoint is there"))


def numbered(records: Column) -> Column:
    """The records, each with its place among those of its time: minus the number of others that come after it.

    Copies of one have one place. Where a response begins in the middle of a time, places are the same; the longest
    delivery has the smallest, which are those that count.
    """

    def with_numbers(distinct: Column) -> Column:
        def one(record: Column) -> Column:
            mine = F.struct(record["time"].alias("time"), F.to_json(record).alias("text"))
            alike = F.filter(distinct, lambda other: other["time"] == mine["time"])
            at = F.array_position(alike, mine) - F.size(alike)
            return F.struct(record.alias("record"), at.alias("at"))

        return F.transform(records, one)

    every = F.transform(
        records, lambda one: F.struct(one["time"].alias("time"), F.to_json(one).alias("text"))
    )
    return let(F.array_distinct(every), with_numbers)


def rows(found: DataFrame) -> DataFrame:
    """One row per item, with what it says as columns."""
    others = [F.col(name) for name in found.columns if name != "items"]
    known = F.create_map(*[F.lit(part) for pair in effects.OPERATIONS.items() for part in pair])
    record, state = F.col("record"), F.col("record.transaction_state")
    said = F.upper(F.trim(record["operation"]))
    return (
        found.select(*others, F.posexplode("items").alias("ordinal", "item"))
        .withColumn("record", F.col("item.record"))
        .withColumn(
            "op",
            F.coalesce(
                F.try_element_at(known, said), F.when(said.isin(*effects.OPERATIONS.values()), said)
            ),
        )
        .withColumn("of_key", values.pairs(record["key"]))
        .withColumn("of_changes", values.pairs(record["changes"]))
        .withColumn("transaction_id", _yugabyte.transaction_id(state["transaction_id"]))
        .withColumn("at", F.array(*_yugabyte.instant(record["time"])))
        .withColumn(
            "commit_at",
            F.array(*_yugabyte.instant(F.coalesce(state["commit_hybrid_time"], record["time"]))),
        )
        .withColumn("is_note", F.col("item").isNull() & F.col("fault").isNull())
    )


FORMAT = SourceFormat(
    name="yugabyte_xcluster",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    to_events=to_events,
    transactional=True,
    remarks=(effects.NOT_BASE64,),
    decoder=decode.decoder,
    unknowable=(
        "Truncates and schema changes: this form of the stream does not have them.",
        "Aborted transactions: an abort says nothing, so that their intents wait until they are reported.",
        "Whether a row was inserted or updated: both are a WRITE of the changed columns.",
    ),
)
