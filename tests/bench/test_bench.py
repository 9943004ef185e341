"""The bench runs at a tiny size; no test depends on a time."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from assets.storage.lake import Layer
from bench.aims import AS_MANY_CHANGES, WINDOW
from bench.lines import drop_to_gold, nothing_new
from bench.lines.one_table import fingerprint
from bench.lines.snapshots import ONE_IN_GONE
from bench.lines.wanted import wanted_lines
from bench.made import drops, row
from bench.made.changes import LOG
from bench.made.restoring import Workspace
from bench.measuring import timed
from bench.rivals import by_default
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
    line = next(wanted_lines(work, SIZES, ["again"]))
    assert line.name == "apply them again"
    sample = timed(spark, line.competitors["floor"](), line.name)
    assert (sample.seconds > 0, sample.jobs not in (0, None), sample.heap not in (0, None)) == (
        True,
        True,
        True,
    )
    silver = work.lake("base").table(Layer.SILVER, "bench").read()
    events = silver.groupBy("event_id").agg(F.collect_set("window").alias("windows"))
    known = events.where(F.size("windows") > 1).count()
    late = silver.where((F.col("window") == drops.WINDOW) & (F.col("log_position")[2] == 4)).count()
    assert known > 0
    assert late > 0


def test_the_textbook_by_spark_s_defaults_makes_the_same_table_in_a_process_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    tables = []
    with closing(wanted_lines(work, SIZES, ["apply"])) as found:
        line = next(found)
        for name in ("textbook", by_default.NAME):
            timed(spark, line.competitors[name](), name)
            gold = next(tmp_path.glob("run_*/gold/bench/item"))
            tables.append(fingerprint(spark.read.format("delta").load(str(gold))))
    assert tables[0] == tables[1]
    assert tables[0][0] > 0


def test_a_second_snapshot_is_timed_beside_as_many_changes_and_removes_what_is_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    (line,) = wanted_lines(work, SIZES, ["snapshot"])
    assert {*line.competitors} == {"weir", AS_MANY_CHANGES}
    for name, rows in (
        ("weir", SIZES.rows - SIZES.rows // ONE_IN_GONE),
        (AS_MANY_CHANGES, SIZES.rows),
    ):
        assert timed(spark, line.competitors[name](), name).seconds > 0
        gold = next(tmp_path.glob("run_*/gold/snapshots/item"))
        assert spark.read.format("delta").load(str(gold)).count() == rows


def test_an_ordinary_day_is_timed_to_its_end(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nothing_new, "MANY", 2)
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    found = {line.name: line for line in wanted_lines(work, SIZES, ["window", "process", "lake"])}
    assert [*found] == [
        "one small window",
        "one small window, weir run",
        "find nothing new, little",
        "find nothing new, 2 times",
    ]
    small = timed(spark, found["one small window"].competitors["weir"](), "small window")
    assert small.jobs == 0
    # Planning starts no job, however much is in bronze.
    for name in ("find nothing new, little", "find nothing new, 2 times"):
        assert timed(spark, found[name].competitors["weir"](), name).jobs == 0
    found["one small window, weir run"].competitors["weir"]()()
    gold = next(tmp_path.glob("run_*/gold/bench/item"))
    newest = spark.read.format("delta").load(str(gold))
    assert newest.where(F.col("_weir_log_position")[2] == LOG).count() > 0


# Great Expectations and what it imports use names that Python is about to drop.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_checks_of_a_window_are_timed_beside_the_window(
    spark: SparkSession, tmp_path: Path
) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    (line,) = wanted_lines(work, SIZES, ["checks"])
    assert {*line.competitors} == {"weir", WINDOW}
    for name, prepare in line.competitors.items():
        assert timed(spark, prepare(), name).seconds > 0
    timed(spark, line.competitors["weir"](), "checks")
    stored = sorted(one.stem for one in tmp_path.glob("run_*/_quality/bench/results/**/*.json"))
    assert stored == ["gold.bench.item", "silver.bench"]


def test_a_drop_is_in_gold_once_the_sensor_s_line_has_timed_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drop_to_gold, "TICK", 1)
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    with closing(wanted_lines(work, SIZES, ["sensor"])) as found:
        line = next(found)
        assert line.is_process
        assert timed(spark, line.competitors["weir"](), line.name).seconds > 0
    gold = spark.read.format("delta").load(str(tmp_path / "watched/warehouse/gold/bench/item"))
    # The one that the daemon's first run brought, and the one that was timed.
    assert sorted(one["id"] for one in gold.select("id").collect()) == [0, 1]
