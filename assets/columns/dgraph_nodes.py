"""Nodes of Dgraph's graph as wide rows, made from its triples: what a feed declares under ``types``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import gold
from assets.columns.quoting import quoted
from transforms.column_types.registry import UNSIGNED
from transforms.feed.feed import Predicate
from transforms.feed.schema_policies import UNFIT_IN_COLUMN

TABLE: Final = "node_"
"""What the names of tables of nodes begin with."""

KEY: Final = ("namespace", "uid")

_STORED: Final = {
    "int": "bigint",
    "float": "double",
    "bool": "boolean",
    "datetime": "timestamp",
    "uid": UNSIGNED,
    "float32vector": "array<float>",
}
"""The Spark SQL type for each of Dgraph's types; values of other types are texts."""


def column_of(node_type: str, predicate: str) -> str:
    """The column of a predicate: its name without the type's in front, and ``_`` for signs that no column can have."""
    return UNFIT_IN_COLUMN.sub("_", predicate.removeprefix(f"{node_type}."))


def type_of(predicate: Predicate) -> str:
    """The Spark SQL type of a predicate's column."""
    stored = _STORED.get(predicate.type or "", "string")
    return f"array<{stored}>" if predicate.list else stored


def wide(triples: DataFrame, node_type: str, predicates: Sequence[Predicate]) -> DataFrame:
    """One row per node that has any of these predicates: ``namespace``, ``uid``, and a column for each of them.

    A predicate that the node lacks is null; a list's values are sorted.
    """
    mine = triples.where(F.col("predicate").isin([one.name for one in predicates]))
    columns = {column_of(node_type, one.name): _values(one) for one in predicates}
    return (
        mine.groupBy(*KEY)
        .agg(*[column.alias(name) for name, column in columns.items()])
        .select(*KEY, *[F.col(quoted(name)) for name in columns])
    )


def _values(predicate: Predicate) -> Column:
    stored = _STORED.get(predicate.type or "", "string")
    value = F.when(F.col("predicate") == predicate.name, gold.typed(F.col("value"), stored))
    if not predicate.list:
        return F.first(value, ignorenulls=True)
    # Sorted, so that the same triples make the same row.
    found = F.array_sort(F.collect_list(value))
    return F.when(F.size(found) > 0, found)
