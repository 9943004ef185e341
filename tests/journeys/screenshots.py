"""``make screenshots``: pictures of the real UI over the demo, and of the pages that Weir makes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from tests.journeys.server import running

ROOT: Final = Path(__file__).resolve().parents[2]
IMAGES: Final = ROOT / "docs" / "images"
LARGEST: Final = 150_000
"""Bytes that a picture may have."""
PATIENCE: Final = 60_000
"""Milliseconds: a busy machine draws a graph slowly."""
CHROMIUM: Final = ("/usr/bin/chromium", "/usr/bin/chromium-browser")


@dataclass(frozen=True)
class Picture:
    """A page of the UI, or a file below the warehouse, and a text that is there once it is drawn.

    ``press`` is a button of the page that is pressed first; ``width`` and ``height`` are those of the window, which is
    scrolled until the text is in its middle where it says so.
    """

    path: str
    shows: str
    press: str = ""
    scrolled: bool = False
    width: int = 1280
    height: int = 800

    def address(self, warehouse: Path) -> str:
        """Where a browser goes: a pattern of files stands for the first that there is."""
        if self.path.startswith("/"):
            return self.path
        return min(warehouse.glob(self.path)).as_uri()


CHECK: Final = "/assets/silver/shop/shop_silver?view=checks&checkDetail=nothing_quarantined"
DATA_DOCS: Final = "_quality/shop/data_docs/validations/silver/shop/*/*/silver.shop.html"
PICTURES: Final = {
    "asset_graph": Picture(
        "/locations/weir/asset-groups/shop", "Latest event", width=1500, height=620
    ),
    "gold_table": Picture("/assets/gold/shop/customers", "Row count"),
    "windows": Picture(
        "/assets/gold/shop/customers?view=partitions&partition=2025-11-20T01", "windows_of_run"
    ),
    "check": Picture(CHECK, "4 times not so", width=1320, height=600),
    "timeline": Picture("/overview", "shop_to_gold", press="1hr", height=520),
    "automation": Picture("/automation", "shop_drops", height=620),
    "report": Picture("_reports/shop.html", "What became of the events", height=1000),
    "data_docs": Picture(DATA_DOCS, "nothing_quarantined: ", scrolled=True, height=640),
}


def take(page: Page, picture: Picture, warehouse: Path, target: Path) -> int:
    """Write one picture, and return its size.

    Raises:
        ValueError: it is larger than a picture of the documentation may be.
    """
    page.set_viewport_size({"width": picture.width, "height": picture.height})
    page.goto(picture.address(warehouse))
    if picture.press:
        page.get_by_text(picture.press, exact=True).click()
    shown = page.get_by_text(picture.shows).first
    shown.wait_for(timeout=PATIENCE)
    if picture.scrolled:
        shown.evaluate("(one) => one.scrollIntoView({block: 'center'})")
    # What is drawn last, such as the lines of a graph, has no text to wait for.
    page.wait_for_timeout(3000)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = len(page.screenshot(path=target))
    if size > LARGEST:
        target.unlink()
        raise ValueError(f"{target.name} has {size:,} bytes, more than {LARGEST:,}")
    return size


def run_demo(folder: Path, environment: dict[str, str]) -> None:
    """Bring the demo's drops to gold, with a history that the UI then shows, and make Data Docs of one feed."""
    home = folder / "dagster"
    home.mkdir()
    for words in (("demo", "--folder", str(folder)), ("data-docs", "--feed", "shop")):
        subprocess.run(
            [sys.executable, "-m", "orchestration.cli.main", *words],
            cwd=ROOT,
            env={**os.environ, "DAGSTER_HOME": str(home), **environment},
            check=True,
        )


def main() -> None:
    """Take every picture."""
    program = next((one for one in CHROMIUM if Path(one).exists()), None)
    if program is None:
        sys.exit("there is no Chromium: apt-get install --no-install-recommends chromium")
    with tempfile.TemporaryDirectory() as name:
        # What pictures show of this folder is its path.
        folder = Path(name) / "weir"
        folder.mkdir()
        environment = {
            "WEIR_FEEDS": str(folder / "feeds"),
            "WEIR_WAREHOUSE": str(folder / "warehouse"),
            "WEIR_SPARK_DRIVER_MEMORY": "1g",
        }
        run_demo(folder, environment)
        with running(ROOT, folder, environment) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page(base_url=server.url, color_scheme="light")
            for title, picture in PICTURES.items():
                size = take(page, picture, server.warehouse, IMAGES / f"{title}.png")
                print(f"docs/images/{title}.png: {size:,} bytes")
            browser.close()


if __name__ == "__main__":
    main()
