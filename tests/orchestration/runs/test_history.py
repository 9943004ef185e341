"""Where the history of runs is, and that a run of the command line is where Dagster's pages look for it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import dagster as dg
import pytest

from orchestration.automation.jobs import job_name
from orchestration.resources import lake_of
from orchestration.runs import execution, history
from orchestration.runs.planning import Plan
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.errors import HistoryFailed
from transforms.feed.feed import Feed

WINDOW = "2025-11-20T03"


def test_the_home_is_what_the_environment_says_or_beside_the_feeds(tmp_path: Path) -> None:
    feeds = tmp_path / "shop" / "feeds"
    assert history.home_of({"DAGSTER_HOME": str(tmp_path)}, feeds) == tmp_path
    assert history.home_of({"DAGSTER_HOME": ""}, feeds) is None
    assert history.home_of({}, feeds) == tmp_path / "shop" / ".dagster"


def test_a_home_that_cannot_be_made_is_named_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    with history.open_history({}, tmp_path / "file" / "feeds") as instance:
        assert instance.is_ephemeral
    assert "this run is in no history" in capsys.readouterr().err


def test_a_home_on_a_full_disk_is_named_and_has_no_half_of_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: Path, target: Path) -> None:
        target.write_text("")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(shutil, "copy", full)
        with history.open_history({}, tmp_path / "feeds") as instance:
            assert instance.is_ephemeral
    assert not (tmp_path / ".dagster" / "dagster.yaml").exists()
    assert "No space left on device" in capsys.readouterr().err
    database = tmp_path / ".dagster" / "history" / "runs.db"
    database.parent.mkdir(parents=True)
    database.write_text("no database")
    with history.open_history({}, tmp_path / "feeds") as instance:
        assert instance.is_ephemeral
    told = capsys.readouterr().err
    assert "cannot be used: file is not a database; set DAGSTER_HOME" in told


@dg.job
def nothing() -> None:
    """A job without steps."""


def test_a_history_that_cannot_be_written_any_more_is_named(tmp_path: Path) -> None:
    with history.open_history({}, tmp_path / "feeds") as instance:
        run = instance.create_run_for_job(nothing)
        (tmp_path / ".dagster" / "history" / "runs.db").write_text("no database any more")
        with (
            pytest.raises(HistoryFailed, match=r"the history of runs in .*dagster cannot be"),
            history.naming_faults(instance),
        ):
            instance.add_run_tags(run.run_id, {"some": "tag"})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_run_of_the_command_line_is_in_the_history_of_its_job(
    tmp_path: Path,
) -> None:
    home = tmp_path / ".dagster"
    lay(
        tmp_path / "landing",
        "2025-11-20/03/a.json",
        drop(change("I", 1, after={"id": "1", "name": "Ada"})),
    )
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})
    lake = lake_of(str(tmp_path / "warehouse"))
    with history.open_history({}, tmp_path / "feeds") as instance:
        (outcome,) = execution.run_plans([Plan(feed, [WINDOW], [], [])], lake, instance)
    assert not outcome.failed
    assert (home / "dagster.yaml").is_file()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        filters = dg.RunsFilter(job_name=job_name(feed), tags=history.OF_LOCATION)
        (run,) = instance.get_runs(filters)
        assert run.status == dg.DagsterRunStatus.SUCCESS
        # The timeline has those runs alone of which it knows where they are from.
        assert run.remote_job_origin is not None
        assert run.remote_job_origin.location_name == "weir"
        assert run.remote_job_origin.job_name == job_name(feed)
        key = dg.AssetKey(["gold", "zoo", "pets"])
        assert instance.get_materialized_partitions(key) == {WINDOW}
