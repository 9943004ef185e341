"""Tasks read objects within bounds, and say which one they were reading when something failed."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from assets.columns.bronze import BRONZE
from assets.executors.task_errors import WorkerLost, raise_clearly
from assets.landing.landings import open_landing
from assets.landing.read_objects import rows_of
from assets.landing.spark_source import RecordReader, TaskPart, _Plan, batches
from transforms.errors import RecordFailed
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import DEFAULT_LIMITS, Limits, Record
from transforms.task_errors import TaskFailed

SMALL = Limits(largest_object=1_000, largest_record=100)


def feed(landing: Path) -> Feed:
    return Feed(name="tpch", format="arcion_s3_json", landing=str(landing))


def read(landing: Path, limits: Limits = SMALL) -> list[tuple[object, ...]]:
    """Line, offset, payload and defect of all rows, in the order of names."""
    given = feed(landing)
    objects = tuple(open_landing(given).list())
    rows = rows_of(given, FORMATS[given.format].split, limits, objects)
    return [(row[1], row[3], row[4], row[6], row[7]) for row in rows]


def test_an_object_that_is_too_large_is_one_record(tmp_path: Path) -> None:
    lines = b'{"a":1}\n' * 200
    (tmp_path / "1.json").write_bytes(lines)
    (tmp_path / "2.json").write_bytes(gzip.compress(lines))
    (tmp_path / "3.json").write_bytes(b'{"b":1}')
    said = "more than 1,000 bytes: nothing of it was read but its first 4,000"
    landed, inflated, after = read(tmp_path)
    # No more of it was read than it takes to know.
    assert landed == ("1.json", 1, 0, lines[:1_001], f"the object has {said}")
    assert inflated == ("2.json", 1, 0, lines, f"the object inflates to {said}")
    assert after == ("3.json", 1, 0, b'{"b":1}', None)


def test_objects_and_records_may_be_as_large_as_the_limits(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(b"{}\n".ljust(1_000))
    (tmp_path / "2.json").write_bytes(b'{"a":"%s"}\n{"b":1}' % (b"x" * 93))
    assert read(tmp_path) == [
        ("1.json", 1, 0, b"{}", None),
        ("2.json", 1, 0, b'{"a":"' + b"x" * 93 + b'"', "the record is longer than 100 bytes"),
        ("2.json", 2, 102, b'{"b":1}', None),
    ]


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

    (tmp_path / "a.json").write_bytes(b"{}")
    objects = tuple(open_landing(feed(tmp_path)).list())
    plan = _Plan(lambda part: rows_of(feed(tmp_path), broken, DEFAULT_LIMITS, part), [objects])
    with pytest.raises(TaskFailed) as failure:
        list(RecordReader(plan, BRONZE).read(TaskPart(objects)))
    # Spark carries the text of a task's error, and nothing else of it.
    with pytest.raises(
        RecordFailed, match=f"feed tpch: reading stopped at a.json, line 7: {message}"
    ):
        _through_spark(str(failure.value))


def _through_spark(text: str) -> None:
    with raise_clearly():
        raise PySparkException(text)


def test_a_worker_that_was_killed_is_reported() -> None:
    text = (
        "Job aborted: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"
    )
    with pytest.raises(WorkerLost, match="killed in the middle of its work"):
        _through_spark(text)


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
    found = list(batches(iter(made()), BRONZE))
    assert [batch.num_rows for batch in found] == sizes
    assert all(isinstance(batch, pa.RecordBatch) for batch in found)
