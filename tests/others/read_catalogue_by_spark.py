"""Spark with a Hive Metastore, Delta's settings and jars, and nothing of Weir's: it reads tables by their names.

Names stand on standard input, one a line; of each the rows, and what ``DESCRIBE TABLE EXTENDED`` says, are printed.
"""

from __future__ import annotations

import json
import os
import sys

from cells import rows
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", os.environ["DELTA_JARS"])
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.hadoop.hive.metastore.uris", os.environ["METASTORE"])
    .config("spark.ui.enabled", "false")
    .enableHiveSupport()
    .getOrCreate()
)
found = {}
for name in sys.stdin.read().splitlines():
    table = spark.sql(f"SELECT * FROM {name}")
    said = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    found[name] = {
        "rows": rows(row.asDict() for row in table.collect()),
        "says": {row["col_name"]: [row["data_type"], row["comment"]] for row in said},
    }
print(json.dumps(found))
