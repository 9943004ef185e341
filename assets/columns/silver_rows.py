"""Which rows of silver count for gold, and which wait: the one place that says so, and every reader of silver asks it.

Silver keeps a row of whatever a record said: changes, but also begins, commits and notes, which name a table and change
nothing in it, scoped deletes that wait for a decision, and changes of tables that nothing declares. Not here: which of
the changes that count are visible yet (``assets/columns/transactions.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.silver import KEY_TEXT
from transforms.change import CONTROL, HOLD

BETWEEN: Final = "\x1f"
"""What stands between the parts of a key in ``key_text``."""
MOST_KEYS: Final = 1_000
"""So many keys are looked for by their texts at most; of more, most pages of a file have one."""


def count_for_gold() -> Column:
    """True for a row that changes a gold table, now or at its transaction's commit."""
    return ~F.col("effect").isin(HOLD, *CONTROL) & F.col("declared").isNotNull()


def are_of(name: str, declared: str | None = None) -> Column:
    """True for the rows of one gold table that count; ``declared``: those of this declared table only.

    What the feed does not declare has no key, and waits, even under a name that gold has.
    """
    mine = (F.col("table") == name) & count_for_gold()
    return mine if declared is None else mine & (F.col("declared") == declared)


def are_held(name: str | None = None) -> Column:
    """True for scoped deletes that wait for a decision; ``name``: those of one gold table."""
    held = F.col("effect") == HOLD
    return held if name is None else held & (F.col("table") == name)


def with_key_text(silver: DataFrame) -> DataFrame:
    """Silver with its ``key_text``: a table that only an earlier version of Weir has written has none."""
    if KEY_TEXT in silver.columns:
        return silver
    return silver.withColumn(KEY_TEXT, F.lit(None).cast("string"))


def key_text(key: Column) -> Column:
    """The parts of a key in one text; null where one of them is, as in a table without a key."""
    has_null = F.exists(key, lambda part: part.isNull())
    return F.when(~has_null, F.array_join(key, BETWEEN))


def text_of(key: Sequence[str | None]) -> str | None:
    """The same of a key at hand."""
    parts = [part for part in key if part is not None]
    return BETWEEN.join(parts) if len(parts) == len(key) else None


def may_be_of(texts: Collection[str | None]) -> Column:
    """False for rows that are of other keys than these for sure: Parquet's pages tell between which texts they lie."""
    return F.col(KEY_TEXT).isNull() | F.col(KEY_TEXT).isin([*texts])
