"""Landed objects become rows of bronze, in this process or in Spark's tasks: whole, bounded, with clear errors."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrameReader, Row, SparkSession

from assets.columns import layers
from assets.executors.choice import AUTO, BYTES_OF_A_PAYLOAD, IN_PROCESS, MEMORY, SPARK, Choice
from assets.landing.landings import LandedObject, open_landing
from assets.landing.read_objects import packed, read_in_process, read_objects, rows_of
from assets.landing.spark_source import RecordReader, TaskPart, _Plan, batches, raise_clearly
from tests.services.seaweed import Store
from tests.support.pet_feed import lay
from transforms.errors import RecordFailed, UnknownHeader, UnreadableLanding, WorkerLost
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import MaskKey
from transforms.formats import FORMATS
from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.task_errors import TaskFailed

REGION = Table(
    name="region",
    key=("r_regionkey",),
    columns={"r_regionkey": "int", "r_name": "string"},
    cdc_columns=("r_name", "r_regionkey"),
)


def feed(landing: str | Path, source_format: str = "arcion_s3_json") -> Feed:
    return Feed(name="tpch", format=source_format, landing=str(landing), tables={"region": REGION})


def landed(name: str, size: int, window: str = "2026-11-20T00") -> LandedObject:
    return LandedObject(name, "1", size, datetime(2026, 11, 20, tzinfo=UTC), window)


def read(landing: Path, largest_object: int = 1_000) -> list[tuple[object, ...]]:
    """Name, line, offset, payload and defect of all rows, in the order of names."""
    given, limits = feed(landing), Limits(largest_object=largest_object, largest_record=100)
    objects = tuple(open_landing(given).list())
    rows = rows_of(given, FORMATS[given.format], limits, objects)
    return [(row[1], row[3], row[4], row[6], row[7]) for row in rows]


def test_an_object_that_is_too_large_is_one_record(tmp_path: Path) -> None:
    lines = b'{"a":1}\n' * 200
    lay(tmp_path, "1.json", lines)
    lay(tmp_path, "2.json", gzip.compress(lines))
    lay(tmp_path, "3.json", b'{"b":1}')
    # As large as they may be, without a record, and with one that is too long.
    lay(tmp_path, "4.json", b"\n".ljust(1_000))
    lay(tmp_path, "5.json", b'{"a":"%s"}\n{"b":1}' % (b"x" * 93))
    said = "more than 1,000 bytes: nothing of it was read but its first 4,000"
    assert read(tmp_path) == [
        # No more of it was read than it takes to know.
        ("1.json", 1, 0, lines[:1_001], f"the object has {said}"),
        ("2.json", 1, 0, lines, f"the object inflates to {said}"),
        ("3.json", 1, 0, b'{"b":1}', None),
        ("4.json", 0, 0, None, None),
        ("5.json", 1, 0, b'{"a":"' + b"x" * 93 + b'"', "the record is longer than 100 bytes"),
        ("5.json", 2, 102, b'{"b":1}', None),
    ]


LINE = b'{"a":1}\n'
LARGE = LINE * 10_000
"""A tenth of a megabyte inflated, and next to nothing as it lands."""
SMALL = BYTES_OF_A_PAYLOAD * (64 << 10) + BYTES_OF_A_PAYLOAD * 1_000
"""Enough memory for one object of up to a thousand bytes, and 65,536 more that each costs."""


@pytest.mark.parametrize(
    ("choice", "data", "records"),
    [
        (Choice(), LARGE, 10_000),
        (Choice(AUTO, SMALL), LINE, 1),
        (Choice(AUTO, SMALL), LARGE, None),
        (Choice(AUTO, SMALL), gzip.compress(LARGE, mtime=0), None),
        (Choice(IN_PROCESS, 0), gzip.compress(LARGE, mtime=0), 10_000),
        (Choice(SPARK, MEMORY), LINE, None),
        (Choice(AUTO, 0), None, 0),
        (Choice(SPARK), None, None),
    ],
)
def test_objects_are_read_in_process_or_left_to_spark(
    tmp_path: Path, choice: Choice, data: bytes | None, records: int | None
) -> None:
    if data is not None:
        lay(tmp_path, "2025-11-20/03/a.json", data)
    given = feed(tmp_path)
    rows = read_in_process(given, [*open_landing(given).list()], choice)
    assert (None if rows is None else rows.num_rows) == records


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("nobody thought of it"), "ValueError: nobody thought of it"),
        (MemoryError(), "it does not fit into the memory of the Python process"),
    ],
)
def test_an_unforeseen_error_names_feed_object_and_line(
    tmp_path: Path, error: Exception, message: str
) -> None:
    def broken(
        data: bytes, given: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[Record]:
        yield Record(7, 0, data)
        raise error

    lay(tmp_path, "a.json", b"{}")
    objects = tuple(open_landing(feed(tmp_path)).list())
    source = replace(FORMATS[feed(tmp_path).format], split=broken)
    plan = _Plan(lambda part: rows_of(feed(tmp_path), source, DEFAULT_LIMITS, part), [objects])
    with pytest.raises(TaskFailed) as failure:
        list(RecordReader(plan).read(TaskPart(objects)))
    # Spark carries the text of a task's error, and nothing else of it.
    place = f"feed tpch: reading stopped at a.json, line 7: {message}"
    with pytest.raises(RecordFailed, match=place), raise_clearly():
        raise PySparkException(str(failure.value))


def test_a_worker_that_was_killed_is_reported() -> None:
    text = "Job aborted: org.apache.spark.SparkException: Python worker exited unexpectedly"
    with pytest.raises(WorkerLost, match="killed in the middle of its work"), raise_clearly():
        raise PySparkException(f"{text} (crashed)")


def row(
    payload: bytes | None, headers: list[tuple[str, bytes]] | None = None
) -> tuple[object, ...]:
    landed_at = datetime(2026, 11, 20, tzinfo=UTC)
    return ("2026-11-20", "o", "g", 1, 0, None, payload, None, landed_at, None, headers)


MEGA = 1 << 20


@pytest.mark.parametrize(
    ("made", "sizes"),
    [
        (lambda: [row(b"x" * (64 * MEGA))] * 3, [1, 1, 1]),
        (lambda: [row(b"x" * MEGA)] * 40, [16, 16, 8]),
        # The headers of a Kafka record may be larger than the record.
        (lambda: [row(None, [("h", b"x" * MEGA)] * 4)] * 9, [4, 4, 1]),
        (lambda: [row(b"x")] * 70_000, [1 << 16, 70_000 - (1 << 16)]),
        (lambda: [], []),
    ],
)
def test_batches_are_bounded_by_bytes_and_rows(
    made: Callable[[], list[tuple[object, ...]]], sizes: list[int]
) -> None:
    assert [batch.num_rows for batch in batches(iter(made()), layers.Bronze.spark)] == sizes


def test_every_object_is_in_one_part_and_parts_are_even() -> None:
    objects = [landed(f"{n}", size * MEGA) for n, size in enumerate([9, 1, 1, 4, 5, 4, 3, 3])]
    parts = packed(objects, 3)
    assert sorted(one.name for part in parts for one in part) == [str(n) for n in range(8)]
    assert sorted(sum(one.size for one in part) // MEGA for part in parts) == [9, 10, 11]
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
        assert {one.name for part in parts for one in part} == {one.name for one in objects}
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


def test_records_become_rows_of_bronze_in_sparks_tasks(spark: SparkSession, tmp_path: Path) -> None:
    name = "region/2026-11-20/03/a.json"
    lay(tmp_path, name, b'{"a":"\xff"}\n{"a" 2}\n')
    (one,) = open_landing(feed(tmp_path)).list()
    frame = read_objects(spark, feed(tmp_path), [one])
    kinds = [(field.name, field.dataType) for field in layers.Bronze.spark]
    assert [(field.name, field.dataType) for field in frame.schema] == kinds
    place = {
        **{"window": "2026-11-20T03", "object": name, "generation": one.generation},
        **dict.fromkeys(("header", "key", "headers", "landed_at")),
    }
    defect = "malformed JSON: Expecting ':' delimiter at line 2 column 6"
    assert [row.asDict() | {"landed_at": None} for row in frame.orderBy("line").collect()] == [
        place | {"line": 1, "byte_offset": 0, "payload": b'{"a":"\xff"}', "defect": None},
        place | {"line": 2, "byte_offset": 10, "payload": b'{"a" 2}', "defect": defect},
    ]
    epoch = frame.selectExpr("unix_micros(landed_at) AS at").first()
    assert epoch is not None
    assert abs(epoch["at"] / 1e6 - one.modified_at.timestamp()) < 0.001
    nothing = read_objects(spark, feed(tmp_path), [])
    assert (nothing.schema, nothing.collect()) == (layers.Bronze.spark, [])


def test_errors_of_tasks_are_those_of_the_caller(spark: SparkSession, tmp_path: Path) -> None:
    lay(tmp_path, "region/1.csv", "r_name,r_name,é\n".encode())
    given = feed(tmp_path, "arcion_s3_csv")
    frame = read_objects(spark, given, list(open_landing(given).list()))
    with (
        pytest.raises(UnknownHeader, match="not understood: 'r_name,r_name,é'") as refused,
        raise_clearly(),
    ):
        frame.write.format("noop").mode("overwrite").save()
    assert refused.value.object == "region/1.csv"
    frame = read_objects(spark, given, [landed("gone.json", 1)])
    with pytest.raises(UnreadableLanding) as away, raise_clearly():
        frame.collect()
    assert str(away.value) == (
        f"feed tpch: cannot read {tmp_path}/gone.json: it is gone since it was listed. Run again."
    )
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"), raise_clearly():
        spark.sql("SELECT 1 / 0").collect()


def test_the_generation_is_that_of_what_was_read(spark: SparkSession, tmp_path: Path) -> None:
    lay(tmp_path, "a.json", b"{}")
    listed = list(open_landing(feed(tmp_path)).list())
    lay(tmp_path, "a.json", b'{"replaced":true}')
    (row,) = read_objects(spark, feed(tmp_path), listed).collect()
    (now,) = open_landing(feed(tmp_path)).list()
    assert (row["payload"], row["generation"]) == (b'{"replaced":true}', now.generation)
    assert row["generation"] != listed[0].generation


def test_many_records_and_large_ones_arrive_whole(spark: SparkSession, tmp_path: Path) -> None:
    large = b'{"a":"' + b"x" * 9_000_000 + b'"}\n'
    lay(tmp_path, "many.json", b'{"a":1}\n' * 150_000)
    lay(tmp_path, "large.json", large * 4)
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
    given = feed("s3://tasks/region")
    rows = read_objects(spark, given, list(open_landing(given).list())).collect()
    assert sorted(row["payload"] for row in rows) == [b'{"a":%d}' % n for n in range(9)]
