"""What the journeys share: one Dagster server over two small feeds, and a backfill of three windows of one of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.journeys.farm import lay_farm
from tests.journeys.server import Backfill, Server, running
from tests.support.pet_feed import change, drop, lay

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
PATIENCE = 30_000
"""Milliseconds: a busy machine draws a graph slowly."""

FEED = """\
# A zoo, captured by Arcion.
format: arcion_s3_json
landing: ../drops
window: hour
tables:
  pets: {key: [id], columns: {id: int, name: string, weight: "decimal(6,2)"}}
  keepers: {key: [id], columns: {id: int, name: string}}
"""
WINDOWS = ("2025-11-20T03", "2025-11-20T04", "2025-11-20T05")
ASSETS = (
    ("bronze", "zoo", "zoo_bronze"),
    ("silver", "zoo", "zoo_silver"),
    ("quarantine", "zoo", "zoo_quarantine"),
    ("gold", "zoo", "pets"),
    ("gold", "zoo", "keepers"),
)


def lay_zoo(landing: Path) -> None:
    """Four windows of changes; the last of them is not part of the backfill."""
    ada = {"id": "1", "name": "Ada", "weight": "3.50"}
    bo = {"id": "2", "name": "Bo", "weight": "12.00"}
    cy = {"id": "3", "name": "Cy", "weight": None}
    lay(
        landing,
        "2025-11-20/03/part_1.json",
        drop(
            change("I", 10, after=ada, table="pets"),
            change("I", 11, after=bo, table="pets"),
            change("I", 12, after={"id": "7", "name": "Mo"}, table="keepers"),
        ),
    )
    lay(
        landing,
        "2025-11-20/04/part_1.json",
        drop(
            change("U", 20, ada, {**ada, "name": "Ava"}, table="pets"),
            change("I", 21, after=cy, table="pets"),
            change("I", 11, after=bo, table="pets"),
        ),
    )
    lay(
        landing,
        "2025-11-20/05/part_1.json",
        drop(
            change("D", 30, before=bo, table="pets"),
            change("I", 31, after={"id": "8", "name": "Nik"}, table="keepers"),
            '{"tableName": {"name": "pets"}, "opType": "I", "cut off',
        ),
    )
    lay(
        landing,
        "2025-11-20/06/part_1.json",
        drop(change("U", 40, cy, {**cy, "name": "not in the backfill"}, table="pets")),
    )


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Server]:
    """Dagster over an empty warehouse, a landing of four windows, and one of three that nobody has run."""
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "feeds").mkdir()
    (folder / "feeds" / "zoo.yaml").write_text(FEED)
    lay_zoo(folder / "drops")
    lay_farm(folder)
    environment = {
        "WEIR_FEEDS": str(folder / "feeds"),
        "WEIR_WAREHOUSE": str(folder / "warehouse"),
        "WEIR_SPARK_DRIVER_MEMORY": "1g",
    }
    with running(root, folder, environment) as dagster:
        yield dagster


@pytest.fixture(scope="session")
def backfill(server: Server) -> Backfill:
    """Three windows of every asset, launched as the button on the asset graph does, and waited for."""
    return server.backfilled(ASSETS, *WINDOWS)


@pytest.fixture(scope="module")
def browser_page(server: Server) -> Iterator[Page]:
    """A page of a headless Chromium, whose addresses are those of the server.

    For one module: while Playwright lives, nothing else in this process may have a loop of events.
    """
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(base_url=server.url, viewport={"width": 1500, "height": 1000})
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield page
        browser.close()
