"""Late events, repeats, keys folded again and ties are counted apart; and where nothing changes nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from assets.bronze import from_objects
from assets.control import progress
from assets.executors.choice import IN_PROCESS
from assets.gold import apply
from assets.gold.fold import Applied
from assets.silver import derive
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.laws.crashes import killed_at
from tests.support.pet_feed import change, drop, lay
from transforms.feed.feed import Feed, Table

KINDS = {"id": "int", "name": "string", "age": "int"}
PETS = Table("pets", ("id",), KINDS, tuple(KINDS))
COLUMNS = pa.schema([("id", pa.int32()), ("name", pa.string()), ("age", pa.int32())])
KEPT = replace(PETS, history=True)
ADA = {"id": "1", "name": "Ada", "age": "1"}
AVA = {"id": "1", "name": "Ava", "age": "1"}

BORN = change("I", 1, after=ADA)
NAMED = change("U", 5, {"id": "1"}, {"name": "Ava"})
AGED = change("U", 9, {"id": "1"}, {"age": "2"})
LATE = change("U", 3, {"id": "1"}, {"age": "7"})
"""Between its neighbours: no newer change says the age but ``AGED``."""
MOVED = change("U", 9, {"id": "1"}, {"id": "2"})
"""A key change that says neither name nor age: the new row takes them from the old one."""


@dataclass(frozen=True)
class Zoo:
    """A zoo's landing, and what runs make of it."""

    lake: Lake
    folder: Path
    table: Table

    def lay(self, name: str, *records: str) -> None:
        """Put a drop into an hour of the day: ``03/a``."""
        lay(self.folder, f"2025-11-20/{name}.json", drop(*records))

    def run(self, *hours: str) -> Applied:
        """Bring these hours to gold."""
        feed = Feed("zoo", "arcion_s3_json", str(self.folder), tables={"pets": self.table})
        windows = [f"2025-11-20T{hour}" for hour in hours]
        from_objects.land(self.lake, feed, windows)
        derive.derive(self.lake, feed, windows)
        done = apply.apply(self.lake, feed, self.table, windows)
        progress.finish(self.lake, feed, windows)
        return done

    def commits(self) -> dict[str, int]:
        """The number of the newest commit of each table of gold."""
        folder = Path(self.lake.path(Layer.GOLD, "zoo", "pets")).parent
        return {one.name: DeltaTable(one).version() for one in folder.iterdir()}

    def rows(self) -> set[tuple[int, str, int]]:
        """Gold's rows."""
        gold = self.lake.in_process_table(Layer.GOLD, "zoo", "pets").read(COLUMNS)
        return {(row["id"], row["name"], row["age"]) for row in gold.to_pylist()}

    def again(self, *hours: str) -> Applied:
        """Bring hours to gold that it has: no commit is made, and nothing came late."""
        before = self.commits()
        done = self.run(*hours)
        assert self.commits() == before
        assert (done.metrics.keys, done.metrics.keys_with_late_events, done.metrics.ties) == (
            0,
            0,
            0,
        )
        return done


@pytest.fixture
def zoo(folder: Path, tmp_path: Path) -> Zoo:
    """A zoo of nothing yet; Spark counts the same (``tests/executors``)."""
    lake = lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)
    return Zoo(lake, folder, PETS)


@pytest.fixture
def kept(zoo: Zoo) -> Zoo:
    """The same with every version of a row."""
    return replace(zoo, table=KEPT)


def test_a_window_of_partial_updates_that_comes_again_is_not_late(zoo: Zoo) -> None:
    zoo.lay("03/a", BORN, NAMED, AGED)
    zoo.run("03")
    again = zoo.again("03")
    # Its last event is known; what stands before it has changed nothing.
    assert (again.metrics.repeats, again.metrics.superseded, again.metrics.refolded) == (1, 2, 1)


def test_a_newer_drop_of_an_hour_that_was_run_makes_nothing_late(zoo: Zoo) -> None:
    zoo.lay("03/a", BORN, NAMED)
    zoo.run("03")
    zoo.lay("03/b", AGED)
    done = zoo.run("03")
    assert zoo.rows() == {(1, "Ava", 2)}
    assert (done.metrics.keys_with_late_events, done.metrics.ties, done.metrics.keys) == (0, 0, 1)
    zoo.again("03")


def test_a_late_update_is_late_once_and_its_window_again_is_a_repeat(zoo: Zoo) -> None:
    zoo.lay("03/a", BORN, NAMED)
    zoo.run("03")
    zoo.lay("04/b", LATE)
    done = zoo.run("04")
    assert zoo.rows() == {(1, "Ava", 7)}
    assert (
        done.metrics.keys_with_late_events,
        done.metrics.refolded,
        done.metrics.repeats,
        done.metrics.superseded,
    ) == (
        1,
        1,
        0,
        0,
    )
    again = zoo.again("04")
    assert (again.metrics.refolded, again.metrics.repeats, again.metrics.superseded) == (1, 0, 1)
    # Another window that repeats it is known by silver.
    zoo.lay("05/c", LATE)
    assert zoo.again("05").metrics.repeats == 1


