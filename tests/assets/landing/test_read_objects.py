"""Landed objects become bronze rows inside Spark's tasks, whole, bounded and with clear errors."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrameReader, Row, SparkSession

from assets.columns.bronze import BRONZE
from assets.landing.landings import open_landing
from assets.landing.objects import LandedObject
from assets.landing.read_objects import packed, read_objects
from assets.landing.spark_source import raise_clearly
from tests.services.seaweed import Store
from transforms.errors import UnknownHeader, UnreadableLanding
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import MaskKey
from transforms.record import DEFAULT_LIMITS, Limits, Record

REGION = Table(
    name="region",
    key=("r_regionkey",),
    columns={"r_regionkey": "int", "r_name": "string"},
    cdc_columns=("r_name", "r_regionkey"),
)


def feed(landing: str | Path, source_format: str = "arcion_s3_json") -> Feed:
    return Feed(name="tpch", format=source_format, landing=str(landing), tables={"region": REGION})


def write(root: Path, objects: dict[str, bytes]) -> None:
    for name, data in objects.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def rows_of(spark: SparkSession, given: Feed) -> list[Row]:
    objects = list(open_landing(given).list())
    with raise_clearly():
        rows: list[Row] = read_objects(spark, given, objects).collect()
    return sorted(rows, key=lambda row: (row["object"], row["byte_offset"]))


def landed(name: str, size: int, window: str = "2026-11-20T00") -> LandedObject:
    return LandedObject(name, "1", size, datetime(2026, 11, 20, tzinfo=UTC), window)


def test_the_plan_of_a_query_tells_tasks_what_to_read_and_no_secret(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, str] = {}
    option = DataFrameReader.option

    def noted(self: DataFrameReader, name: str, value: str) -> DataFrameReader:
        options[name] = value
        return option(self, name, value)

    monkeypatch.setattr(DataFrameReader, "option", noted)
    masked = replace(feed(tmp_path), mask_key=MaskKey("not-for-plans"))
    read_objects(spark, masked, [landed("a.json", 3)])
    plan = zlib.decompress(base64.b64decode(options["plan"]))
    assert b"a.json" in plan
    assert b"not-for-plans" not in plan


def test_every_object_is_in_one_part_and_parts_are_even() -> None:
    mega = 1 << 20
    objects = [landed(f"{n}", size * mega) for n, size in enumerate([9, 1, 1, 4, 5, 4, 3, 3])]
    parts = packed(objects, 3)
    assert sorted(one.name for part in parts for one in part) == [str(n) for n in range(8)]
    assert sorted(sum(one.size for one in part) // mega for part in parts) == [9, 10, 11]


def test_there_are_no_more_parts_than_objects_and_none_is_empty() -> None:
    assert packed([landed("a", 0), landed("b", 0)], 8) == [(landed("a", 0),), (landed("b", 0),)]
    assert [len(part) for part in packed([landed(str(n), 0) for n in range(100)], 4)] == [25] * 4


def test_of_many_windows_each_is_in_one_part() -> None:
    def parts_of(sizes: Sequence[int]) -> tuple[dict[str, set[int]], list[int]]:
        """In which parts each window is, and the parts' sizes."""
        objects = [
            landed(f"{hour}/{number}", size << 10, f"2026-11-20T{hour:02}")
            for hour, size in enumerate(sizes)
            for number in range(10)
        ]
        parts = packed(objects, 4)
        assert sorted(one.name for part in parts for one in part) == sorted(
            one.name for one in objects
        )
        found: dict[str, set[int]] = {}
        for at, part in enumerate(parts):
            for one in part:
                found.setdefault(one.window, set()).add(at)
        return found, [sum(one.size for one in part) for part in parts]

    windows, sizes = parts_of([50 + hour for hour in range(24)])
    assert {len(parts) for parts in windows.values()} == {1}
    assert max(sizes) < 1.1 * min(sizes)
    # Five alike would be two for one task and one for each of the others.
    windows, sizes = parts_of([50] * 5)
    assert max(sizes) < 1.1 * min(sizes)
    # Nobody waits for one that has most of them all: its objects are shared out.
    windows, sizes = parts_of([1] * 10 + [5_000] + [1] * 10)
    assert len(windows["2026-11-20T10"]) == 4
    assert max(sizes) < 1.6 * min(sizes)


def test_records_become_bronze_rows(spark: SparkSession, tmp_path: Path) -> None:
    name = "region/2026-11-20/03/a.json"
    write(tmp_path, {name: b'{"a":"\xff"}\n{"a" 2}\n'})
    (one,) = open_landing(feed(tmp_path)).list()
    place = {
        "window": "2026-11-20T03",
        "object": name,
        "generation": one.generation,
        **dict.fromkeys(("header", "key", "headers")),
    }
    frame = read_objects(spark, feed(tmp_path), [one])
    first, second = sorted(frame.collect(), key=lambda row: row["line"])
    defect = "malformed JSON: Expecting ':' delimiter at line 2 column 6"
    assert [(field.name, field.dataType) for field in frame.schema] == [
        (field.name, field.dataType) for field in BRONZE
    ]
    assert first.asDict() | {"landed_at": None} == place | {
        **{"line": 1, "byte_offset": 0, "payload": b'{"a":"\xff"}', "defect": None},
        "landed_at": None,
    }
    assert second.asDict() | {"landed_at": None} == place | {
        **{"line": 2, "byte_offset": 10, "payload": b'{"a" 2}', "defect": defect},
        "landed_at": None,
    }
    epoch = frame.selectExpr("unix_micros(landed_at) AS at").first()
    assert epoch is not None
    assert abs(epoch["at"] / 1e6 - one.modified_at.timestamp()) < 0.001


