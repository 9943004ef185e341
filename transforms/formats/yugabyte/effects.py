"""What a row message does, and why one cannot be taken.

Not here: the values of its tuples (``messages``), and where it stands (``places``).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import TEXTS, TRANSACTION
from transforms.formats import _yugabyte
from transforms.formats import _yugabyte_checkpoints as checkpoints
from transforms.formats.spec import fault
from transforms.formats.yugabyte import messages, places
from transforms.schema_changes import DROP_COLUMN

OPERATIONS = {
    **{"0": "INSERT", "1": "UPDATE", "2": "DELETE", "3": "BEGIN", "4": "COMMIT", "5": "DDL"},
    **{"6": "TRUNCATE", "7": "READ", "8": "SAFEPOINT"},
}
"""RowMessage.Op by number; UNKNOWN (-1) is what a server says that does not know itself."""


def operation_fault() -> Column:
    """An operation that is missing or not known."""
    told = F.col("message.op")
    unheard_of = f" is not known; known: {', '.join(OPERATIONS.values())}, and 0 to 8"
    return F.when(
        F.col("message").isNull() | told.isNull(),
        fault("missing_field", "the row message has no op"),
    ).when(F.col("op").isNull(), fault("unknown_operation", "op ", told, unheard_of))


def row_fault() -> Column:
    """Why a row message of a known operation cannot be read, or put in order."""
    tuples = [F.col("new"), F.col("old"), F.col("own_key")]
    strange = F.coalesce(*[messages.unread_value(one) for one in tuples])
    twice = [F.size(F.array_distinct(messages.names(one))) < F.size(one) for one in tuples]
    op = F.col("op")
    placeless = F.coalesce(F.col("place"), F.array()).cast("array<bigint>")
    return (
        F.when(
            op.isin(*places.ROWS, "COMMIT") & (F.size(placeless) < 3),
            fault(
                "missing_field",
                op,
                " has no cdc_sdk_op_id with term and index: it has no place in its tablet",
            ),
        )
        .when(
            strange.isNotNull(),
            fault(
                "unread_value",
                "column ",
                strange["name"],
                " comes as ",
                strange["kind"],
                ", which is not read",
            ),
        )
        .when(
            twice[0] | twice[1] | twice[2],
            fault("column_twice", "a tuple names a column twice: ", F.to_json("message.new_tuple")),
        )
    )


def operation() -> Column:
    """What the source did, as Weir's other formats call it."""
    op = F.col("op")
    return (
        F.when(F.col("is_note"), F.lit(checkpoints.CHECKPOINT))
        .when(F.col("dropped").isNotNull(), F.lit(DROP_COLUMN))
        .when(
            (op == "DDL") & _yugabyte.filled(F.col("message.new_table_name")).isNotNull(),
            F.lit("rename_table"),
        )
        .otherwise(F.lower(op))
    )


def effect() -> Column:
    """An insert puts a whole row, an update merges what it says: the record type cannot be told from a tuple."""
    op = F.col("op")
    return (
        F.when(F.col("is_note") | (op == "SAFEPOINT"), F.lit("note"))
        .when(op.isin("BEGIN", "COMMIT"), F.lower(op))
        .when(op.isin("DELETE", "TRUNCATE"), F.lit("remove"))
        .when((op == "UPDATE") | F.col("dropped").isNotNull(), F.lit("merge"))
        .when(op == "DDL", F.lit("note"))
        .otherwise(F.lit("put"))
    )


def after() -> Column:
    """What a row message says of the new row; of a dropped column that it is null; of a response its checkpoint."""
    nothing = F.create_map().cast(TEXTS)
    return F.when(
        F.col("readable"),
        F.when(F.col("is_note"), checkpoints.image())
        .when(F.col("dropped").isNotNull(), F.col("dropped"))
        .when(is_of_row(), messages.image(F.col("new"), F.col("texts")))
        .otherwise(nothing),
    )


def before() -> Column:
    """The old row as far as it is told, with the key's values where no tuple has them."""
    told = F.concat(messages.names(F.col("new")), messages.names(F.col("old")))
    unsaid = F.filter("own_key", lambda one: ~F.array_contains(told, one["name"]))
    return F.when(
        F.col("readable"),
        F.when(
            is_of_row() & ~F.col("op").isin("INSERT", "READ"),
            messages.image(F.concat(F.col("old"), unsaid), F.col("texts")),
        ).otherwise(F.create_map().cast(TEXTS)),
    )


def is_of_row() -> Column:
    """True for a message of one row: what stands in the tuples of others is nothing."""
    return F.coalesce(F.col("op").isin("INSERT", "UPDATE", "DELETE", "READ"), F.lit(False))


def transaction() -> Column:
    """The transaction that a row message is part of: a transaction of the cluster is one per tablet."""
    is_part = (
        F.col("op").isin(*places.ROWS, "BEGIN", "COMMIT") & F.col("transaction_id").isNotNull()
    )
    none = F.lit(None)
    return F.when(
        is_part,
        F.struct(
            F.concat_ws("/", "tablet", "transaction_id").alias("id"),
            none.cast("bigint").alias("expected"),
            F.lit(True).alias("has_begin"),
            F.lit(False).alias("at_commit"),
            none.cast("array<bigint>").alias("commit"),
        ),
    ).cast(TRANSACTION)
