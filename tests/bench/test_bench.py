"""The bench runs at a tiny size; no test depends on a time."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from bench import drops, lines, row
from bench.measuring import timed
from bench.restoring import Workspace
from bench.sizes import Sizes
from orchestration.resources import lake_of

SIZES = Sizes(rows=400, changes=300, tables=1, repeats=1)


def test_spark_and_python_spell_the_same_rows(spark: SparkSession) -> None:
    columns = [text.alias(name) for name, text in row.text_columns().items()]
    of_spark = (
        spark.range(0, 30_000_000, 999_983)
        .withColumn("version", (F.col("id") % 7).cast("int"))
        .select("version", *columns)
        .collect()
    )
    expected = [row.texts(int(one["id"]), one["version"]) for one in of_spark]
    assert [{name: one[name] for name in row.COLUMNS} for one in of_spark] == expected


def test_the_textbook_makes_the_same_table_and_what_came_before_is_known_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    # Before it comes to the line, the changes have been applied in both ways and compared.
    line = next(lines.lines(work, SIZES, ["again"]))
    assert line.name == "apply them again"
    sample = timed(spark, line.competitors["floor"](), line.name)
    assert (sample.seconds > 0, sample.jobs > 0, sample.heap > 0) == (True, True, True)
    silver = work.lake("base").table("silver", "bench").read()
    events = silver.groupBy("event_id").agg(F.collect_set("window").alias("windows"))
    known = events.where(F.size("windows") > 1).count()
    late = silver.where((F.col("window") == drops.WINDOW) & (F.col("position")[2] == 4)).count()
    assert known > 0
    assert late > 0
