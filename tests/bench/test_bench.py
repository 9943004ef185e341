"""The bench runs at a tiny size; no test of Weir depends on a time."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets import current_state
from bench import base, drops, lines, row
from bench.measuring import timed
from bench.restoring import Workspace
from bench.sizes import Sizes
from orchestration.resources import lake_of
from transforms.feed import Feed

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


def test_every_line_runs_and_the_textbook_makes_the_same_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    names = []
    for line in lines.lines(work, SIZES, ["ingest", "again", "nothing", "tables"]):
        names.append(line.name)
        for prepare in line.competitors.values():
            sample = timed(spark, prepare(), line.name)
            assert sample.seconds > 0
            assert sample.jobs > 0
            assert sample.heap > 0
    assert names == ["landing to silver", "apply them again", "find nothing new", "small tables"]


def test_weir_knows_late_and_repeated_changes_of_the_base_as_such(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    feed = Feed("bench", "arcion_s3_json", str(tmp_path / "drops"), tables={"item": lines.TABLE})
    update = drops.Change("update", 5, drops.LOG, 100, 1, 2)
    known = drops.Change("update", 10, drops.BASE_LOG, 10, 0, 1)
    late = drops.Change("update", 15, drops.LATE_LOG, 300, 0, 3)
    drops.lay(tmp_path / "drops", "item", [update, known, late])
    lake = work.fresh()
    base.write(lake, feed, lines.TABLE, 100)
    before = lines.fingerprint(lake.table("gold", "bench", "item").read().where("id <> 5"))
    lines.bring(lake, feed)
    done = current_state.apply(lake, feed, lines.TABLE, lines.WINDOWS)
    assert not done.rebuilt
    assert (done.changes, done.repeats, done.late_keys) == (3, 1, 1)
    assert (done.rows, done.tombstones) == (100, 1)
    after = lake.table("gold", "bench", "item").read()
    assert lines.fingerprint(after.where("id <> 5")) == before
    (changed,) = after.where("id = 5").collect()
    assert changed["name"] == row.texts(5, 2)["name"]
