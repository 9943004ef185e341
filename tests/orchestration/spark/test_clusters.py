"""A session on a cluster: one that does not answer is named, and none is sent the driver's own credentials."""

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
from orchestration.spark.session import WeirSpark
from orchestration.spark.settings import session_config
from transforms.errors import ClusterAway

def session(master):
    os.environ["WEIR_SPARK_MASTER"] = master
    return WeirSpark(spark_config=session_config(os.environ)).spark_session

try:
    session(os.environ["NOBODY"])
except ClusterAway as away:
    print(away)
print(session("local[1]").range(7).count(), "rows")
"""


# As for a cluster, in one process: what a session's tasks get of Hadoop's settings is what the driver has of them.
KEYS = """
import os
from orchestration.spark.session import WeirSpark
from orchestration.spark.settings import session_config

environment = {**os.environ, "WEIR_SPARK_MASTER": os.environ["CLUSTER"]}
settings = session_config(environment) | {"spark.master": "local[1]"}
spark = WeirSpark(spark_config=settings).spark_session
entries, values = spark._jsc.hadoopConfiguration().iterator(), set()
while entries.hasNext():
    values.add(entries.next().getValue())
print(len(values & {"the-key", "the-secret", "the-token"}), "sent")
"""


def run(script: str, given: dict[str, str]) -> str:
    """What the script prints, with these in its environment."""
    here = {"SPARK_LOCAL_IP": "127.0.0.1", "WEIR_SPARK_DRIVER_MEMORY": "1g"}
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).resolve().parents[3],
        env={**os.environ, **here, **given},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.mark.parametrize(
    ("master", "sent"),
    [("spark://one:7077", 0), ("yarn", 0), pytest.param("local[1]", 3, id="what Spark does")],
)
def test_the_driver_s_credentials_of_a_store_are_not_sent_to_executors(
    master: str, sent: int
) -> None:
    keys = {
        "AWS_ACCESS_KEY_ID": "the-key",
        "AWS_SECRET_ACCESS_KEY": "the-secret",
        "AWS_SESSION_TOKEN": "the-token",
    }
    assert f"{sent} sent" in run(KEYS, {"CLUSTER": master, **keys})


def test_a_cluster_that_does_not_answer_is_named_and_the_next_session_is_another() -> None:
    (port,) = free_ports(1)
    nobody = f"spark://127.0.0.1:{port}"
    said = run(SCRIPT, {"NOBODY": nobody})
    assert f"no session could be started on {nobody}: nobody answers there" in said
    assert "7 rows" in said
