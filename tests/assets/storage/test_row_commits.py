"""Commits that take single rows away: in a folder and in a store, read by delta-rs and by Spark, beside Spark's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from assets.storage import in_process_table, row_commits
from assets.storage.in_process_table import InProcessTable
from tests.services.seaweed import Store, store
from transforms.errors import TableBusy

__all__ = ["store"]

COLUMNS = pa.schema(
    [("id", pa.int64()), ("name", pa.string()), ("day", pa.date32()), ("at", pa.list_(pa.int64()))]
)


@pytest.fixture(autouse=True)
def all_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of a few rows is treated as one of many."""
    monkeypatch.setattr(in_process_table, "SMALL_FILE", 0)


@pytest.fixture(params=["folder", pytest.param("store", marks=pytest.mark.services)])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    """The path of a table, and its warehouse."""
    if request.param == "folder":
        yield str(tmp_path / "rows"), str(tmp_path)
        return
    server: Store = request.getfixturevalue("store")
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    bucket = f"rows-{tmp_path.name.replace('_', '-').lower()}"[:60].rstrip("-")
    server.put(bucket, {})
    yield f"s3a://{bucket}/tables/rows", f"s3a://{bucket}/tables"


def at(place: tuple[str, str]) -> InProcessTable:
    return InProcessTable.at("gold.rows", *place)


def rows(numbers: list[int], name: str = "first") -> pa.Table:
    cells = {
        "id": numbers,
        "name": [name] * len(numbers),
        "day": [number % 20_000 for number in numbers],
        "at": [[1, number] for number in numbers],
    }
    days = pa.array(cells["day"], pa.int32()).cast(pa.date32())
    return pa.table({**cells, "day": days}, schema=COLUMNS)


def places_of(table: InProcessTable, wanted: set[int]) -> dict[str, row_commits.Numbers]:
    """Where the rows with these ids are."""
    found = {}
    for file in table.files_with("id", pa.array(sorted(wanted), pa.int64())):
        numbers, some = table.numbered(file, COLUMNS)
        found[file.path] = numbers[np.isin(some["id"].to_numpy(), [*wanted])]
    return found


def put(table: InProcessTable, changed: dict[int, str], gone: set[int]) -> None:
    """Give rows with these ids these names, and take others away."""
    new = [rows([number], name) for number, name in changed.items()]
    table.put_rows(
        places_of(table, {*changed, *gone}), pa.concat_tables([COLUMNS.empty_table(), *new])
    )


def held(table: InProcessTable) -> dict[int, str]:
    found = table.read(COLUMNS).to_pylist()
    assert len({one["id"] for one in found}) == len(found) == table.count()
    assert all(one["at"] == [1, one["id"]] for one in found)
    return {one["id"]: one["name"] for one in found}


def entries(place: tuple[str, str]) -> list[list[str]]:
    """The kinds of actions of each entry of a log in a folder."""
    logs = sorted(Path(place[0], "_delta_log").glob("*.json"))
    return [[next(iter(json.loads(line))) for line in one.read_text().splitlines()] for one in logs]


def test_whatever_is_changed_both_readers_see_it(
    place: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_commits, "ROWS_OF_A_FILE", 5)
    draw, expected = Random(7), {number: "first" for number in range(500)}
    at(place).append(rows([*expected]))
    # Past two checkpoints, which delta-rs writes.
    for turn in range(25):
        table = at(place)
        changed = {draw.randrange(600): f"turn {turn}" for _ in range(draw.randrange(20))}
        gone = {draw.randrange(600) for _ in range(draw.randrange(20))}.difference(changed)
        put(table, changed, gone)
        expected = {number: name for number, name in expected.items() if number not in gone}
        expected |= changed
        assert held(table) == held(at(place)) == expected


