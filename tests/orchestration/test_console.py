"""What is said while Weir works, and what is not."""

# No postponed annotations here: Dagster reads the functions' own.
import re
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from orchestration import console


def test_silence_is_broken_with_what_is_being_waited_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "SILENCE", 0.2)
    with console.waiting("starting Spark"):
        time.sleep(1.2)
    said = capsys.readouterr().err.splitlines()
    assert said
    assert all(re.fullmatch(r"  … starting Spark \(\d s\)", line) for line in said)
    time.sleep(0.8)
    assert capsys.readouterr().err == ""


def test_who_speaks_often_is_not_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    with console.waiting("reading"):
        console.say("one")
        time.sleep(0.6)
    assert capsys.readouterr().err == "one\n"


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
        loggers={"console": console.progress_lines},
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
    assert console.asset_of(step) == table


NOISY = """
import subprocess, sys, time
from orchestration.console import without_notices
child = '''
import sys, time
sys.stderr.write("WARNING: Using incubator modules: jdk.incubator.vector\\\\n")
sys.stderr.write('Setting default log level to "WARN".\\\\n')
sys.stderr.write("To adjust logging level use sc.setLogLevel(newLevel).\\\\n")
sys.stderr.write("out of memory\\\\n")
sys.stderr.flush()
time.sleep(0.5)
sys.stderr.write("later\\\\n")
'''
with without_notices():
    jvm = subprocess.Popen([sys.executable, "-c", child])
print("my own", file=sys.stderr, flush=True)
jvm.wait()
time.sleep(0.5)
"""


def test_what_every_jvm_says_is_left_out_and_the_rest_is_passed_on(root: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", NOISY], cwd=root, capture_output=True, text=True, check=True
    )
    assert sorted(answer.stderr.splitlines()) == ["later", "my own", "out of memory"]
