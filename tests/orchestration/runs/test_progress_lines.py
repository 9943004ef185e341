"""A run's log: its summary, and at a terminal what the steps say and nothing of Dagster's own."""

# No postponed annotations here: Dagster reads the functions' own.
import time
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from orchestration import console
from orchestration.definitions import job_to_gold
from orchestration.resources import lake_of
from orchestration.runs import execution
from orchestration.runs.execution import progress_lines
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
CONSOLE: dict[str, Any] = {"loggers": {"console": {}}}


def test_a_step_says_what_it_says_and_dagster_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "SILENCE", 0.2)

    @dg.asset(key=["bronze", "shop"])
    def bronze(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        context.log.debug("not this")
        context.log.info("bronze.shop: 6 new objects")
        context.log.warning("bronze.shop: one was replaced")
        time.sleep(1.2)
        return dg.MaterializeResult()

    job = dg.Definitions(
        assets=[bronze],
        jobs=[dg.define_asset_job("job", executor_def=dg.in_process_executor)],
        loggers={"console": progress_lines},
    ).resolve_job_def("job")
    with dg.DagsterInstance.ephemeral() as instance, console.waiting("starting"):
        capsys.readouterr()
        job.execute_in_process(instance=instance, run_config=CONSOLE)
    said = [line for line in capsys.readouterr().err.splitlines() if "starting" not in line]
    assert said[:2] == ["  bronze.shop: 6 new objects", "  warning: bronze.shop: one was replaced"]
    assert said[2:]
    assert all(line.startswith("  … working on bronze.shop (") for line in said[2:])


def test_the_summary_is_in_the_runs_log_and_not_twice_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = change("I", 1, after={"id": "1", "name": "Ada"})
    lay(tmp_path / "landing", "2025-11-20/03/a.json", drop(line, line, "cut off"))
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})
    printed: list[str] = []
    monkeypatch.setattr(execution, "say", printed.append)
    job = job_to_gold(feed, lake_of(str(tmp_path / "warehouse")), {"console": progress_lines})
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(
            instance=instance, partition_key="2025-11-20T03", run_config=CONSOLE
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
