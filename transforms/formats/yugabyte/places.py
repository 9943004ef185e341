"""Where a row message stands in its tablet, and what identifies it there.

The op id (term, index, write_id) is a tablet's own order. One op id may cover a whole batch of rows: the place in the
batch orders them, and what they say tells them apart. BEGIN, DDL and SAFEPOINT may have none; they stand where their
neighbours in the response do.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.formats._yugabyte import ddl, instant, unsigned
from transforms.formats.yugabyte.messages import DATUM
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


def committed(records: Column) -> Column:
    """The records of a response that end something: each COMMIT, and each row that is in no transaction."""

    def ends(record: Column) -> Column:
        is_alone = F.coalesce(record["row_message"]["transaction_id"], F.lit("")) == ""
        is_row = record["op"].isin(*ROWS, "READ")
        return (record["op"] == "COMMIT") | (is_row & is_alone)

    return F.filter(records, ends)


def placed(records: Column) -> Column:
    """The records of a response, each with ``op_id``, its place ``in_batch``, and the op ids ``before`` and ``after``.

    ``in_batch``: minus the number of rows of its op id that come after it. So it is the same where a response begins in
    the middle of the batch, and the longest delivery of a batch has the smallest numbers, which are those that count.
    ``occurrence``: how often the row had said the same under that op id, and then something else; null for never.
    """
    own = F.transform(records, lambda record: F.when(record["op"].isin(*ROWS), op_id(record)))
    every = F.transform(records, op_id)

    def with_neighbours(rows: Column, ids: Column, said: Column) -> Column:
        def one(record: Column, at: Column) -> Column:
            mine = F.get(ids, at)
            before = F.filter(F.slice(ids, F.lit(1), at), lambda id: id.isNotNull())
            after = F.filter(F.slice(ids, at + 1, F.size(ids) - at), lambda id: id.isNotNull())
            needs = mine.isNull()
            return F.struct(
                record["row_message"].alias("row_message"),
                record["op"].alias("op"),
                mine.alias("op_id"),
                F.when(said.isNull(), F.lit(0))
                .otherwise(-_followers(rows, at))
                .cast("bigint")
                .alias("in_batch"),
                F.when(said.isNotNull(), _occurrence(said, at)).alias("occurrence"),
                F.when(needs, F.try_element_at(before, F.lit(-1))).alias("before"),
                F.when(needs, F.get(after, F.lit(0))).alias("after"),
            )

        return F.transform(records, one)

    def with_said(both: Column) -> Column:
        rows = both["rows"]
        named = F.filter(rows, lambda id: id.isNotNull())
        # Mostly each row has an op id of its own.
        said = F.when(
            F.size(F.array_distinct(named)) < F.size(named), F.zip_with(records, rows, _said)
        )
        return let(
            F.struct(said.alias("said")),
            lambda more: with_neighbours(rows, both["ids"], more["said"]),
        )

    return let(F.struct(own.alias("rows"), every.alias("ids")), with_said)


def _followers(rows: Column, at: Column) -> Column:
    mine = F.get(rows, at)
    later = F.slice(rows, at + 2, F.size(rows) - at - 1)
    return F.size(F.filter(later, lambda id: id == mine))


def _said(record: Column, id: Column) -> Column:
    """What a row says, and of which row: the first column of a tuple is one of the key's."""
    message = record["row_message"]
    named = F.filter(
        F.concat(
            F.coalesce(message["new_tuple"], F.array().cast(_tuple())),
            F.coalesce(message["old_tuple"], F.array().cast(_tuple())),
        ),
        lambda one: one["column_name"].isNotNull(),
    )
    whose = F.struct(id, message["table"], F.to_json(F.get(named, F.lit(0))))
    return F.when(id.isNotNull(), F.struct(whose.alias("whose"), F.to_json(message).alias("text")))


def _tuple() -> str:
    return f"array<{ddl(DATUM)}>"


def _occurrence(said: Column, at: Column) -> Column:
    mine = F.get(said, at)
    of_row = F.filter(F.slice(said, F.lit(1), at + 1), lambda one: one["whose"] == mine["whose"])

    def number(texts: Column) -> Column:
        turns = F.filter(
            texts,
            lambda text, i: (
                (text == mine["text"]) & ~F.coalesce(F.get(texts, i - 1) == text, F.lit(False))
            ),
        )
        return F.size(turns) - 1

    found = let(F.transform(of_row, lambda one: one["text"]), number)
    return F.when(found > 0, found)


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
        *[F.coalesce(one, F.lit(0)) for one in instant(read_time())],
    )
    # A commit tells its place; where it does not, it comes after what it follows.
    end = F.coalesce(
        F.concat(F.array(*start), own),
        F.concat(F.array(*start), before, late),
        F.when(F.col("checkpoint.index").isNotNull(), F.concat(F.array(*start), checkpoint, late)),
    )
    op = F.col("op")
    return (
        F.when(op == "READ", read)
        .when(op.isin(*ROWS), at_row)
        .when(op == "COMMIT", end)
        .when(op == "BEGIN", first)
        .otherwise(among)
        .cast("array<bigint>")
    )


def read_time() -> Column:
    """When the snapshot of a READ is of: what the checkpoint tells, which the last response does not; else the row."""
    told = (F.col("checkpoint.snapshot_time"), F.col("message.commit_time"))
    return F.coalesce(*[F.when(unsigned(one) > 0, one) for one in told])


def identity() -> Column:
    """What, with table, operation and images, makes two deliveries of a row message one event."""
    op, tablet = F.col("op"), F.col("tablet")
    place = F.col("position").cast("array<string>")
    own = F.slice(place, 3, 3)
    again = F.col("item.occurrence").cast("string")
    said_again = F.filter(F.array(again), lambda one: one.isNotNull())
    transaction = F.col("transaction_id")
    return (
        F.when(op == "READ", F.array(tablet, F.lit("snapshot"), read_time()))
        .when(op.isin(*ROWS), F.concat(F.array(tablet), own, said_again))
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
        .when((F.col("op") == "COMMIT") & F.col("item.op_id").isNotNull(), F.size("position"))
        .otherwise(F.lit(2))
    )
