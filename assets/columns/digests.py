"""Digests of rows, by which two gold tables are compared.

Put here what a digest is made of. Not here: which tables are compared (``assets/audit/comparing.py``,
``assets/upkeep/history_by_spark.py``), and digests that are made in this process (``assets/audit/comparing.py``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.gold import newest_tombstones
from assets.columns.quoting import quoted
from assets.columns.types import AS_JSON
from transforms.feed.feed import Table
from transforms.gold.columns import (
    BEGAN_BY,
    EVENT_AT,
    EVENT_ID,
    LOG_POSITION,
    OF_VERSION,
    VALID_FROM,
    key_columns,
    tombstone_columns,
)


def of_rows(gold: DataFrame, table: Table) -> DataFrame:
    """One row per gold row: ``key`` (what tells it apart, as JSON) and ``digest`` (SHA-256 over all its columns)."""
    own = key_columns(table)
    names = dict.fromkeys((*own, *table.columns, LOG_POSITION, EVENT_ID, EVENT_AT))
    return _digested(gold, own, list(names))


def of_tombstones(tombstones: DataFrame, gold: DataFrame, table: Table) -> DataFrame:
    """One row per key that is deleted, by its newest tombstone: ``key`` and ``digest`` as in ``of_rows``.

    Older tombstones, and those of keys that are present again, may be dropped by compaction at any time.
    """
    own = tombstone_columns(table)
    newest = newest_tombstones(tombstones, table)
    same = [newest[name].eqNullSafe(gold[name]) for name in own]
    absent = newest.join(gold, on=same, how="left_anti")
    return _digested(absent, own, [*own, LOG_POSITION, EVENT_ID, EVENT_AT])


def of_versions(history: DataFrame, table: Table) -> DataFrame:
    """One row per version of a table's history: ``key`` and ``digest`` as in ``of_rows``."""
    own = (*table.key, VALID_FROM, BEGAN_BY)
    return _digested(history, own, list(dict.fromkeys((*own, *table.columns, *OF_VERSION))))


def _digested(rows: DataFrame, own: tuple[str, ...], names: list[str]) -> DataFrame:
    key = F.to_json(F.struct(*[F.col(quoted(name)) for name in own]), AS_JSON)
    # The order in which a map holds its entries means nothing.
    whole = F.to_json(F.struct(*[_ordered(rows, name) for name in names]), AS_JSON)
    return rows.select(key.alias("key"), F.sha2(whole, 256).alias("digest"))


def _ordered(rows: DataFrame, name: str) -> Column:
    column = F.col(quoted(name))
    if rows.schema[name].dataType.typeName() == "map":
        return F.array_sort(F.map_entries(column)).alias(name)
    return column


def of_table(digests: DataFrame) -> DataFrame:
    """One row for all: ``rows``, their number, and ``digest``, which does not depend on their order."""
    # Sums of parts of the digests do not depend on order, and a row that comes twice counts twice.
    part = F.conv(F.substring("digest", 1, 12), 16, 10).cast("decimal(38,0)")
    other = F.conv(F.substring("digest", 13, 12), 16, 10).cast("decimal(38,0)")
    return digests.agg(
        F.count("*").alias("rows"),
        F.sha2(F.concat_ws("/", F.count("*"), F.sum(part), F.sum(other)), 256).alias("digest"),
    )


def differing(ours: DataFrame, theirs: DataFrame) -> DataFrame:
    """One row per key whose digests differ: ``key``, and whether each side has it (``ours``, ``theirs``)."""
    one = ours.select("key", F.col("digest").alias("ours"))
    other = theirs.select("key", F.col("digest").alias("theirs"))
    return (
        one.join(other, on="key", how="full_outer")
        .where(~F.col("ours").eqNullSafe(F.col("theirs")))
        .select(
            "key",
            F.col("ours").isNotNull().alias("ours"),
            F.col("theirs").isNotNull().alias("theirs"),
        )
    )
