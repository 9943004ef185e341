"""YugabyteDB's CDC SDK: GetChanges responses, one JSON document each, as a client wrote them down.

A response holds the row messages of one tablet from one checkpoint to the next: BEGIN, COMMIT, DDL, INSERT, UPDATE,
DELETE, TRUNCATE, READ, SAFEPOINT. It does not say which tablet: that is a ``tablet=`` segment of the object's path, the
folder's name, or a field ``tablet_id`` that the client adds. One record of a response alone may stand in a line, too.

Each row message is an event; beside them every response has a note with its checkpoint, also an empty one. Both
encodings are read: Go's ``encoding/json`` and protojson (``_yugabyte``).

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (RowMessage, CDCSDKProtoRecordPB) and src/yb/cdc/cdcsdk_producer.cc.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import TEXTS
from transforms.feed import Feed
from transforms.formats import _yugabyte
from transforms.formats import _yugabyte_checkpoints as checkpoints
from transforms.formats.spec import SourceFormat, as_events, fault, remarks
from transforms.formats.yugabyte import decode, effects, messages, places, survey, tables
from transforms.gold.ordering import let
from transforms.record import Record
from transforms.splitting import json_documents
from transforms.splitting.limits import DEFAULTS, Limits


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


def to_events(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per row message, and one per response with its checkpoint (see ``spec.EVENT_COLUMNS``)."""
    return as_events(events(with_told(row_messages(responses(bronze, feed)), bronze, feed), feed))


def responses(bronze: DataFrame, feed: Feed) -> DataFrame:
    """The records with ``items``: null for the response itself, then its row messages with their places."""
    text = F.try_validate_utf8(F.col("payload").cast("string"))
    response = F.col("response")
    alone = F.array(F.struct(*[response[name].alias(name) for name in messages.PROTO_RECORD]))
    records = F.coalesce(
        response["cdc_sdk_proto_records"],
        F.when(response["row_message"].isNotNull(), alone),
        F.slice(alone, 1, 0),
    )
    return (
        bronze.withColumn("text", text)
        .withColumn("response", _yugabyte.read(F.col("text"), messages.RESPONSE))
        .withColumn("fault", F.coalesce(_yugabyte.record_fault(response), no_response(response)))
        .withColumn("tablet", _yugabyte.tablet(feed))
        .withColumn("stream_id", _yugabyte.stream())
        .withColumn(
            "checkpoint",
            checkpoints.told(response["cdc_sdk_checkpoint"], response["checkpoint"]["op_id"]),
        )
        .withColumn("records", F.when(F.col("fault").isNull(), with_operations(records)))
        .withColumn("checkpoint", let(places.committed(F.col("records")), with_reached))
        .withColumn("items", let(places.placed(F.col("records")), _yugabyte.with_note))
        .drop("text", "response", "records")
    )


def with_reached(committed: Column) -> Column:
    """The response's checkpoint, with where its consumer stands behind what is committed in it."""
    commits = F.filter(committed, lambda record: record["op"] == "COMMIT")
    placed = F.filter(F.transform(commits, places.op_id), lambda id: id.isNotNull())
    last = F.try_element_at(placed, F.lit(-1))
    has_commit = F.coalesce(F.size(committed) > 0, F.lit(False))
    return checkpoints.with_reached(F.col("checkpoint"), last, has_commit)


def no_response(response: Column) -> Column:
    """Why a JSON object is no response that can be read."""
    parts = ("cdc_sdk_proto_records", "row_message", "cdc_sdk_checkpoint", "checkpoint")
    has_any = F.coalesce(
        *[response[part].isNotNull() | F.lit(None) for part in parts], F.lit(False)
    )
    return F.when(
        response["error"].isNotNull(),
        fault("error_response", "the server answered with an error: ", response["error"]),
    ).when(
        ~has_any,
        fault(
            "missing_field", "neither cdc_sdk_proto_records, row_message nor a checkpoint is there"
        ),
    )


def with_operations(records: Column) -> Column:
    """The records with ``op``, by name."""
    known = F.create_map(*[F.lit(part) for pair in effects.OPERATIONS.items() for part in pair])

    def one(record: Column) -> Column:
        op = F.upper(F.trim(record["row_message"]["op"]))
        named = F.coalesce(
            F.try_element_at(known, op), F.when(op.isin(*effects.OPERATIONS.values()), op)
        )
        return F.struct(
            record["row_message"].alias("row_message"),
            record["cdc_sdk_op_id"].alias("cdc_sdk_op_id"),
            named.alias("op"),
        )

    return F.transform(records, one)