def test_spark_reads_and_writes_the_same_table(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = (str(tmp_path / "rows"), str(tmp_path))
    table, expected = at(place), {number: "first" for number in range(3_000)}
    table.append(rows([*range(1_500)]))
    table.append(rows([*range(1_500, 3_000)]))
    for turn in range(3):
        changed = {number: f"turn {turn}" for number in range(turn, 3_300, 97)}
        gone = {*range(50 + turn, 3_000, 211)}.difference(changed)
        put(at(place), changed, gone)
        # Spark marks rows of the same files, on top of the marks that are there.
        spark.sql(f"DELETE FROM delta.`{place[0]}` WHERE id % 401 = {turn}")
        expected = {number: name for number, name in expected.items() if number not in gone}
        expected |= changed
        expected = {number: name for number, name in expected.items() if number % 401 != turn}
        seen = spark.read.format("delta").load(place[0])
        assert {row["id"]: row["name"] for row in seen.collect()} == held(at(place)) == expected
        # What the log says of a file is right enough to skip it by.
        assert seen.where("id = 1").count() == (1 in expected)
        assert seen.where("name = 'turn 2'").count() == [*expected.values()].count("turn 2")
        day = seen.where("day = DATE '1970-01-03'").count()
        assert day == sum(number % 20_000 == 2 for number in expected)
    features = at(place)._there.protocol()
    assert features.reader_features == ["deletionVectors"]
    assert {"appendOnly", "deletionVectors", "invariants"} == {*(features.writer_features or ())}


def test_another_writer_is_noticed(place: tuple[str, str]) -> None:
    at(place).append(rows([*range(100)]))
    late = at(place)
    places = places_of(late, {5})
    put(at(place), {1: "other"}, set())
    with pytest.raises(TableBusy, match="another run is writing"):
        late.put_rows(places, rows([5], "late"))
    assert held(at(place))[5] == "first"
    assert held(at(place))[1] == "other"


def test_files_that_lose_half_of_their_rows_are_written_anew(tmp_path: Path) -> None:
    place = (str(tmp_path / "rows"), str(tmp_path))
    at(place).append(rows([*range(100)]))
    put(at(place), {}, {*range(40)})
    assert entries(place)[-1] == ["commitInfo", "metaData", "protocol", "remove", "add"]
    (file,) = at(place).files()
    assert (file.rows, at(place).count()) == (100, 60)
    put(at(place), {200: "new"}, {*range(40, 60)})
    (file,) = at(place).files()
    assert (file.rows, {*held(at(place))}) == (41, {*range(60, 100), 200})


def test_many_small_files_become_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = (str(tmp_path / "rows"), str(tmp_path))
    at(place).append(rows([*range(200_000)]))
    monkeypatch.setattr(in_process_table, "SMALL_FILE", 50_000)
    most = in_process_table.MOST_SMALL_FILES
    for turn in range(most + 3):
        put(at(place), {200_000 + turn: "new"}, {turn})
        assert len(at(place).files()) <= most + 2
    assert len(at(place).files()) < most
    assert held(at(place)).keys() == {*range(most + 3, 200_000 + most + 3)}


def test_a_table_that_asks_more_of_its_writers_is_written_whole(tmp_path: Path) -> None:
    place = (str(tmp_path / "rows"), str(tmp_path))
    at(place).append(rows([*range(100)]))
    at(place)._there.alter.add_constraint({"positive": "id >= 0"})
    table = at(place)
    put(table, {1: "second"}, {2})
    assert held(at(place)) == {number: "first" for number in range(3, 100)} | {
        0: "first",
        1: "second",
    }
    assert table.files()[0].rows == 99
    assert not at(place).takes_marks(())
    assert at(place).takes_marks(["delta.constraints.positive"])
    with pytest.raises(Exception, match="failed validation"):
        put(at(place), {-1: "wrong"}, set())
    places = places_of(at(place), {4})
    at(place).put_rows(places, COLUMNS.empty_table(), ["delta.constraints.positive"])
    assert entries(place)[-1] == ["commitInfo", "metaData", "protocol", "remove", "add"]


def test_nothing_is_no_commit(tmp_path: Path) -> None:
    place = (str(tmp_path / "rows"), str(tmp_path))
    at(place).append(rows([1]))
    table = at(place)
    table.put_rows({"some": np.array([], np.int64)}, COLUMNS.empty_table())
    assert table.now().version == 0


def test_only_files_that_may_have_a_value_are_looked_into(tmp_path: Path) -> None:
    place = (str(tmp_path / "rows"), str(tmp_path))
    at(place).append(rows([*range(100)]))
    at(place).append(rows([*range(500, 600)]))
    put(at(place), {300: "new"}, {7, 507})
    table = at(place)
    assert len(table.files()) == 3
    for ids, count in (([5], 1), ([5, 300], 2), ([400], 0), ([99, 500], 2), ([-1, 700], 0)):
        assert len(table.files_with("id", pa.array(ids, pa.int64()))) == count, ids
    assert len(table.files_with("at", pa.array([[1]]))) == 3
    for ids in ([5, 300, 559], [507]):
        found = [
            table.rows_at(path, numbers, COLUMNS)
            for path, numbers in places_of(table, {*ids}).items()
        ]
        left = [number for number in ids if number != 507]
        assert sorted(pa.concat_tables(found)["id"].to_pylist() if found else []) == left
