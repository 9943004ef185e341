"""Workers have what tasks import when they start, and are those that Weir's own daemon has forked off."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from orchestration.resources import lake_of

PREPARED = """
import sys, threading
from assets.executors import python_daemon

python_daemon.prepare(["no.such.module", *python_daemon.STAGES])
assert threading.active_count() == 1
print(*[one for one in python_daemon.STAGES if one not in sys.modules])
"""


def test_everything_is_imported_that_can_be(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PREPARED], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_it_is_asked_for_where_tasks_have_this_weir(tmp_path: Path) -> None:
    cluster = {"WEIR_SPARK_MASTER": "spark://m:7077"}
    with_archive = cluster | {"WEIR_SPARK_ARCHIVE": "/srv/weir.tar.gz"}
    here, there, bare = (
        lake_of(str(tmp_path), one).pyspark.spark_config for one in ({}, with_archive, cluster)
    )
    name = "spark.python.daemon.module"
    assert here[name] == there[name] == "assets.executors.python_daemon"
    assert name not in bare


def parent_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        words = Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
        yield pa.RecordBatch.from_pydict({"command": [" ".join(words)]})


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="a system without /proc")
def test_workers_are_forked_off_by_it(spark: SparkSession) -> None:
    found = spark.range(1).mapInArrow(parent_of, "command string").toArrow()["command"].to_pylist()
    assert found
    assert all("assets.executors.python_daemon" in one for one in found)
