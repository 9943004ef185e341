"""Attribute operations of decimals at the edge of what they hold, in Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from transforms.gold import operations

WIDE = "decimal(38,10)"
NEARLY_ALL = "9999999999999999999999999999.9999999999"


def test_a_sum_of_wide_decimals_keeps_its_last_digit_and_is_null_where_it_does_not_fit(
    spark: SparkSession,
) -> None:
    cases = [
        ("Add", "0.0000000001", "0.0000000002", "0.0000000003"),
        ("Minus", NEARLY_ALL, "0.0000000009", "9999999999999999999999999999.9999999990"),
        ("Add", NEARLY_ALL, "0.0000000001", None),
        ("Minus", "-" + NEARLY_ALL, "1", None),
    ]
    frame = spark.createDataFrame(
        cases, "operation string, old string, new string, expected string"
    )
    made = frame.select(
        *("operation", "old", "new", "expected"),
        operations.applied(WIDE, F.col("operation"), F.col("old"), F.col("new")).alias("made"),
    ).collect()
    assert len(made) == len(cases)
    for row in made:
        assert row["made"] == row["expected"], row