def test_an_object_without_records_leaves_one_row(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {"empty.json": b"", "blank.json.gz": gzip.compress(b"\n")})
    rows = [
        (row["object"], row["line"], row["payload"], row["defect"])
        for row in rows_of(spark, feed(tmp_path))
    ]
    assert rows == [("blank.json.gz", 0, None, None), ("empty.json", 0, None, None)]


def test_no_objects_give_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    frame = read_objects(spark, feed(tmp_path), [])
    assert (frame.schema, frame.collect()) == (BRONZE, [])


def test_gzip_is_recognised_by_its_bytes_and_damage_is_a_defect(
    spark: SparkSession, tmp_path: Path
) -> None:
    whole = gzip.compress(b'{"a":1}\n')
    write(tmp_path, {"1.json": whole, "2.json.gz": b'{"a":2}', "3.json": whole[:10]})
    rows = [
        (row["object"], row["payload"], row["defect"]) for row in rows_of(spark, feed(tmp_path))
    ]
    assert rows[:2] == [("1.json", b'{"a":1}', None), ("2.json.gz", b'{"a":2}', None)]
    (_, payload, defect) = rows[2]
    assert (payload, defect[:16]) == (b"", "truncated gzip: ")


def test_csv_is_cut_by_the_declared_table_of_the_path(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {"region/1.csv": b"r_regionkey,r_name\n0,AFRICA\n", "other/1.csv": b"r_name\n"})
    given = feed(tmp_path, "arcion_s3_csv")
    rows = [
        (row["object"], row["line"], row["header"], row["payload"]) for row in rows_of(spark, given)
    ]
    assert rows == [
        ("other/1.csv", 1, None, b"r_name"),
        ("region/1.csv", 2, "r_regionkey,r_name", b"0,AFRICA"),
    ]


def test_a_header_that_is_not_understood_is_the_error_of_the_caller(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path, {"region/1.csv": "r_name,r_name,é\n".encode(), "region/2.csv": b"1,a\n"})
    given = feed(tmp_path, "arcion_s3_csv")
    frame = read_objects(spark, given, list(open_landing(given).list()))
    with pytest.raises(UnknownHeader) as refused, raise_clearly():
        frame.write.format("noop").mode("overwrite").save()
    assert str(refused.value) == (
        "feed tpch: region/1.csv, line 1: the header is not understood: 'r_name,r_name,é'. "
        "Expected r_name_NEW, r_name_OLD, r_name_EXISTS or NEW_r_name, OLD_r_name, EXISTS_r_name "
        "(and so for r_regionkey), then opType, cursor, operationCount; or, for a snapshot, "
        "the columns r_regionkey, r_name. Rename the columns, or write the files without a header."
    )
    assert refused.value.object == "region/1.csv"


def test_an_object_that_vanished_is_the_error_of_the_caller(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = read_objects(spark, feed(tmp_path), [landed("gone.json", 1)])
    with pytest.raises(UnreadableLanding) as refused, raise_clearly():
        frame.collect()
    assert str(refused.value) == (
        f"feed tpch: cannot read {tmp_path}/gone.json: it is gone since it was listed. Run again."
    )
    assert (refused.value.feed, refused.value.remedy) == ("tpch", "Run again.")


def test_errors_that_are_not_weirs_pass_through(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"), raise_clearly():
        spark.sql("SELECT 1 / 0").collect()


def test_the_generation_is_that_of_what_was_read(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {"a.json": b"{}"})
    listed = list(open_landing(feed(tmp_path)).list())
    write(tmp_path, {"a.json": b'{"replaced":true}'})
    (row,) = read_objects(spark, feed(tmp_path), listed).collect()
    (now,) = open_landing(feed(tmp_path)).list()
    assert (row["payload"], row["generation"]) == (b'{"replaced":true}', now.generation)
    assert row["generation"] != listed[0].generation


def test_a_splitter_of_ones_own_can_be_given(spark: SparkSession, tmp_path: Path) -> None:
    def halves(
        data: bytes, given: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[Record]:
        yield Record(1, 0, data[:2], header=given.name)
        yield Record(1, 2, data[2:], header=object_name)

    write(tmp_path, {"a.bin": b"abcd"})
    objects = list(open_landing(feed(tmp_path)).list())
    rows = read_objects(spark, feed(tmp_path), objects, split=halves).collect()
    assert sorted((row["payload"], row["header"]) for row in rows) == [
        (b"ab", "tpch"),
        (b"cd", "a.bin"),
    ]


def test_many_records_and_large_ones_arrive_whole(spark: SparkSession, tmp_path: Path) -> None:
    large = b'{"a":"' + b"x" * 9_000_000 + b'"}\n'
    write(tmp_path, {"many.json": b'{"a":1}\n' * 150_000, "large.json": large * 4})
    objects = list(open_landing(feed(tmp_path)).list())
    counted = read_objects(spark, feed(tmp_path), objects).selectExpr(
        "count(*) AS rows", "sum(octet_length(payload)) AS bytes", "count(DISTINCT line) AS lines"
    )
    assert counted.collect() == [
        Row(rows=150_004, bytes=150_000 * 7 + 4 * (len(large) - 1), lines=150_000)
    ]


@pytest.mark.services
def test_tasks_read_from_s3(
    spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
        # Tasks were born with the environment that the session began with.
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    store.put("tasks", {f"region/{n}.json": b'{"a":%d}' % n for n in range(9)})
    rows = rows_of(spark, feed("s3://tasks/region"))
    assert [row["payload"] for row in rows] == [b'{"a":%d}' % n for n in range(9)]
