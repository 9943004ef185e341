"""What docs/deploy.md says: Dagster on a Postgres, its two processes as the page starts them, tables in S3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.deployed import DATABASE, block, bring, deployed, page_of
from tests.journeys.server import Server
from tests.services.postgres import Postgres, postgres
from tests.services.seaweed import Store, store
from tests.support.pet_feed import change, drop

__all__ = ["postgres", "store"]

pytestmark = [pytest.mark.journey, pytest.mark.services]

FEED = """\
format: arcion_s3_json
landing: s3://zoo-drops/zoo/
tables: {pets: {key: [id], columns: {id: int, name: string}}}
"""


@pytest.fixture(scope="module")
def server(
    root: Path, postgres: Postgres, store: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Both processes over a feed whose drops and tables are in a store."""
    folder = tmp_path_factory.mktemp("deployed")
    (folder / "feeds").mkdir()
    (folder / "feeds" / "zoo.yaml").write_text(FEED)
    bo = {"id": "2", "name": "Bo"}
    data = drop(change("I", 1, after={"id": "1", "name": "Ada"}), change("I", 2, after=bo))
    store.put("zoo-drops", {"zoo/2025-11-20/03/a.json": data})
    store.put("zoo-tables", {})
    settings = {
        **store.environment(),
        "WEIR_FEEDS": f"{folder / 'feeds'}",
        "WEIR_WAREHOUSE": "s3://zoo-tables/lakehouse",
        "WEIR_SPARK_DRIVER_MEMORY": "1g",
    }
    with deployed(root, folder, postgres, settings) as running:
        yield running


def test_a_window_goes_from_a_bucket_to_a_bucket_and_its_run_is_in_postgres(
    server: Server, postgres: Postgres, store: Store
) -> None:
    bring(server, "zoo", ["pets"], "2025-11-20T03")
    found = store.client().list_objects_v2(Bucket="zoo-tables", Prefix="lakehouse/gold/zoo/pets/")
    assert found["KeyCount"] > 1
    runs = postgres.run(f"\\c {DATABASE}\nSELECT status FROM runs").split()
    assert "SUCCESS" in runs
    assert not list(server.home.rglob("*.db"))


def test_the_unit_starts_what_the_page_starts(root: Path) -> None:
    page = page_of(root)
    (started,) = re.findall(r"^ExecStart=/srv/weir/(.*)$", page, re.MULTILINE)
    assert started in block(page, "bash", "weir-daemon").splitlines()
