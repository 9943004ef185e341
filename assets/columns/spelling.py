"""Columns that gold spells differently from the source: the expressions that rename them, in both directions.

Put here what renames columns within maps. Not here: which columns those are, and how they are spelled
(``transforms/feed/column_names.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.change_kinds import ScopeShape
from transforms.feed.column_names import spelled
from transforms.feed.feed import Table

IMAGES = ("before", "after", "attribute_ops", "scope")


def in_gold(changes: DataFrame, table: Table) -> DataFrame:
    """Silver's changes of one table with their columns under gold's names."""
    names = both(table)
    if not names:
        return changes
    return changes.withColumns({image: _renamed(F.col(image), names) for image in IMAGES})


def shape_in_gold(shape: ScopeShape, table: Table) -> ScopeShape:
    """The shape of range deletes with its columns under gold's names, in the order of these."""
    names = sorted(table.spelled.get(name, name) for name in shape.columns)
    return ScopeShape(tuple(names), shape.of_stream)


def base_in_gold(base: DataFrame, table: Table) -> DataFrame:
    """Base rows with their columns under gold's names."""
    return _with_state(base, both(table))


def base_of_source(base: DataFrame, table: Table) -> DataFrame:
    """Base rows with their columns under the source's names: gold's may change when the table gets a column."""
    return _with_state(base, {gold: source for source, gold in both(table).items()})


def both(table: Table) -> dict[str, str]:
    """Every column name that gold replaces, with gold's name; one that is another's new name is replaced, too."""
    taken = [name for name in table.spelled.values() if name not in table.spelled]
    return {**table.spelled, **{name: spelled([name])[name] for name in taken}}


def _with_state(base: DataFrame, names: Mapping[str, str]) -> DataFrame:
    if not names:
        return base
    columns = _renamed(F.col("state.columns"), names)
    return base.withColumn(
        "state", F.when(F.col("state").isNotNull(), F.col("state").withField("columns", columns))
    )


def _renamed(image: Column, names: Mapping[str, str]) -> Column:
    new = F.create_map(*[F.lit(one) for one in chain(*names.items())])
    return F.transform_keys(image, lambda name, _: F.coalesce(F.try_element_at(new, name), name))
