"""A Python worker that neither takes nor gives anything is ended; where Spark tries twice, its task is done again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestration.spark.settings import session_config

pytestmark = pytest.mark.journey

# In a process of its own: the setting concerns all of a session.
SCRIPT = """
import os, time
from pyspark import TaskContext
from assets.task_errors import raise_clearly
from orchestration.spark.session import WeirSpark
from orchestration.spark.settings import session_config

def stage(batches):
    for batch in batches:
        if TaskContext.get().attemptNumber() == 0:
            time.sleep(3_600)
        yield batch

settings = session_config(os.environ)
settings["spark.python.worker.idleTimeoutSeconds"] = "5"
spark = WeirSpark(spark_config=settings).spark_session
with raise_clearly():
    print(spark.range(7).coalesce(1).mapInArrow(stage, "id long").count())
"""


def run(master: str) -> subprocess.CompletedProcess[str]:
    """The script in a session of this master."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=Path(__file__).resolve().parents[3],
        env={**os.environ, "WEIR_SPARK_MASTER": master, "WEIR_SPARK_DRIVER_MEMORY": "1g"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_task_whose_worker_stands_still_is_done_again() -> None:
    ended = run("local[1,2]")
    assert ended.stdout.splitlines()[-1:] == ["7"], ended.stderr[-3000:]


def test_where_spark_tries_once_the_run_ends_and_says_why() -> None:
    ended = run("local[1]")
    assert ended.returncode != 0
    assert "WorkerStill: a Python worker of Spark's stood still for half an hour" in ended.stderr


def test_every_session_ends_workers_that_stand_still() -> None:
    for master in ("local[*]", "spark://master.example:7077"):
        settings = session_config({"WEIR_SPARK_MASTER": master})
        assert settings["spark.python.worker.killOnIdleTimeout"] == "true"
        # As the error says.
        assert settings["spark.python.worker.idleTimeoutSeconds"] == str(30 * 60)
