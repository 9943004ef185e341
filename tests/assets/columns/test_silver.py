"""Conditions on silver's rows, asked of a real table."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.columns.layers import KEY_TEXT
from assets.columns.silver import may_be_of
from assets.gold.silver_by_spark import MOST_KEYS


def test_as_many_keys_as_are_named_at_all_are_found(spark: SparkSession, tmp_path: Path) -> None:
    place, every = str(tmp_path / "rows"), 97
    key = F.concat(F.lit("a person's key "), F.col("id"))
    text = F.when(F.col("id") > 0, key).alias(KEY_TEXT)
    spark.range(MOST_KEYS * every).select("id", text).write.format("delta").save(place)
    asked = [f"a person's key {every * number}" for number in range(1, MOST_KEYS)]
    found = spark.read.format("delta").load(place).where(may_be_of([None, *asked])).collect()
    # The key that a part of is null may be any.
    assert sorted(row["id"] for row in found) == [*range(0, MOST_KEYS * every, every)]
