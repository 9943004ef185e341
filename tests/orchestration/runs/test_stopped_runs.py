"""A signal stops a run of several feeds as a whole, says so, and leaves what the next run goes on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pet_feed import change, drop, lay

FEED = """landing: {landing}
format: arcion_s3_json
tables:
  pets: {{key: [id], columns: {{id: int, name: string}}}}
"""
SIGNALLED = """
import os, sys, time
from assets.bronze import from_objects
from orchestration.cli.main import main

def stop(*_):
    os.kill(os.getpid(), int(sys.argv.pop()))
    time.sleep(30)

from_objects.land = stop
main(["run", "--executor", "in-process"])
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_feeds_and_the_next_run_goes_on(
    tmp_path: Path, sent: signal.Signals
) -> None:
    for name in ("farm", "zoo"):
        landing = tmp_path / f"{name}_drops"
        lay(tmp_path, f"feeds/{name}.yaml", FEED.format(landing=landing).encode())
        lay(landing, "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1", "name": "A"})))
    told = {
        "WEIR_FEEDS": str(tmp_path / "feeds"),
        "WEIR_WAREHOUSE": str(tmp_path / "warehouse"),
        "DAGSTER_HOME": "",
    }
    stopped = run(["-c", SIGNALLED, str(sent.value)], told)
    assert stopped.returncode == 1, stopped.stderr
    assert "stopped by a signal: nothing is half-written" in stopped.stdout + stopped.stderr
    assert "zoo: not run, because this run was stopped" in stopped.stderr
    assert "Error" not in stopped.stdout + stopped.stderr
    again = run(["-m", "orchestration.cli.main", "run", "--executor", "in-process"], told)
    assert again.returncode == 0, again.stderr
    for name in ("farm", "zoo"):
        assert f"gold.{name}.pets: 1 key changed, now 1 row" in again.stderr


def run(words: list[str], told: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], env={**os.environ, **told}, capture_output=True, text=True
    )
