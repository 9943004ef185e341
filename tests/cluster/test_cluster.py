"""Spark on several hosts, tables in a bucket: the same gold as on one machine, also where a worker is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.spark import archive
from tests.cluster import runs
from tests.services.seaweed import Store, store
from tests.services.spark_cluster import Cluster, running_cluster, wait

__all__ = ["store"]

pytestmark = [pytest.mark.journey, pytest.mark.services]

EVENTS = int(os.environ.get("WEIR_CLUSTER_EVENTS", "100000"))
"""More than a run folds in its own process."""
COMPARED = "WEIR_CLUSTER_EVENTS" in os.environ
"""True where one worker is compared with two, which takes two runs more."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, store: Store) -> Path:
    """Where the feed file is; its drops are in the store, and so is the archive made."""
    made = tmp_path_factory.mktemp("cluster")
    runs.lay_feed(made, store, EVENTS)
    archive.make(made / "weir.tar.gz")
    store.put("tables", {})
    return made


@pytest.fixture(scope="module")
def took() -> dict[int, float]:
    """The seconds of the runs without an accident, by the number of workers."""
    return {}


@pytest.fixture(scope="module")
def cluster(folder: Path, store: Store) -> Iterator[Cluster]:
    """A master and two workers."""
    (folder / "hosts").mkdir()
    with running_cluster(folder / "hosts", store.environment()) as running:
        yield running


@pytest.fixture(scope="module")
def here(folder: Path, store: Store) -> tuple[int, str]:
    """Gold as one machine makes it, in a folder."""
    warehouse = str(folder / "here")
    seconds = runs.start(folder, "here", warehouse, store.environment()).end()
    print(f"{EVENTS:,} events on one machine, tables in a folder: {seconds:.0f} s", flush=True)
    return runs.gold(warehouse, store.environment())


def on(cluster: Cluster, folder: Path, store: Store, name: str) -> runs.Run:
    """A run on the cluster, into a warehouse of this name."""
    environment = {
        **store.environment(),
        "WEIR_SPARK_MASTER": cluster.master,
        "WEIR_SPARK_ARCHIVE": str(folder / "weir.tar.gz"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    return runs.start(folder, name, f"s3://tables/{name}", environment)


def executors(cluster: Cluster) -> list[list[str]]:
    """For each worker, the executors that it has started, each a folder of its own."""
    return [
        sorted(str(one) for one in worker.folder.glob("app-*/*") if one.is_dir())
        for worker in cluster.workers
    ]


def has_worked(executor: str) -> bool:
    """True once tasks of this executor have run: it says so in its log."""
    log = Path(executor, "stderr")
    return log.exists() and "Finished task" in log.read_text(errors="replace")


@pytest.mark.skipif(not COMPARED, reason="each run takes long: make cluster-test has this one")
def test_two_workers_share_the_work(
    cluster: Cluster, folder: Path, store: Store, here: tuple[int, str], took: dict[int, float]
) -> None:
    took[2] = on(cluster, folder, store, "two").end()
    print(f"{EVENTS:,} events on two workers, tables in a store: {took[2]:.0f} s", flush=True)
    assert runs.gold("s3://tables/two", store.environment()) == here
    for started in executors(cluster):
        assert any(map(has_worked, started)), "a worker had nothing to do"


def test_gold_is_the_same_on_a_cluster_one_worker_of_which_dies(
    cluster: Cluster, folder: Path, store: Store, here: tuple[int, str]
) -> None:
    doomed = cluster.workers[-1]
    before = set(doomed.folder.glob("app-*/*"))
    run = on(cluster, folder, store, "killed")

    def at_work() -> bool:
        assert run.process.poll() is None, run.said
        return any(has_worked(str(one)) for one in {*doomed.folder.glob("app-*/*")} - before)

    wait(at_work, "the worker to be killed had nothing to do", runs.LONGEST)
    doomed.kill()
    assert run.process.poll() is None, "the run was over before the worker died"
    seconds = run.end()
    print(f"{EVENTS:,} events, one of two workers killed: {seconds:.0f} s", flush=True)
    wait(lambda: cluster.alive() == 1, "the master still has the dead worker", 120)
    assert runs.gold("s3://tables/killed", store.environment()) == here
    for started in executors(cluster):
        # What the tasks imported came with the archive: the hosts' own Python has none of it.
        assert all(Path(one, archive.FOLDER, "transforms").is_dir() for one in started)


@pytest.mark.skipif(not COMPARED, reason="each run takes long: make cluster-test has this one")
def test_one_worker_alone_makes_the_same(
    cluster: Cluster, folder: Path, store: Store, here: tuple[int, str], took: dict[int, float]
) -> None:
    for worker in cluster.workers[1:]:
        worker.kill()
    wait(lambda: cluster.alive() == 1, "the master still has the dead worker", 120)
    took[1] = on(cluster, folder, store, "one").end()
    print(f"{EVENTS:,} events on one worker, tables in a store: {took[1]:.0f} s", flush=True)
    print(f"two workers are {took[1] / took[2]:.2f} times as fast as one", flush=True)
    assert runs.gold("s3://tables/one", store.environment()) == here
