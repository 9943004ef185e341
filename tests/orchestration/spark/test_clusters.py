"""A cluster that does not answer is named, and leaves nothing behind that the next session would get."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services.kafka import free_ports

pytestmark = pytest.mark.journey

# In a process of its own: there is one session in each.
SCRIPT = """
import os
from orchestration.spark.clusters import ClusterAway
from orchestration.spark.session import WeirSpark
from orchestration.spark.settings import session_config

def session(master):
    os.environ["WEIR_SPARK_MASTER"] = master
    return WeirSpark(spark_config=session_config(os.environ)).spark_session

try:
    session(os.environ["NOBODY"])
except ClusterAway as away:
    print(away)
print(session("local[1]").range(7).count(), "rows")
"""


def test_a_cluster_that_does_not_answer_is_named_and_the_next_session_is_another() -> None:
    (port,) = free_ports(1)
    nobody = f"spark://127.0.0.1:{port}"
    given = {"NOBODY": nobody, "SPARK_LOCAL_IP": "127.0.0.1", "WEIR_SPARK_DRIVER_MEMORY": "1g"}
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=Path(__file__).resolve().parents[3],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert f"no session could be started on {nobody}: nobody answers there" in answer.stdout
    assert "7 rows" in answer.stdout
