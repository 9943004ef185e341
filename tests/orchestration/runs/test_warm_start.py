"""Runs that Dagster's own launcher starts are forked, stop and die as ever, and follow the feed file as it is now."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from deltalake import DeltaTable

from orchestration.resources import ROOT
from orchestration.runs import history
from tests.support.pet_feed import change, drop, lay

pytestmark = pytest.mark.journey

FEED = """landing: {landing}
format: arcion_s3_json
start: 2025-11-20T03
tables:
  pets: {{key: [id], columns: {{{columns}}}}}
"""
WINDOW = "2025-11-20T03"
LONGEST = 300.0


@dataclass(frozen=True)
class Launcher:
    """Dagster's own, with a code server over the one feed of a folder."""

    folder: Path
    instance: dg.DagsterInstance
    workspace: WorkspaceProcessContext

    def start(self) -> str:
        """Launch a run of the window, as the daemon does; returns its id."""
        request = self.workspace.create_request_context()
        (entry,) = request.get_code_location_entries().values()
        assert entry.code_location is not None, entry.load_error
        job = entry.code_location.get_repository("__repository__").get_full_job("zoo_to_gold")
        run = create_run_for_test(
            self.instance,
            job_name=job.name,
            remote_job_origin=job.get_remote_origin(),
            job_code_origin=job.get_python_origin(),
            tags={"dagster/partition": WINDOW},
        )
        self.instance.launch_run(run.run_id, request)
        run_id: str = run.run_id
        return run_id

    def said(self, run: str) -> str:
        """All that is logged of a run."""
        return "\n".join(entry.message for entry in self.instance.all_logs(run))

    def wait(self, run: str, what: Callable[[], bool]) -> None:
        """Wait for something of a run."""
        deadline = time.monotonic() + LONGEST
        while not what():
            assert time.monotonic() < deadline, self.said(run)
            time.sleep(0.1)

    def process_of(self, run: str) -> int:
        """The number of the process of a run, which has come to bronze."""
        self.wait(run, lambda: 'Started execution of step "bronze_zoo"' in self.said(run))
        found = re.search(r"Started process for run \(pid: (\d+)\)", self.said(run))
        assert found
        return int(found[1])

    def ends(self, run: str, status: dg.DagsterRunStatus) -> None:
        """Wait for the end of a run, and see how it ended."""

        def is_over() -> bool:
            found = self.instance.get_run_by_id(run)
            return found is not None and found.is_finished

        self.wait(run, is_over)
        found = self.instance.get_run_by_id(run)
        assert found is not None
        assert found.status == status, self.said(run)


def declare(folder: Path, columns: str) -> None:
    """Write the feed file."""
    text = FEED.format(landing=folder / "drops", columns=columns)
    lay(folder, "feeds/zoo.yaml", text.encode())


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launcher]:
    """The launcher over a feed of one drop."""
    declare(tmp_path, "id: int")
    lay(tmp_path, f"drops/{WINDOW.replace('T', '/')}/a.json", drop(change("I", 1, after=ADA)))
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    home = tmp_path / "dagster"
    history.make_home(home)
    target = WorkspaceFileTarget([str(ROOT / "workspace.yaml")])
    with (
        dg.DagsterInstance.from_config(str(home)) as instance,
        WorkspaceProcessContext(instance, target) as workspace,
    ):
        try:
            yield Launcher(tmp_path, instance, workspace)
        finally:
            # A code server that is told to end waits for its runs.
            for run in instance.get_runs():
                instance.run_launcher.terminate(run.run_id)


ADA = {"id": "1", "name": "Ada"}


def test_a_run_is_forked_can_be_stopped_and_killed_and_reads_the_feed_file_of_now(
    launcher: Launcher,
) -> None:
    # Who opens this lock to write waits until somebody reads it.
    lock = launcher.folder / "warehouse" / "_locks" / "bronze.zoo"
    lock.parent.mkdir(parents=True)
    os.mkfifo(lock)
    stopped = launcher.start()
    forked_from = int(Path(f"/proc/{launcher.process_of(stopped)}/stat").read_text().split()[3])
    assert "forkserver" in Path(f"/proc/{forked_from}/cmdline").read_text()
    assert launcher.instance.run_launcher.terminate(stopped)
    launcher.ends(stopped, dg.DagsterRunStatus.CANCELED)

    killed = launcher.start()
    os.kill(launcher.process_of(killed), signal.SIGKILL)
    launcher.ends(killed, dg.DagsterRunStatus.FAILURE)
    assert "SIGKILL" in launcher.said(killed)

    lock.unlink()
    declare(launcher.folder, "id: int, name: string")
    launcher.ends(launcher.start(), dg.DagsterRunStatus.SUCCESS)
    gold = DeltaTable(launcher.folder / "warehouse" / "gold" / "zoo" / "pets")
    (row,) = gold.to_pyarrow_table().to_pylist()
    assert {name: row[name] for name in ADA} == {"id": 1, "name": "Ada"}