def row_messages(found: DataFrame) -> DataFrame:
    """One row per item, with the message's fields that place and name it."""
    others = [F.col(name) for name in found.columns if name != "items"]
    message = F.col("message")
    return (
        found.select(*others, F.posexplode("items").alias("ordinal", "item"))
        .withColumn("message", F.col("item.row_message"))
        .withColumn("op", F.col("item.op"))
        .withColumn("transaction_id", _yugabyte.transaction_id(message["transaction_id"]))
        .withColumn("catalog", F.lit(None).cast("string"))
        .withColumn("schema", _yugabyte.filled(message["pgschema_name"]))
        .withColumn("name", _yugabyte.filled(message["table"]))
        .withColumn("new", messages.values(message["new_tuple"]))
        .withColumn("old", messages.values(message["old_tuple"]))
        .withColumn("own_key", messages.values(message["primary_key"]))
    )


def with_told(rows: DataFrame, bronze: DataFrame, feed: Feed) -> DataFrame:
    """The rows with what the stream says of their tables: in the message, or in a DDL of the same window."""
    is_ddl = F.contains(F.col("payload").cast("string"), F.lit("column_info")) | F.contains(
        F.col("payload").cast("string"), F.lit("columnInfo")
    )
    # Columns of their own: joined with themselves, Spark confuses those that stand in lambdas.
    again = bronze.where(is_ddl).select(*[F.col(name).alias(name) for name in bronze.columns])
    ddl = row_messages(responses(again, feed)).where(F.col("op") == "DDL")
    newest = F.max_by(
        tables.told_by_ddl(F.col("message")),
        F.struct(
            F.col("message.schema_version").try_cast("bigint"),
            places.position(),
            F.to_json("message.schema"),
        ),
    )
    whose = ("window", "schema", "name")
    described = ddl.groupBy(*[F.col(name).alias(f"ddl_{name}") for name in whose]).agg(
        newest.alias("told_by_ddl")
    )
    of_row = F.when(
        F.size("own_key") > 0,
        tables.told_by_row(F.col("own_key"), F.col("new"), F.col("old")),
    )
    same = F.lit(True)
    for name in whose:
        same = same & F.col(name).eqNullSafe(F.col(f"ddl_{name}"))
    joined = rows.join(F.broadcast(described), on=same, how="left")
    # A message says only its own columns; the list says all.
    return joined.withColumn("told", F.coalesce("told_by_ddl", of_row))


def events(rows: DataFrame, feed: Feed) -> DataFrame:
    """The rows as events, with what each does."""
    op = F.col("op")
    is_note = F.col("item").isNull() & F.col("fault").isNull()
    return (
        rows.withColumn("is_note", is_note)
        .withColumn(
            "fault", F.coalesce("fault", F.when(~F.col("is_note"), effects.operation_fault()))
        )
        .withColumn("dropped", F.when(op == "DDL", tables.dropped(F.col("message"), feed)))
        .withColumn("texts", tables.texts(F.col("message"), feed))
        .withColumn("place", places.position())
        .withColumn("fault", F.coalesce("fault", F.when(~F.col("is_note"), effects.row_fault())))
        .withColumn(
            "position", F.when(F.col("is_note"), checkpoints.position()).otherwise(F.col("place"))
        )
        .withColumn(
            "identity",
            F.when(F.col("is_note"), checkpoints.identity()).otherwise(places.identity()),
        )
        .withColumn("settled", F.coalesce(places.settled(), F.size("position")))
        .withColumn("operation", effects.operation())
        .withColumn("effect", effects.effect())
        .withColumn("readable", F.col("fault").isNull())
        .withColumn("after", effects.after())
        .withColumn("before", effects.before())
        .withColumn(
            "scope",
            F.when(
                (op == "TRUNCATE") | F.col("dropped").isNotNull(),
                F.create_map().cast(TEXTS),
            ),
        )
        .withColumn("stream", F.col("tablet"))
        .withColumn("transaction", effects.transaction())
        .withColumn("derived", F.when(F.col("is_note"), F.lit(checkpoints.CHECKPOINT)))
        .withColumn("segment", F.lit(None).cast("bigint"))
        .withColumn("event_at", _yugabyte.moment(F.col("message.commit_time")))
        .withColumn("extracted_at", F.lit(None).cast("timestamp"))
        .withColumn("remarks", remarks(time_to_live=tables.has_time_to_live(F.col("message"))))
    )


FORMAT = SourceFormat(
    name="yugabyte",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=split,
    to_events=to_events,
    transactional=True,
    remarks=(tables.TIME_TO_LIVE,),
    tells_tables=True,
    has_checkpoints=True,
    decoder=decode.decoder,
    surveyor=survey.surveyor,
    survey_marks=survey.MARKS,
    unknowable=(
        "An update on one tablet and another of the same transaction on a second tablet show at different times: the"
        " stream has commits per tablet.",
        "Rows that expire (a time to live) leave without an event.",
        "A table whose key neither a DDL of the window nor the rows tell gets no gold unless it is declared.",
        "A default of a new column is not told: older rows have null there.",
    ),
)
