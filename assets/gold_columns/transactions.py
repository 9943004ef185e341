"""Which transactions are complete, by what all windows together hold of them (docs/change_model.md, Transactions)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def standing(events: DataFrame, unread: Sequence[str]) -> DataFrame:
    """One row per transaction of ``silver.transactions.OPEN`` rows: where it stands.

    ``id``, ``commit`` (its commit's position, null while it is open), ``has_commit``, ``expected``, ``seen`` (distinct
    source events), ``waiting`` (rows), ``first_window`` and ``first_at``. ``unread`` are windows that are known to hold
    drops and were not read.
    """
    is_commit, is_begin = F.col("effect") == "commit", F.col("effect") == "begin"
    is_own = ~is_commit & ~is_begin & ~F.col("is_derived")
    missing = F.array(*[F.lit(window) for window in unread]).cast("array<string>")
    summed = events.groupBy("id").agg(
        F.min(F.when(is_commit, F.struct("position", "expected", "has_begin"))).alias("last"),
        F.collect_set(F.when(is_begin, F.col("window"))).alias("begun_in"),
        F.collect_set(F.when(is_commit, F.col("window"))).alias("ended_in"),
        F.count_distinct(F.when(is_own, F.col("event_id"))).alias("seen"),
        F.count_if(~is_commit & ~is_begin).alias("waiting"),
        F.min("window").alias("first_window"),
        F.min("event_at").alias("first_at"),
    )
    complete = F.when(
        F.col("last.expected").isNotNull(), F.col("seen") >= F.col("last.expected")
    ).otherwise(
        F.when(F.col("last.has_begin"), spanned(missing)).otherwise(all_read_before_end(missing))
    )
    return summed.select(
        "id",
        F.when(complete, F.col("last.position")).alias("commit"),
        F.col("last").isNotNull().alias("has_commit"),
        F.col("last.expected").alias("expected"),
        "seen",
        "waiting",
        "first_window",
        "first_at",
    )


def spanned(missing: Column) -> Column:
    """True where no window is missing from some with a beginning to some with a commit, both included.

    Of those two something was read, but more of them may have landed since.
    """

    def whole(begin: Column, end: Column) -> Column:
        low, high = F.least(begin, end), F.greatest(begin, end)
        return ~F.exists(missing, lambda window: (window >= low) & (window <= high))

    return F.exists("begun_in", lambda begin: F.exists("ended_in", lambda end: whole(begin, end)))


def all_read_before_end(missing: Column) -> Column:
    """True where no window is missing up to some with a commit, that included."""
    return F.exists("ended_in", lambda end: ~F.exists(missing, lambda window: window <= end))


def visible(changes: DataFrame, released: DataFrame | None) -> DataFrame:
    """The changes that count, each at its place, with ``is_new`` true for those of ``released`` that were not before.

    ``changes``: rows that count for gold. ``released``: ``id``, ``commit`` and ``is_new`` of the complete transactions
    that no window holds whole; None where there are none.
    """
    at_once = changes.where(F.col("transaction").isNull() | F.col("transaction.commit").isNotNull())
    found = placed(at_once, F.col("transaction.commit")).withColumn("is_new", F.lit(False))
    if released is None:
        return found
    joined = waiting(changes).join(released, on="id")
    return found.unionByName(placed(joined, F.col("commit")).select(*changes.columns, "is_new"))


def waiting(changes: DataFrame) -> DataFrame:
    """The changes whose transaction no window holds whole, with its ``id``."""
    apart = changes.where(F.col("transaction").isNotNull() & F.col("transaction.commit").isNull())
    return apart.withColumn("id", F.col("transaction.id"))


def placed(changes: DataFrame, commit: Column) -> DataFrame:
    """Changes that take effect at their commit stand there, in their own order."""
    moves = F.coalesce(F.col("transaction.at_commit"), F.lit(False))
    return changes.withColumn(
        "stable_prefix",
        F.when(moves, F.col("stable_prefix") + F.size(commit)).otherwise(F.col("stable_prefix")),
    ).withColumn(
        "position",
        F.when(moves, F.concat(commit, F.col("position"))).otherwise(F.col("position")),
    )
