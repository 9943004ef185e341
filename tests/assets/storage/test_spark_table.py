"""A table that Spark writes: rows put in place of those with their keys as a MERGE would leave them, without one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.storage import delta_rs, in_process_table, spark_table
from assets.storage.lake import Lake, Layer
from assets.storage.spark_table import SparkTable, with_places
from transforms.errors import TableBusy

pytestmark = pytest.mark.spark

WITH_VECTORS = {"delta.enableDeletionVectors": "true"}

COLUMNS = """cast(1 as tinyint) as tiny, cast(2 as smallint) as small, 3 as whole, cast(4 as bigint) as large,
    cast(5 as decimal(10, 2)) as exact, cast(6 as float) as single, cast(7 as double) as twice, true as yes,
    'a' as text, cast('b' as binary) as bytes, date'2025-11-20' as day, timestamp'2025-11-20 01:02:03' as moment,
    array(1) as some, map('a', 1) as pairs, struct(1 as a, 'b' as b) as struct"""


def made(lake: Lake, count: int = 1000) -> SparkTable:
    """A table of several files, one row per id from 0 on."""
    table = lake.table(Layer.GOLD, "shop", "things")
    rows = lake.spark.range(0, count, 1, 4).select(
        "id",
        F.concat(F.lit("thing "), "id").alias("the-name"),
        F.lit(1).cast("decimal(10,2)").alias("price"),
        F.array(F.lit(1).cast("bigint")).alias("place"),
    )
    table.create(rows, WITH_VECTORS)
    return table


def places(table: SparkTable, rows: DataFrame) -> DataFrame:
    """Where the table's rows with these ids stand."""
    return with_places(table.read()).join(rows.select("id"), on="id", how="left_semi")


def put(table: SparkTable, names: dict[int, str | None]) -> None:
    """These ids get these names; None takes the row away."""
    frame = table.spark.createDataFrame([*names.items()], "id bigint, name string")
    there = frame.where("name IS NOT NULL").withColumnRenamed("name", "the-name")
    table.replace_rows(places(table, frame), there, seen=table.version())


def names(table: SparkTable) -> dict[int, str]:
    return {row["id"]: row["the-name"] for row in table.read().collect()}


def test_rows_are_replaced_added_and_taken_away(lake: Lake) -> None:
    table = made(lake)
    expected = names(table)
    for turn in range(3):
        # The second and the third turn meet rows that stand in files of the turn before, and files with vectors.
        changed: dict[int, str | None] = {n: f"new {turn}" for n in range(turn * 5, 900, 7)}
        changed |= {5000 + turn: "added", 3 + turn: None, 990 + turn: None, 7000: None}
        before = table.version()
        put(table, changed)
        assert table.version() == before + 1
        expected |= {key: name for key, name in changed.items() if name is not None}
        for key, name in changed.items():
            if name is None:
                expected.pop(key, None)
        assert names(table) == expected
        assert table.count() == len(expected)
    # Where there is nothing to do there is no commit.
    put(table, {7000: None, 7001: None})
    assert table.version() == before + 1
    # Another reader sees the same, and so does Delta's own count of what it has.
    there = lake.in_process_table(Layer.GOLD, "shop", "things")
    assert there.read(["id"]).num_rows == there.count() == len(expected)


def test_a_part_of_a_file_has_the_rows_that_all_of_it_has(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process_table, "_BATCH", 40)
    table = made(lake)
    put(table, dict.fromkeys(range(0, 900, 7)))
    there, ids = (
        lake.in_process_table(Layer.GOLD, "shop", "things"),
        pa.schema([("id", pa.int64())]),
    )
    assert there.count() < there.stored_rows
    parts = [*there.batches(ids)]
    assert len(parts) > 2 * len(there.files())
    assert pa.concat_tables(parts)["id"].to_pylist() == there.read(ids)["id"].to_pylist()


def test_columns_that_no_row_has_are_null_and_others_keep_the_type_of_the_table(lake: Lake) -> None:
    table = made(lake, 10)
    rows = table.spark.sql("SELECT 3 AS id, 'three' AS `the-name`, 2.5 AS price")
    table.replace_rows(places(table, rows), rows, seen=table.version())
    found = table.read().where("id = 3").collect()
    assert [(str(row["price"]), row["place"]) for row in found] == [("2.50", None)]
    assert table.read().schema == made(lake, 1).read().schema


def test_a_file_all_of_whose_rows_are_removed_is_no_longer_in_the_table(lake: Lake) -> None:
    table = made(lake, 40)
    put(table, dict.fromkeys(range(10)))
    opened = delta_rs.opened(table.path, table.warehouse)
    assert opened is not None and len(opened.file_uris()) == 3
    assert sorted(names(table)) == [*range(10, 40)]


def test_a_constraint_refuses_the_whole_commit(lake: Lake) -> None:
    table = made(lake, 40)
    lake.spark.sql(
        f"ALTER TABLE delta.`{table.path}` ADD CONSTRAINT is_named CHECK (`the-name` IS NOT NULL)"
    )
    rows = lake.spark.sql("SELECT 1 AS id, CAST(NULL AS string) AS `the-name`")
    with pytest.raises(Py4JJavaError, match="is_named"):
        table.replace_rows(places(table, rows), rows, seen=table.version())
    assert names(table)[1] == "thing 1"


def test_of_two_writers_at_once_delta_takes_one(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(lake, 40)
    shaped = spark_table._shaped

    def late(*frames: object) -> object:
        # Between what the first has read and its commit, another one commits.
        monkeypatch.setattr(spark_table, "_shaped", shaped)
        with ThreadPoolExecutor(1) as other:
            other.submit(put, table, {1: "theirs"}).result()
        return shaped(*frames)  # type: ignore[arg-type]

    monkeypatch.setattr(spark_table, "_shaped", late)
    with pytest.raises(PySparkException, match="DELTA_CONCURRENT_APPEND"):
        put(table, {1: "mine", 2: "mine"})
    assert (names(table)[1], names(table)[2]) == ("theirs", "thing 2")


def test_rows_that_may_have_moved_since_they_were_found_are_left_alone(lake: Lake) -> None:
    table = made(lake, 40)
    seen, rows = table.version(), lake.spark.sql("SELECT 1 AS id, 'mine' AS `the-name`")
    found = places(table, rows).localCheckpoint()
    lake.spark.sql(f"OPTIMIZE delta.`{table.path}`")
    with pytest.raises(TableBusy, match="another run is writing"):
        table.replace_rows(found, rows, seen=seen)
    assert names(table)[1] == "thing 1"


def test_the_columns_of_a_table_are_read_from_its_log(lake: Lake) -> None:
    table = lake.table(Layer.GOLD, "shop", "things")
    assert table.schema().names == []
    lake.spark.sql(f"SELECT {COLUMNS}").write.format("delta").save(table.path)
    assert [(one.name, one.dataType) for one in table.schema()] == [
        (one.name, one.dataType) for one in table.read().schema
    ]
