"""Rows that began with an update: their insert is missing, so that others may be, and columns of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold.checks import samples_of, violations_of
from assets.storage.lake import Lake, Layer
from expectations.gold import ROWS_WERE_INSERTED
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, applied, change, drop, lay
from transforms.feed.feed import Feed, Table

WIDE = Table("pets", ("id",), {"id": "int", "name": "string", "kind": "string"}, ())


class Zoo:
    """A feed of one table, brought on window by window."""

    def __init__(self, lake: Lake, folder: Path, table: Table = WIDE) -> None:
        self.lake, self.folder = lake, folder
        self.feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": table})

    def bring(self, hour: int, *records: str) -> tuple[int, str]:
        """How many keys the check names after a window, and how it names them."""
        window = f"2025-11-20T{hour:02}"
        lay(self.folder, f"pets/2025-11-20/{hour:02}/a.json", drop(*records))
        done = applied(self.lake, self.feed, [window])
        found = violations_of(done)[ROWS_WERE_INSERTED.name]
        return found, samples_of(done)[ROWS_WERE_INSERTED.name]


def inserted(at: int, key: str) -> str:
    return change("I", at, after={"id": key, "name": "Ann", "kind": "cat"})


def updated(at: int, key: str) -> str:
    return change("U", at, {"id": key}, {"name": f"n{at}"})


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    return Zoo(lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS), tmp_path / "landing")


def test_a_row_is_told_until_its_insert_comes(zoo: Zoo) -> None:
    assert zoo.bring(1, inserted(1, "1"), updated(2, "1"), updated(3, "2")) == (
        1,
        "- `pets: key 2`",
    )
    assert zoo.bring(2, updated(4, "1"))[0] == 0
    assert zoo.bring(3, updated(5, "2"))[0] == 1
    # The insert was late; it stands before the updates, and they are folded onto it.
    assert zoo.bring(4, inserted(0, "2"))[0] == 0
    assert zoo.bring(5, updated(6, "2"))[0] == 0


def test_an_update_of_all_columns_makes_it_whole(zoo: Zoo) -> None:
    assert zoo.bring(1, updated(3, "2"))[0] == 1
    whole = change("U", 4, {"id": "2"}, {"id": "2", "name": "Bo", "kind": "dog"})
    assert zoo.bring(2, whole)[0] == 0


def test_what_is_updated_behind_its_delete_is_told_too(zoo: Zoo) -> None:
    assert zoo.bring(1, inserted(1, "1"), change("D", 2, {"id": "1"}))[0] == 0
    assert zoo.bring(2, updated(3, "1"))[0] == 1
    assert zoo.bring(3, change("D", 4, {"id": "1"}))[0] == 0


def test_where_inserts_are_upserts_nothing_is_told(zoo: Zoo) -> None:
    """Cassandra's inserts name some columns, and a row may begin with an update."""
    cursor = {"dscId": 1, "mutId": 1, "nodeID": "a", "partNum": 1, "timestamp": 5, "v": 2}
    records = []
    for op, at in (("I", 1), ("U", 2)):
        record = json.loads(change(op, at, after={"id": str(at), "name": "Ann"}))
        records.append(json.dumps({**record, "cursor": json.dumps({**cursor, "mutId": at})}))
    assert zoo.bring(1, *records)[0] == 0


@pytest.mark.parametrize("by", [IN_PROCESS, SPARK])
def test_a_whole_row_is_told_when_an_update_makes_it(
    spark: SparkSession, tmp_path: Path, by: str
) -> None:
    zoo = Zoo(lake_of(str(tmp_path / "warehouse")).by(by), tmp_path / "landing", PETS)
    one, two, three = ("1", "2", "3")
    assert zoo.bring(
        *(1, whole("I", 1, one), whole("U", 2, one)),
        *(whole("U", 3, two), change("D", 4, {"id": two}), whole("I", 5, two)),
        *(whole("U", 6, three), whole("U", 7, three)),
    ) == (1, "- `pets: key 3`")
    # It is there now, and its next update finds it.
    assert zoo.bring(2, whole("U", 8, three), whole("U", 9, one))[0] == 0
    assert zoo.bring(3, change("D", 10, {"id": one}))[0] == 0
    assert zoo.bring(4, whole("U", 11, one)) == (1, "- `pets: key 1`")


def whole(op: str, at: int, key: str) -> str:
    row = {"id": key, "name": f"n{at}"}
    return change(op, at, after=row) if op == "I" else change(op, at, {"id": key}, row)


@pytest.mark.parametrize("by", [IN_PROCESS, SPARK])
def test_a_row_under_a_new_key_is_no_new_row(spark: SparkSession, tmp_path: Path, by: str) -> None:
    zoo = Zoo(lake_of(str(tmp_path / "warehouse")).by(by), tmp_path / "landing", PETS)
    moved = change("U", 2, {"id": "1", "name": "n1"}, {"id": "9", "name": "n2"})
    assert zoo.bring(1, whole("I", 1, "1"), moved)[0] == 0
    stored = zoo.lake.in_process_table(Layer.GOLD, "zoo", "pets")
    assert [row["id"] for row in stored.rows(["id"])] == [9]


def test_an_insert_that_comes_late_says_nothing_against_the_row(zoo: Zoo) -> None:
    assert zoo.bring(1, whole("U", 3, "1"))[0] == 1
    assert zoo.bring(2, inserted(1, "1"), updated(2, "1"))[0] == 0


def test_rows_of_a_snapshot_are_no_updates(zoo: Zoo) -> None:
    assert zoo.bring(1, change("R", 1, after={"id": "1", "name": "Ann", "kind": "cat"}))[0] == 0
