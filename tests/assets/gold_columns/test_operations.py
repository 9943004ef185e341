"""Attribute operations of decimals and unsigned numbers at the edge of what they hold, in Spark."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.gold_columns import operations

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


def test_an_unsigned_number_keeps_all_its_64_bits_and_wraps_around(spark: SparkSession) -> None:
    most, high = 2**64 - 1, 2**63
    numbers = [0, 1, 2**32 - 1, 2**32, 2**32 + 1, high - 1, high, high + 5, most - 1, most]
    meant: dict[str, Callable[[int, int], int]] = {
        "Add": lambda one, other: (one + other) % 2**64,
        "Minus": lambda one, other: (one - other) % 2**64,
        "And": lambda one, other: one & other,
        "Or": lambda one, other: one | other,
        "Max": max,
        "Min": min,
    }
    cases = [
        (name, str(one), str(other), str(meaning(one, other)))
        for name, meaning in meant.items()
        for one in numbers
        for other in numbers
    ]
    frame = spark.createDataFrame(
        cases, "operation string, old string, new string, expected string"
    )
    made = operations.applied(operations.UNSIGNED, F.col("operation"), F.col("old"), F.col("new"))
    wrong = frame.withColumn("made", made).where("NOT made <=> expected").collect()
    assert wrong == []
    assert set(meant) < set(operations.fitting(operations.UNSIGNED))
