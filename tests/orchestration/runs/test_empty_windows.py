"""A range costs what has landed in it: a thousand windows without a drop are one line, and no more work than ten."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import FrameType

import dagster as dg
import pytest

from orchestration import definitions
from orchestration.feeds.load import load_feeds
from orchestration.observability.run_tags import RANGE
from orchestration.resources import lake_of
from orchestration.runs import history
from tests.support.commands_here import weir
from tests.support.pet_feed import change, drop, lay
from transforms.feed.windows import window_at

# Great Expectations' and Dagster's own, in the process that runs the assets.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ZOO = """\
format: arcion_s3_json
landing: ../drops
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
FIRST = datetime(2025, 1, 1)


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_EXECUTOR", "in-process")


def window(number: int) -> str:
    return window_at(FIRST + timedelta(hours=number), "hour")


def zoo(place: Path, numbers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A feed with a drop in each of these windows, of one pet each, and the history of its runs."""
    lay(place, "feeds/zoo.yaml", ZOO.encode())
    for at, number in enumerate(numbers):
        pet = {"id": str(at), "name": "Ada"}
        name = f"drops/{window(number).replace('T', '/')}/a.json"
        lay(place, name, drop(change("I", at + 1, after=pet)))
    monkeypatch.setenv("WEIR_FEEDS", str(place / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(place / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", str(place / "home"))


def range_of(first: int, last: int) -> str:
    return f"{window(first)}..{window(last)}"


def steps_in(lines: list[str]) -> list[str]:
    """The lines without those that say how long something takes by now."""
    return [line for line in lines if not line.startswith("  …")]


def work_of(place: Path, run: Callable[[], object]) -> Counter[str]:
    """What a run did: calls that meet a table, the landing or Dagster's files, commits, and the log's own lines."""
    done: Counter[str] = Counter()
    rooms = ("/assets/storage/", "/assets/landing/", "/event_log/sqlite/")

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and any(room in code.co_filename for room in rooms):
            done[code.co_qualname] += 1

    sys.setprofile(called)
    try:
        run()
    finally:
        sys.setprofile(None)
    done["commits"] = len([*(place / "warehouse").rglob("_delta_log/*.json")])
    with dg.DagsterInstance.from_config(str(place / "home")) as instance:
        for one in instance.get_runs():
            done["runs"] += 1
            logs = instance.all_logs(one.run_id)
            done["events"] += len(logs)
            done["lines"] += sum(entry.dagster_event is None for entry in logs)
    return done


def weir_run(place: Path, windows: str) -> Counter[str]:
    def run() -> None:
        assert weir("run", "--windows", windows) == 0

    return work_of(place, run)


def test_a_range_of_a_thousand_windows_is_no_more_work_than_one_of_ten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    zoo(few, (3, 7), monkeypatch)
    of_few, lines_of_few = weir_run(few, range_of(0, 9)), capfd.readouterr().err.splitlines()
    zoo(many, (3, 907), monkeypatch)
    of_many, lines_of_many = weir_run(many, range_of(0, 999)), capfd.readouterr().err.splitlines()
    assert of_few["runs"] == of_many["runs"] == 1
    assert not of_many - of_few
    quiet = f"{window(0)} .. {window(2)}, {window(4)} .. {window(6)}, {window(8)} .. {window(9)}"
    assert f"zoo: nothing landed in 8 of 10 windows: {quiet}" in lines_of_few
    quiet = (
        f"{window(0)} .. {window(2)}, {window(4)} .. {window(906)}, {window(908)} .. {window(999)}"
    )
    assert f"zoo: nothing landed in 998 of 1,000 windows: {quiet}" in lines_of_many
    assert len(steps_in(lines_of_many)) == len(steps_in(lines_of_few))
    # Once more, with all in gold: no run of Dagster's for what lies between.
    again = weir_run(many, range_of(0, 999))
    assert (again["runs"], again["events"]) == (2, 2 * of_many["events"])


def test_a_range_in_which_nothing_has_landed_needs_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    zoo(tmp_path, (3,), monkeypatch)
    assert weir("run", "--json", "--windows", range_of(4, 500)) == 0
    told = capfd.readouterr()
    (answer,) = json.loads(told.out)
    assert answer["windows"] == []
    assert answer["nothing_landed"] == {"first": window(4), "last": window(500), "windows": 497}
    assert told.err.count("\n") == 1
    assert not (tmp_path / "warehouse").exists()
    assert not (tmp_path / "home").exists()


def range_by_dagster(place: Path, windows: int) -> tuple[Counter[str], dict[str, set[str]]]:
    """A run of the first windows that Dagster's pages ask for, and the windows that these show of each asset then."""
    (feed,) = load_feeds(place / "feeds")
    tags = dict(zip(RANGE, (window(0), window(windows - 1)), strict=True))
    history.write_quickly()
    job = definitions.job_to_gold(feed, lake_of(str(place / "warehouse")))
    with history.open_history(os.environ, place / "feeds") as instance:
        done = work_of(place, lambda: job.execute_in_process(instance=instance, tags=tags))
        shown = {
            key.to_user_string(): instance.get_materialized_partitions(key)
            for key in job.asset_layer.selected_asset_keys
        }
        (run,) = instance.get_runs()
        texts = [entry.user_message for entry in instance.all_logs(run.run_id)]
    said = f"zoo: nothing landed in {windows - 2} of {windows} windows: "
    assert [text.startswith(said) for text in texts].count(True) == 1
    return done, shown


def test_a_range_that_dagster_asks_for_shows_all_its_windows_and_works_on_those_with_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    zoo(few, (3, 7), monkeypatch)
    of_few, _ = range_by_dagster(few, 10)
    zoo(many, (3, 87), monkeypatch)
    of_many, shown = range_by_dagster(many, 100)
    # Gold is shown as made where something landed.
    every, with_drops = set(map(window, range(100))), {window(3), window(87)}
    assert shown == {name: with_drops if name.startswith("gold/") else every for name in shown}
    del of_few["events"], of_many["events"]
    assert not of_many - of_few
