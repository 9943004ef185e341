"""The history of runs: where it is, what it has, and that its files stay open while a run writes them."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy
from sqlalchemy.pool import NullPool

from orchestration.automation.jobs import job_name
from orchestration.definitions import job_to_gold
from orchestration.resources import lake_of
from orchestration.runs import execution, history
from orchestration.runs.planning import RunPlan
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
        (outcome,) = execution.run_plans(
            [RunPlan(feed, [WINDOW], [], [])], lake, instance, job_to_gold
        )
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


def write(file: Path, number: int) -> int:
    """Add a row as Dagster does, by a connection of its own; returns how careful SQLite was with the disk."""
    engine = sqlalchemy.create_engine(f"sqlite:///{file}", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("PRAGMA journal_mode = WAL"))
        connection.execute(sqlalchemy.text("CREATE TABLE IF NOT EXISTS entries (number INT)"))
        connection.execute(sqlalchemy.text(f"INSERT INTO entries VALUES ({number})"))
        connection.commit()
        found = connection.execute(sqlalchemy.text("PRAGMA synchronous")).scalar_one()
    engine.dispose()
    return int(found)


def log_of(file: Path) -> Path:
    """Where SQLite keeps what is not in the file itself yet."""
    return Path(f"{file}-wal")


FULL, NORMAL = 2, 1


def test_a_file_stays_open_until_the_end_and_is_whole_then(tmp_path: Path) -> None:
    file = tmp_path / "history.db"
    assert write(file, 1) == FULL
    assert not log_of(file).exists()
    with history.kept_open():
        assert write(file, 2) == NORMAL
        assert log_of(file).exists()
        # Dagster's pages and its daemon read and write the same file meanwhile.
        with sqlite3.connect(file, timeout=0) as other:
            other.execute("INSERT INTO entries VALUES (3)")
            assert other.execute("SELECT count(*) FROM entries").fetchone() == (3,)
        other.close()
        assert write(file, 4) == NORMAL
    assert not log_of(file).exists()
    assert write(file, 5) == FULL
    with sqlite3.connect(file) as after:
        assert after.execute("SELECT sum(number) FROM entries").fetchone() == (15,)
    after.close()


def test_a_new_file_and_one_in_memory_are_opened_as_ever(tmp_path: Path) -> None:
    with history.kept_open():
        # It becomes a file in WAL mode behind the first look at it.
        assert write(tmp_path / "new.db", 1) == NORMAL
        assert write(tmp_path / "new.db", 2) == NORMAL
        assert log_of(tmp_path / "new.db").exists()
        memory = sqlalchemy.create_engine("sqlite://")
        with memory.connect() as connection:
            assert connection.execute(sqlalchemy.text("SELECT 1")).scalar_one() == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["new.db"]


def test_a_storage_keeps_the_files_of_few_runs_open_and_others_read_them_meanwhile(
    tmp_path: Path,
) -> None:
    history.write_quickly()
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        runs = [instance.create_run_for_job(nothing) for _ in range(history.OPEN_AT_ONCE + 3)]
        for run in (*runs, *runs):
            instance.report_engine_event("something", run)
        assert len(open_files(tmp_path / "history" / "runs")) == history.OPEN_AT_ONCE
        last = tmp_path / "history" / "runs" / f"{runs[-1].run_id}.db"
        assert log_of(last).exists()
        with sqlite3.connect(last) as other:
            assert other.execute("SELECT count(*) FROM event_logs").fetchone() == (2,)
        other.close()
        history.close_files()
        assert not open_files(tmp_path)
        assert not log_of(last).exists()
        # Whoever writes behind the end opens them again.
        for run in runs:
            instance.report_engine_event("something more", run)
            assert len(instance.all_logs(run.run_id)) == 3


def open_files(folder: Path) -> set[str]:
    """The databases below a folder that this process has open."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(number.readlink()))
    return {one for one in found if one.startswith(f"{folder}/") and one.endswith(".db")}
