"""Spark with Delta's two settings and jars, and nothing of Weir's: run in an environment that has pyspark."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cells import answer
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", os.environ["DELTA_JARS"])
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)


def read(path: str) -> Iterable[Mapping[str, Any]]:
    """All rows of the table, which is named by its path."""
    found = spark.sql(f"SELECT * FROM delta.`{path.replace('`', '``')}`").collect()
    return [row.asDict() for row in found]


answer(read)