def test_a_late_update_whose_column_newer_ones_say_changes_nothing(zoo: Zoo) -> None:
    zoo.lay("03/a", BORN, NAMED, AGED)
    zoo.run("03")
    zoo.lay("04/b", LATE)
    assert zoo.again("04").metrics.superseded == 1


def test_what_the_reset_position_answers_is_superseded_late_or_not(zoo: Zoo) -> None:
    zoo.lay("03/a", change("I", 5, after=ADA))
    zoo.run("03")
    zoo.lay("04/b", change("I", 3, after=AVA))
    done = zoo.again("04")
    assert (done.metrics.superseded, done.metrics.refolded) == (1, 0)


def test_floating_numbers_that_java_spells_at_length_are_the_same_when_they_come_again(
    zoo: Zoo,
) -> None:
    zoo = replace(zoo, table=replace(PETS, columns={**KINDS, "age": "float"}))
    # Java 17 writes -1.16777216E8 of it.
    zoo.lay("03/a", BORN, NAMED, change("U", 6, {"id": "1"}, {"age": "-116777216"}))
    zoo.lay("03/b", change("U", 9, {"id": "1"}, {"name": "Eva"}))
    zoo.run("03")
    zoo.again("03")


def test_an_event_at_the_place_of_the_last_one_is_a_tie_and_not_late(zoo: Zoo) -> None:
    zoo.lay("03/a", BORN, NAMED)
    zoo.run("03")
    zoo.lay("04/b", change("U", 5, {"id": "1"}, {"age": "3"}))
    done = zoo.run("04")
    assert zoo.rows() == {(1, "Ava", 3)}
    assert (done.metrics.ties, done.metrics.keys_with_late_events, done.metrics.keys) == (1, 0, 1)


def test_versions_of_whole_images_that_come_again_are_not_written(kept: Zoo) -> None:
    kept.lay("03/a", BORN, change("U", 5, ADA, AVA))
    kept.lay("04/b", change("I", 7, after={"id": "2", "name": "Bo", "age": "3"}))
    kept.lay("05/c", change("D", 8, {"id": "2", "name": "Bo", "age": "3"}))
    kept.run("03", "04")
    kept.run("05")
    kept.again("03", "04", "05")


def test_a_late_whole_image_is_late_where_every_version_is_kept(kept: Zoo) -> None:
    kept.lay("03/a", BORN, change("U", 5, ADA, AVA))
    kept.run("03")
    kept.lay("04/b", change("U", 3, ADA, {**ADA, "age": "9"}))
    done = kept.run("04")
    # Gold's row is what it was; one version more is there.
    assert kept.rows() == {(1, "Ava", 1)}
    assert kept.lake.in_process_table(Layer.GOLD, "zoo", "pets__history").count() == 3
    assert done.metrics.keys_with_late_events == 1
    kept.again("04")


def test_a_window_before_or_of_a_key_change_that_comes_again_is_not_late(zoo: Zoo) -> None:
    zoo.lay("03/a", BORN, NAMED)
    zoo.lay("04/b", MOVED)
    zoo.run("03")
    zoo.run("04")
    assert zoo.rows() == {(2, "Ava", 1)}
    zoo.again("03")
    zoo.again("04")


def test_what_came_late_before_a_key_change_is_late_for_the_row_that_it_became(kept: Zoo) -> None:
    kept.lay("03/a", BORN, NAMED)
    kept.lay("04/b", MOVED)
    kept.lay("05/c", LATE)
    kept.run("03", "04")
    done = kept.run("05")
    assert kept.rows() == {(2, "Ava", 7)}
    # The old key's history has one more version, and the new key's row has another value of `age`.
    assert (done.metrics.keys_with_late_events, done.metrics.refolded) == (2, 2)
    kept.again("03", "05")


def test_a_delete_that_another_run_finishes_is_not_late(
    kept: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.lay("03/a", BORN, NAMED)
    kept.lay("04/b", change("D", 9, AVA))
    kept.run("03")
    with killed_at(monkeypatch, [kept.lake.path(Layer.GOLD, "zoo", "pets")]):
        kept.run("04")
    assert kept.rows() == {(1, "Ava", 1)}
    done = kept.run("04")
    assert kept.rows() == set()
    assert (done.metrics.keys, done.metrics.keys_with_late_events) == (1, 0)
    kept.again("04")
