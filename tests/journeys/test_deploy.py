"""What docs/howto/deploy.md says: Dagster on a Postgres, its two processes as the page starts them, tables in S3."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.journeys.server import LAUNCH, START_SECONDS, Server, end, is_ready
from tests.services.kafka import free_ports
from tests.services.postgres import USER, Postgres, postgres
from tests.services.seaweed import Store, store
from tests.support.pet_feed import change, drop

__all__ = ["postgres", "store"]

pytestmark = [pytest.mark.journey, pytest.mark.services]

FEED = """\
format: arcion_s3_json
landing: s3://zoo-drops/zoo/
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""
SECONDS = 400
STATE = """
query State($id: String!) {
  partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } }
}
"""


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/howto/deploy.md").read_text(encoding="utf-8")


def block(page: str, kind: str, word: str) -> str:
    """The one block of this kind that has the word."""
    (found,) = [
        body
        for body in re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        if word in body
    ]
    return str(found)


@pytest.fixture(scope="module")
def server(
    page: str,
    root: Path,
    postgres: Postgres,
    store: Store,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    """Both processes, as the page has them, with everything that it says in their environment."""
    folder = tmp_path_factory.mktemp("deployed")
    (folder / "dagster").mkdir()
    (folder / "dagster" / "dagster.yaml").write_text(block(page, "yaml", "postgres_db"))
    (folder / "feeds").mkdir()
    (folder / "feeds" / "zoo.yaml").write_text(FEED)
    bo = {"id": "2", "name": "Bo"}
    data = drop(change("I", 1, after={"id": "1", "name": "Ada"}), change("I", 2, after=bo))
    store.put("zoo-drops", {"zoo/2025-11-20/03/a.json": data})
    store.put("zoo-tables", {})
    postgres.run("CREATE DATABASE dagster_history")
    (port,) = free_ports(1)
    environment = {
        **os.environ,
        **store.environment(),
        "DAGSTER_HOME": f"{folder / 'dagster'}",
        "DAGSTER_PG_HOST": "127.0.0.1",
        "DAGSTER_PG_PORT": f"{postgres.port}",
        "DAGSTER_PG_USER": USER,
        "DAGSTER_PG_PASSWORD": "none",
        "DAGSTER_PG_DB": "dagster_history",
        "WEIR_FEEDS": f"{folder / 'feeds'}",
        "WEIR_WAREHOUSE": "s3://zoo-tables/lakehouse",
        "WEIR_SPARK_DRIVER_MEMORY": "1g",
        "PYTHONPATH": f"{root}",
        "PYTHONWARNINGS": "ignore",
    }
    promised = set(re.findall(r"^(\w+)=", block(page, "ini", "DAGSTER_PG_HOST"), re.MULTILINE))
    assert promised <= {*environment}
    server = Server(f"http://127.0.0.1:{port}", folder / "dagster", folder, folder / "log")
    with ExitStack() as ended, server.log.open("wb") as log:
        for line in block(page, "bash", "dagster-daemon").splitlines()[1:]:
            program, *words = shlex.split(line.replace("3000", f"{port}"))
            process = subprocess.Popen(
                [Path(sys.executable).with_name(Path(program).name), *words],
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            ended.callback(end, process)
        deadline = time.monotonic() + START_SECONDS
        while not is_ready(server):
            assert time.monotonic() < deadline, server.said
            time.sleep(1)
        yield server


def test_a_window_goes_from_a_bucket_to_a_bucket_and_its_run_is_in_postgres(
    server: Server, postgres: Postgres, store: Store
) -> None:
    layers = ("bronze", "silver", "quarantine", "progress")
    assets = [[layer, "zoo", f"zoo_{layer}"] for layer in layers]
    assets += [["gold", "zoo", "pets"], ["gold", "zoo", "pets__tombstones"]]
    params = {
        "assetSelection": [{"path": path} for path in assets],
        "partitionNames": ["2025-11-20T03"],
    }
    launched = server.ask(LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    deadline = time.monotonic() + SECONDS
    status = "REQUESTED"
    while not status.startswith("COMPLETED"):
        assert status not in ("FAILED", "CANCELED"), server.said
        assert time.monotonic() < deadline, server.said
        time.sleep(2)
        answer = server.ask(STATE, id=launched["backfillId"])
        status = answer["partitionBackfillOrError"]["status"]
    assert status == "COMPLETED_SUCCESS", server.said
    found = store.client().list_objects_v2(Bucket="zoo-tables", Prefix="lakehouse/gold/zoo/pets/")
    assert found["KeyCount"] > 1
    runs = postgres.run("\\c dagster_history\nSELECT status FROM runs").split()
    assert "SUCCESS" in runs
    assert not list(server.home.rglob("*.db"))


def test_the_unit_starts_what_the_page_starts(page: str) -> None:
    (started,) = re.findall(r"^ExecStart=/srv/weir/(.*)$", page, re.MULTILINE)
    assert started in block(page, "bash", "dagster-daemon").splitlines()
