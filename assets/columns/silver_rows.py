"""Which rows of silver count for gold, and which wait: every reader of silver asks this module.

Silver keeps a row of whatever a record said: changes, but also begins, commits and notes, which name a table and change
nothing in it, scoped deletes that wait for a decision, and changes of tables that nothing declares. Put here a
condition on silver's rows. Not here: which of the changes that count are visible yet
(``assets/columns/transactions.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns.silver import KEY_TEXT
from transforms.change import CONTROL, HOLD

BETWEEN: Final = "\x1f"
"""The sign between the parts of a key in ``key_text``."""
MOST_KEYS: Final = 1_000
"""How many keys are looked for by their texts at most: of more, most pages of a file have one."""


def count_for_gold() -> Column:
    """True for a row that changes a gold table, now or at its transaction's commit."""
    return ~F.col("effect").isin(HOLD, *CONTROL) & F.col("declared").isNotNull()


def are_of(name: str, declared: str | None = None) -> Column:
    """True for the rows of one gold table that count; ``declared``: those of this declared table only.

    Changes of a table that the feed does not declare have no key, and wait, even if the name is a gold table's.
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
    """``key_text`` of a key in this process."""
    parts = [part for part in key if part is not None]
    return BETWEEN.join(parts) if len(parts) == len(key) else None


def may_be_of(texts: Collection[str | None]) -> Column:
    """False only for rows of other keys: Parquet's pages know their least and greatest text, and can be passed over."""
    return F.col(KEY_TEXT).isNull() | F.col(KEY_TEXT).isin([*texts])
