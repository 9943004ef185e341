"""Transactions within one window: which of them the window holds whole.

Such a one needs no other window; of the others, what is needed to know when they are complete is kept apart
(``OPEN``). Not here: putting windows together (``transforms/gold/transactions.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transforms.change import TRANSACTION
from transforms.record import COORDINATES
from transforms.silver_columns import repeats

OPEN = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("id", T.StringType(), False),
        T.StructField("event_id", T.StringType(), False),
        T.StructField("effect", T.StringType(), False),
        T.StructField("is_derived", T.BooleanType(), False),
        T.StructField("expected", T.LongType(), True),
        T.StructField("has_begin", T.BooleanType(), True),
        T.StructField("position", T.ArrayType(T.LongType()), False),
        T.StructField("event_at", T.TimestampType(), True),
    ]
)
"""One row per event of a transaction that its window does not hold whole: ``transactions.<feed>``.

``effect``, ``event_id``, ``position``, ``event_at`` as in ``change.CHANGE``; ``id``, ``expected``, ``has_begin`` as in
its ``transaction``.
"""


def with_commits(fated: DataFrame) -> DataFrame:
    """Add ``transaction.commit`` to the events of transactions that their window holds whole."""
    # What is in no transaction is nobody's company: as one group it would all be one task's work.
    alone = F.concat_ws("/", F.lit(""), *COORDINATES, "ordinal")
    same = Window.partitionBy("window", F.coalesce(F.col("transaction.id"), alone))
    kept = F.col("fate") == repeats.CHANGE
    is_commit = kept & (F.col("effect") == "commit")
    is_begin = kept & (F.col("effect") == "begin")
    is_own = kept & ~is_commit & ~is_begin & F.col("derived").isNull()
    # Within a window an event is kept once, so that rows are distinct events.
    commit = F.min(
        F.when(is_commit, F.struct("position", "transaction.expected", "transaction.has_begin"))
    ).over(same)
    whole = F.when(
        commit["expected"].isNotNull(), F.count_if(is_own).over(same) >= commit["expected"]
    ).otherwise(commit["has_begin"] & (F.count_if(is_begin).over(same) > 0))
    parts = [F.col(f"transaction.{name}") for name in TRANSACTION.names if name != "commit"]
    return (
        fated.withColumn("whole_by", F.when(whole, commit["position"]))
        .withColumn(
            "transaction",
            F.when(
                F.col("transaction").isNotNull(),
                F.struct(*parts, F.col("whole_by").alias("commit")),
            ).cast(TRANSACTION),
        )
        .drop("whole_by")
    )


def open_events(fated: DataFrame) -> DataFrame:
    """The events of transactions that their window does not hold whole (see ``OPEN``).

    Those in the base count, too: a transaction does not open again because its changes were compacted.
    """
    kept = F.col("fate") == repeats.CHANGE
    if "in_base" in fated.columns:
        kept = kept | F.col("in_base")
    waiting = fated.where(
        kept & F.col("transaction").isNotNull() & F.col("transaction.commit").isNull()
    )
    return waiting.select(*[_column(field.name).alias(field.name) for field in OPEN.fields])


def _column(name: str) -> Column:
    if name in ("id", "expected", "has_begin"):
        return F.col(f"transaction.{name}")
    return F.col("derived").isNotNull() if name == "is_derived" else F.col(name)
