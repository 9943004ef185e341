"""A run's log at a terminal: what the steps say, and nothing of Dagster's own."""

# No postponed annotations here: Dagster reads the functions' own.
import time

import dagster as dg
import pytest

from orchestration import console
from orchestration.runs.execution import asset_of, progress_lines


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
        job.execute_in_process(instance=instance, run_config={"loggers": {"console": {}}})
    said = [line for line in capsys.readouterr().err.splitlines() if "starting" not in line]
    assert said[:2] == ["  bronze.shop: 6 new objects", "  warning: bronze.shop: one was replaced"]
    assert said[2:]
    assert all(line.startswith("  … working on bronze.shop (") for line in said[2:])


@pytest.mark.parametrize(
    ("step", "table"),
    [
        ("bronze__shop", "bronze.shop"),
        ("silver_shop", "silver.shop"),
        ("gold_shop_customers", "gold.shop_customers"),
        ("progress__my_shop", "progress.my_shop"),
    ],
)
def test_a_step_is_called_after_its_table(step: str, table: str) -> None:
    assert asset_of(step) == table
