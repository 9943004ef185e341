"""Which changes of transactions count, and at which position (docs/change_model.md, Transactions).

Put here what Spark works out about them. Not here: which transactions are complete
(``transforms/silver/open_transactions.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def visible(changes: DataFrame, released: DataFrame | None) -> DataFrame:
    """One row per change that counts, at its position; ``is_new``: its transaction has been released by the run.

    ``changes``: rows that count for gold. ``released``: one row per complete transaction that no window holds whole,
    with ``id``, ``commit`` and ``is_new``; None where there are none.
    """
    at_once = changes.where(F.col("transaction").isNull() | F.col("transaction.commit").isNotNull())
    found = at_log_position(at_once, F.col("transaction.commit")).withColumn("is_new", F.lit(False))
    if released is None:
        return found
    joined = waiting(changes).join(released, on="id")
    return found.unionByName(
        at_log_position(joined, F.col("commit")).select(*changes.columns, "is_new")
    )


def waiting(changes: DataFrame) -> DataFrame:
    """The changes whose transaction no window holds whole, with its ``id``."""
    apart = changes.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    return apart.withColumn("id", F.col("transaction.id"))


def at_log_position(changes: DataFrame, commit: Column) -> DataFrame:
    """The changes, those that take effect at their commit moved to its position, in their own order."""
    moves = F.coalesce(F.col("transaction.at_commit"), F.lit(False))
    return changes.withColumn(
        "dedup_prefix",
        F.when(moves, F.col("dedup_prefix") + F.size(commit)).otherwise(F.col("dedup_prefix")),
    ).withColumn(
        "log_position",
        F.when(moves, F.concat(commit, F.col("log_position"))).otherwise(F.col("log_position")),
    )
