"""Dagster on a Postgres, daemon and pages as processes of their own, a topic of a real broker, Spark on a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from secrets import token_hex

import pytest

from orchestration.spark import archive
from tests.cluster import runs
from tests.cluster.test_cluster import COMPARED, executors, has_worked
from tests.journeys.deployed import DATABASE, bring, deployed
from tests.services.kafka import Broker, Sent, running_broker
from tests.services.postgres import INSTALL, Postgres, postgres, programs
from tests.services.seaweed import SECRET_KEY, Store, store
from tests.services.spark_cluster import Cluster, running_cluster

__all__ = ["postgres", "store"]

pytestmark = [pytest.mark.journey, pytest.mark.services]

WINDOW, THREE = "2025-11-20T03", 1_763_607_600_000
"""The window of all records, and its beginning in milliseconds."""
TOPIC, PARTITIONS, CITIES = "town.public.city", 2, 400
RECORDS = 25_000
"""More than a run reads in its own process."""
GUARDED = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": token_hex(32),
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
}
FEED = """\
format: debezium
landing: kafka://{address}/{topic}
start: {window}
tables:
  city: {{key: [id], columns: {{id: int, name: string}}}}
"""


def change(lsn: int, id: int, name: str | None) -> Sent:
    """What Debezium writes of one change of a Postgres row; a row without a name is deleted."""
    row = {"id": id, "name": name or "gone"}
    source = {"connector": "postgresql", "name": "town", "ts_ms": THREE + lsn, "snapshot": "false"}
    source |= {"db": "town", "schema": "public", "table": "city", "txId": lsn, "lsn": lsn}
    source |= {"sequence": json.dumps([str(lsn - 1), str(lsn)])}
    value = {
        "before": None if name else row,
        "after": row if name else None,
        "source": source,
        "op": "u" if name else "d",
        "ts_ms": THREE + lsn,
    }
    key = json.dumps({"id": id}).encode()
    return Sent(json.dumps(value).encode(), key, at=THREE + lsn, partition=id % PARTITIONS)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker with the topic, and what gold has to hold of it is in ``held``."""
    with running_broker(tmp_path_factory.mktemp("kafka")) as running:
        rng = Random(1)
        running.create(TOPIC, PARTITIONS)
        changes = [
            change(lsn, rng.randrange(CITIES), None if rng.random() < 0.2 else f"city {lsn}")
            for lsn in range(1, RECORDS + 1)
        ]
        running.send(TOPIC, changes)
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, store: Store, broker: Broker) -> Path:
    """Where the feed file and the archive are."""
    made = tmp_path_factory.mktemp("orchestrated")
    (made / "feeds").mkdir()
    feed = FEED.format(address=broker.address, topic=TOPIC, window=WINDOW)
    (made / "feeds" / "town.yaml").write_text(feed)
    archive.make(made / "weir.tar.gz")
    store.put("orchestrated", {})
    return made


@pytest.fixture(scope="module")
def cluster(folder: Path, store: Store) -> Iterator[Cluster]:
    """A master and two workers, which ask for a secret and encrypt, as docs/deploy.md has it."""
    (folder / "hosts").mkdir()
    hosts = folder / "hosts"
    with running_cluster(hosts, store.environment(), conf=GUARDED) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_is_left_out() -> None:
    """``make cluster-test`` promises every part: one that cannot be tried fails it."""
    if COMPARED and programs() is None:
        pytest.fail(f"no Postgres on this machine; install it with: {INSTALL}")


def on_the_cluster(cluster: Cluster, folder: Path, store: Store) -> dict[str, str]:
    """What a process needs to run Spark there."""
    return {
        **store.environment(),
        **cluster.settings,
        "WEIR_SPARK_MASTER": cluster.master,
        "WEIR_SPARK_ARCHIVE": str(folder / "weir.tar.gz"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "WEIR_SPARK_DRIVER_MEMORY": "1g",
    }


def test_the_daemon_brings_a_topic_to_gold_on_the_cluster_as_one_machine_does(
    root: Path, folder: Path, cluster: Cluster, store: Store, postgres: Postgres
) -> None:
    settings = on_the_cluster(cluster, folder, store)
    settings |= {"WEIR_FEEDS": str(folder / "feeds"), "WEIR_WAREHOUSE": "s3://orchestrated/tables"}
    with deployed(root, folder, postgres, settings) as server:
        bring(server, "town", ["city"], WINDOW)
        assert "SUCCESS" in postgres.run(f"\\c {DATABASE}\nSELECT status FROM runs").split()
    assert any(has_worked(one) for started in executors(cluster) for one in started)
    words = ("run", "--feed", "town")
    here = str(folder / "here")
    runs.start(folder, "here", here, store.environment(), *words).end()
    found, expected = (
        runs.rows_of(runs.opened(warehouse, "town/city", store.environment()))
        for warehouse in ("s3://orchestrated/tables", here)
    )
    assert found == expected
    assert 0 < len(found) < CITIES


@pytest.mark.skipif(not COMPARED, reason="two runs of the demo: make cluster-test has them")
def test_the_demo_is_the_same_on_the_cluster(folder: Path, cluster: Cluster, store: Store) -> None:
    here = str(folder / "demo_here")
    before = {one for started in executors(cluster) for one in started}
    for name, warehouse, more in (
        ("demo_here", here, store.environment()),
        ("demo_there", "s3://orchestrated/demo", on_the_cluster(cluster, folder, store)),
    ):
        words = ("demo", "--folder", str(folder / f"{name}_laid_out"))
        seconds = runs.start(folder, name, warehouse, more, *words).end()
        print(f"the demo into {warehouse.partition(':')[0]}: {seconds:.0f} s", flush=True)
    # Most of the demo's windows are so small that no Spark is needed; what needs it ran on the cluster.
    new = {one for started in executors(cluster) for one in started} - before
    assert any(map(has_worked, new))
    names = sorted(
        str(one.parent.relative_to(Path(here, "gold")))
        for one in Path(here, "gold").glob("*/*/_delta_log")
    )
    assert len(names) > 20
    for name in names:
        found, expected = (
            runs.rows_of(runs.opened(warehouse, name, store.environment()))
            for warehouse in ("s3://orchestrated/demo", here)
        )
        assert found == expected, name


def test_no_secret_is_in_what_the_hosts_keep(cluster: Cluster, folder: Path) -> None:
    assert any(has_worked(one) for started in executors(cluster) for one in started)
    looked_at = 0
    for path in (folder / "hosts").rglob("*"):
        # Its own file of settings is where a cluster has the secret from.
        if path.is_file() and path.name != "spark-defaults.conf":
            body, looked_at = path.read_bytes(), looked_at + 1
            for secret in (GUARDED["spark.authenticate.secret"], SECRET_KEY):
                assert secret.encode() not in body, path
    assert looked_at > 10


@pytest.mark.skipif(not COMPARED, reason="it waits for an answer: make cluster-test has it")
def test_a_driver_without_the_clusters_secret_is_not_let_in(
    folder: Path, cluster: Cluster, store: Store
) -> None:
    before = len(cluster.state()["completedapps"])
    settings = on_the_cluster(cluster, folder, store)
    del settings["SPARK_CONF_DIR"]
    stranger = runs.start(
        folder, "stranger", "s3://orchestrated/stranger", settings, "run", "--feed", "town"
    )
    assert stranger.process.wait(timeout=300) != 0, stranger.said
    assert f"no session could be started on {cluster.master}" in stranger.said
    found = cluster.state()
    assert (found["activeapps"], len(found["completedapps"])) == ([], before)
