"""A Spark of one machine is called by that machine alone: no port of it waits for callers on another address."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from orchestration.spark.settings import is_on_this_machine, session_config
from tests.support.listening import are_loopback, of_session

SESSION = """
import sys
from orchestration.resources import lake_of
spark = lake_of(sys.argv[1]).spark
assert spark.range(3).rdd.map(lambda row: row.id).sum() == 3
print("page", spark.sparkContext.uiWebUrl, flush=True)
sys.stdin.read()
"""


@contextmanager
def session(
    folder: os.PathLike[str], **environment: str
) -> Iterator[tuple[str, dict[int, set[str]]]]:
    """A session of a process of its own: the address of Spark's page, and what its ports listen on."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEIR_", "SPARK_", "PYSPARK_"))
    }
    with subprocess.Popen(
        [sys.executable, "-c", SESSION, str(folder)],
        env={**kept, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        page = next((line for line in process.stdout if line.startswith("page ")), "")
        try:
            yield page.split()[-1], of_session(process.pid)
        finally:
            process.communicate("")


@pytest.mark.parametrize("master", [{}, {"WEIR_SPARK_MASTER": "local[1]"}])
def test_every_port_of_a_local_spark_is_loopbacks(
    tmp_path: os.PathLike[str], master: dict[str, str]
) -> None:
    with session(tmp_path, WEIR_SPARK_UI="true", **master) as (page, found):
        port = int(page.rpartition(":")[2])
        # Spark's page, the driver's own port, its block manager and Python's gateway.
        assert port in found
        assert len(found) >= 4
        assert {at: all_ for at, all_ in found.items() if not are_loopback(all_)} == {}


@pytest.mark.parametrize(
    ("master", "is_local"),
    [
        *(("local", True), ("local[*]", True), ("local[2,4]", True)),
        *(("local-cluster[2,1,1024]", False), ("spark://master:7077", False), ("yarn", False)),
    ],
)
def test_the_driver_of_a_cluster_is_where_the_executors_reach_it(
    master: str, is_local: bool
) -> None:
    settings = session_config({"WEIR_SPARK_MASTER": master})
    assert is_on_this_machine(settings) is is_local
    expected = "127.0.0.1" if is_local else None
    assert settings.get("spark.driver.bindAddress") == expected
    assert settings.get("spark.driver.host") == expected


def test_only_the_executors_of_a_cluster_take_memory_in_small_pieces() -> None:
    cluster, local = (
        session_config({"WEIR_SPARK_MASTER": master}) for master in ("yarn", "local[4]")
    )
    # Java's head of an array is 16 bytes: with it, a page fills whole pieces of the heap and none beside.
    assert (int(cluster["spark.buffer.pageSize"]) + 16) % (1 << 20) == 0
    assert cluster["spark.sql.inMemoryColumnarStorage.batchSize"] == "1000"
    small = {"spark.buffer.pageSize", "spark.sql.inMemoryColumnarStorage.batchSize"}
    assert not small & {*local, *session_config({})}
