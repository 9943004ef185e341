"""A run that nobody started at a terminal has its summary in its log."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from orchestration.automation.jobs import job_name
from orchestration.console import say
from orchestration.definitions import build
from orchestration.resources import lake_of
from orchestration.runs import execution
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_the_summary_is_in_the_runs_log_and_not_twice_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = {"id": "1", "name": "Ada"}
    line = change("I", 1, after=ada)
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(line, line, "cut off"))
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})
    printed: list[str] = []
    monkeypatch.setattr(execution, say.__name__, printed.append)
    lake = lake_of(str(tmp_path / "warehouse"))
    defs = build([feed], lake, {"console": execution.progress_lines})
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_job_def(job_name(feed)).execute_in_process(
            instance=instance,
            partition_key="2025-11-20T03",
            run_config={"loggers": {"console": {}}},
        )
        logged = [one.user_message for one in instance.all_logs(result.run_id)]
    assert [one for one in logged if one.startswith("In all, zoo.")] == [
        "In all, zoo.(no table): 1 source event = 0 changes + 0 duplicates + 1 quarantined",
        "In all, zoo.pets: 2 source events = 1 change + 1 duplicate + 0 quarantined; now 1 row",
    ]
    (checks,) = [one for one in logged if one.startswith("In all, checks: ")]
    assert checks.endswith(", 0 failed")
    assert any("bronze.zoo: 1 new object" in one for one in printed)
    assert not any("In all" in one for one in printed)
