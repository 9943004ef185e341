"""What a record of xCluster does, where it stands, and why one cannot be taken.

A record stands at its hybrid time; one of a transaction at its commit's, which the APPLY tells, in the order of its
own.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change import EPOCH, STREAM, TEXTS, TRANSACTION
from transforms.formats import _yugabyte
from transforms.formats import _yugabyte_checkpoints as checkpoints
from transforms.formats.spec import Remark, fault, remarks
from transforms.formats.yugabyte_xcluster import values

NOT_BASE64 = Remark(
    "not_base64",
    "bytes_are_base64",
    "Names of columns and texts are base64, as bytes are in JSON.",
    "They were taken as they stand; look at how the client writes bytes. A text that happens to be base64 is misread.",
)

OPERATIONS = {
    **{"1": "WRITE", "2": "DELETE", "3": "APPLY"},
    **{"4": "SPLIT_OP", "5": "CHANGE_METADATA"},
    **{"6": "TRANSACTION_COMMITTED", "7": "TRANSACTION_CREATED"},
}
"""CDCRecordPB.OperationType by number; those above 3 came later and change no row."""

ROWS = ("WRITE", "DELETE")


def events(rows: DataFrame) -> DataFrame:
    """The rows as events, with what each does."""
    is_note, op = F.col("is_note"), F.col("op")
    start = F.array(F.lit(EPOCH), F.lit(STREAM))
    own = F.when(op == "APPLY", F.concat(start, F.col("commit_at"))).otherwise(
        F.concat(start, F.col("at"), F.array(F.col("item.at")))
    )
    nothing = F.create_map().cast(TEXTS)
    every = F.concat(F.col("of_key"), F.col("of_changes"))
    return (
        rows.withColumn("fault", F.coalesce("fault", F.when(~is_note, record_fault())))
        .withColumn("catalog", F.lit(None).cast("string"))
        .withColumn("schema", F.lit(None).cast("string"))
        .withColumn("name", F.when(~is_note, F.col("named")))
        .withColumn(
            "operation", F.when(is_note, F.lit(checkpoints.CHECKPOINT)).otherwise(F.lower(op))
        )
        .withColumn(
            "effect",
            F.when(op == "WRITE", F.lit("merge"))
            .when(op == "DELETE", F.lit("remove"))
            .when(op == "APPLY", F.lit("commit"))
            .otherwise(F.lit("note")),
        )
        .withColumn(
            "position", F.when(is_note, checkpoints.position()).otherwise(own.cast("array<bigint>"))
        )
        .withColumn(
            "settled", F.size("position") - F.when(is_note | (op == "APPLY"), 0).otherwise(1)
        )
        .withColumn(
            "identity",
            F.when(is_note, checkpoints.identity())
            .when(op == "APPLY", F.array(F.col("tablet"), F.col("transaction_id")))
            .otherwise(
                F.concat(F.array("tablet"), F.slice("position", 3, 2).cast("array<string>"))
            ),
        )
        .withColumn("readable", F.col("fault").isNull())
        .withColumn(
            "after",
            F.when(
                F.col("readable"),
                F.when(is_note, checkpoints.image())
                .when(op == "WRITE", values.image(every))
                .otherwise(nothing),
            ),
        )
        .withColumn(
            "before",
            F.when(
                F.col("readable"),
                F.when(op == "DELETE", values.image(F.col("of_key"))).otherwise(nothing),
            ),
        )
        .withColumn("stream", F.col("tablet"))
        .withColumn("transaction", transaction())
        .withColumn("derived", F.when(is_note, F.lit(checkpoints.CHECKPOINT)))
        .withColumn("segment", F.lit(None).cast("bigint"))
        .withColumn(
            "event_at",
            F.coalesce(
                _yugabyte.moment(F.col("record.transaction_state.commit_hybrid_time")),
                _yugabyte.moment(F.col("record.time")),
            ),
        )
        .withColumn("extracted_at", F.lit(None).cast("timestamp"))
        .withColumn("remarks", remarks(not_base64=F.exists(every, lambda one: one["is_plain"])))
    )


def record_fault() -> Column:
    """Why a record cannot be read, or put in order."""
    said, op = F.col("record.operation"), F.col("op")
    every = F.concat(F.col("of_key"), F.col("of_changes"))
    names = F.transform(every, lambda one: one["name"])
    strange = F.get(F.filter(every, lambda one: one["is_unread"]), F.lit(0))
    unheard_of = f" is not known; known: {', '.join(OPERATIONS.values())}, and 1 to 7"
    placeless = F.when(op == "APPLY", F.col("commit_at")).otherwise(F.col("at"))
    return (
        F.when(said.isNull(), fault("missing_field", "the record has no operation"))
        .when(op.isNull(), fault("unknown_operation", "operation ", said, unheard_of))
        .when(
            F.exists(placeless, lambda one: one.isNull()),
            fault(
                "missing_field",
                op,
                " has no hybrid time: time ",
                F.col("record.time"),
                ", commit_hybrid_time ",
                F.col("record.transaction_state.commit_hybrid_time"),
            ),
        )
        .when(
            (op == "APPLY") & F.col("transaction_id").isNull(),
            fault("missing_field", "APPLY names no transaction"),
        )
        .when(
            op.isin(*ROWS) & (F.size(F.array_distinct(names)) < F.size(names)),
            fault(
                "column_twice", "key and changes name a column twice: ", F.array_join(names, ", ")
            ),
        )
        .when(
            op.isin(*ROWS) & strange.isNotNull(),
            fault(
                "unread_value",
                "column ",
                strange["name"],
                " comes as ",
                strange["kind"],
                ", which is not read",
            ),
        )
    )


def transaction() -> Column:
    """The transaction of an intent, or of the APPLY at which its intents take effect."""
    is_part = F.col("op").isin(*ROWS, "APPLY") & F.col("transaction_id").isNotNull()
    return F.when(
        is_part,
        F.struct(
            F.concat_ws("/", "tablet", "transaction_id").alias("id"),
            F.lit(None).cast("bigint").alias("expected"),
            F.lit(False).alias("has_begin"),
            F.lit(True).alias("at_commit"),
            F.lit(None).cast("array<bigint>").alias("commit"),
        ),
    ).cast(TRANSACTION)
