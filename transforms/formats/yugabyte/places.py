"""Where a row message stands in its tablet, and what identifies it there.

The op id (term, index, write_id) is a tablet's own order. One op id may cover a whole batch of rows: the place in the
batch tells them apart. BEGIN, DDL and SAFEPOINT may have none; they stand where their neighbours in the response do.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.formats._yugabyte import instant
from transforms.gold.ordering import let

AFTER_ALL = 2_147_483_647
"""No write_id is larger: what stands here comes after all of its op."""

ROWS = ("INSERT", "UPDATE", "DELETE", "TRUNCATE")
"""Operations that stand at their op id."""


def op_id(record: Column) -> Column:
    """The record's op id as numbers; null where it has none, or one that is none.

    A commit has write_id 0 and comes after all rows of its transaction.
    """
    told = record["cdc_sdk_op_id"]
    term, index = told["term"].try_cast("bigint"), told["index"].try_cast("bigint")
    write_id = F.coalesce(told["write_id"].try_cast("bigint"), F.lit(0))
    last = F.when(record["op"] == "COMMIT", F.lit(AFTER_ALL)).otherwise(write_id)
    return F.when(term.isNotNull() & index.isNotNull(), F.array(term, index, last))


def placed(records: Column) -> Column:
    """The records of a response, each with ``op_id``, ``in_batch``, and the op ids ``before`` and ``after`` it.

    ``in_batch``: how many rows after the first one of its op id it stands. Only rows are counted, so that it is the
    same where a response begins in the middle of a transaction.
    """
    own = F.transform(records, lambda record: F.when(record["op"].isin(*ROWS), op_id(record)))
    every = F.transform(records, op_id)

    def with_neighbours(rows: Column, ids: Column) -> Column:
        def one(record: Column, at: Column) -> Column:
            mine, of_row = F.get(ids, at), F.get(rows, at)
            before = F.filter(F.slice(ids, F.lit(1), at), lambda id: id.isNotNull())
            after = F.filter(F.slice(ids, at + 1, F.size(ids) - at), lambda id: id.isNotNull())
            needs = mine.isNull()
            return F.struct(
                record["row_message"].alias("row_message"),
                record["op"].alias("op"),
                mine.alias("op_id"),
                F.when(of_row.isNotNull(), at + 1 - F.array_position(rows, of_row))
                .cast("bigint")
                .alias("in_batch"),
                F.when(needs, F.try_element_at(before, F.lit(-1))).alias("before"),
                F.when(needs, F.get(after, F.lit(0))).alias("after"),
            )

        return F.transform(records, one)

    return let(
        F.struct(own.alias("rows"), every.alias("ids")),
        lambda both: with_neighbours(both["rows"], both["ids"]),
    )


def position() -> Column:
    """The event's position; null where it needs an op id and has none."""
    start = [F.lit(EPOCH), F.lit(STREAM)]
    own, before, after = F.col("item.op_id"), F.col("item.before"), F.col("item.after")
    at_row = F.concat(F.array(*start), own, F.array("item.in_batch"))
    late = F.array(F.lit(AFTER_ALL))
    checkpoint = F.array(F.col("checkpoint.term"), F.col("checkpoint.index"))
    # A DDL shows what holds from here on: after what came before it, before what comes after.
    among = F.coalesce(
        F.concat(F.array(*start), own),
        F.concat(F.array(*start), before, late),
        F.concat(F.array(*start), F.slice(after, 1, 2)),
        F.when(F.col("checkpoint.index").isNotNull(), F.concat(F.array(*start), checkpoint, late)),
        F.array(*start),
    )
    begin = F.coalesce(F.slice(own, 1, 2), F.slice(after, 1, 2), checkpoint)
    first = F.concat(F.array(*start), F.filter(begin, lambda one: one.isNotNull()))
    read = F.array(
        F.lit(EPOCH),
        F.lit(SNAPSHOT),
        *[F.coalesce(one, F.lit(0)) for one in instant(F.col("checkpoint.snapshot_time"))],
    )
    op = F.col("op")
    return (
        F.when(op == "READ", read)
        .when(op.isin(*ROWS), at_row)
        .when(op == "COMMIT", F.concat(F.array(*start), own))
        .when(op == "BEGIN", first)
        .otherwise(among)
        .cast("array<bigint>")
    )


def identity() -> Column:
    """What, with table, operation and images, makes two deliveries of a row message one event."""
    op, tablet = F.col("op"), F.col("tablet")
    place = F.col("position").cast("array<string>")
    own = F.slice(place, 3, 3)
    snapshot_time = F.col("checkpoint.snapshot_time")
    transaction = F.col("transaction_id")
    return (
        F.when(op == "READ", F.array(tablet, F.lit("snapshot"), snapshot_time))
        .when(op.isin(*ROWS), F.concat(F.array(tablet), own))
        .when(
            op.isin("BEGIN", "COMMIT") & transaction.isNotNull(),
            F.array(tablet, transaction),
        )
        .when(
            op == "DDL",
            F.concat(F.array(tablet, F.sha2(F.to_json("message.schema"), 256)), place),
        )
        .otherwise(F.concat(F.array(tablet, F.col("message.commit_time")), place))
    )


def settled() -> Column:
    """How many numbers of the position are the same in every delivery."""
    return (
        F.when(F.col("op") == "READ", F.size("position"))
        .when(F.col("op").isin(*ROWS), F.lit(5))
        .when(F.col("op") == "COMMIT", F.size("position"))
        .otherwise(F.lit(2))
    )
