"""Which columns a row without names has: those that its table had in the row's window.

Not here: how a row is cut and read (``arcion_s3_csv``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed

VALIDITY = ("of_table", "first", "until")


def layouts(bronze: DataFrame, feed: Feed) -> DataFrame:
    """One row per declared table and change of its columns: those of a snapshot row and of the triplets, in order.

    It is for windows from ``first`` on, and before ``until``: a column may have come later (``since``).
    """
    rows = []
    for name, table in feed.tables.items():
        starts = ["", *sorted(set(table.since.values()))]
        for first, until in zip(starts, [*starts[1:], None], strict=True):
            known = table.at(first)
            rows.append((name, first, until, list(known.columns), list(known.cdc_columns)))
    return bronze.sparkSession.createDataFrame(
        rows,
        "of_table string, first string, until string, columns array<string>, cdc_columns array<string>",
    )


def in_layout() -> Column:
    """True where a layout is for a record."""
    has_begun = F.col("window") >= F.col("first")
    ends_later = F.coalesce(F.col("window") < F.col("until"), F.lit(True))
    return (F.col("object_table") == F.col("of_table")) & has_begun & ends_later
