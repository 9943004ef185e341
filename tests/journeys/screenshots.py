"""``make screenshots``: pictures of the real UI over the demo, for the documentation.

The demo is run into a temporary folder with a Dagster history of its own, the UI is started on it as ``make ui`` does,
and a headless Chromium goes to each page and writes ``docs/images/<name>.png``. Put a new picture into ``PICTURES``.
"""

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
LARGEST: Final = 200_000
"""Bytes that a picture may have."""
PATIENCE: Final = 60_000
"""Milliseconds: a busy machine draws a graph slowly."""
CHROMIUM: Final = ("/usr/bin/chromium", "/usr/bin/chromium-browser")


@dataclass(frozen=True)
class Picture:
    """A page of the UI, and a text that is there once it is drawn."""

    path: str
    shows: str


PICTURES: Final = {
    "asset_graph": Picture("/locations/weir/asset-groups/shop", "customers"),
    "gold_table": Picture("/assets/gold/shop/customers", "Row count"),
    "windows": Picture("/assets/gold/shop/customers?view=partitions", "Materialized"),
    "check": Picture(
        "/assets/silver/shop?view=checks&checkDetail=nothing_quarantined", "nothing_quarantined"
    ),
    "automation": Picture("/automation", "shop_drops"),
}


def take(page: Page, picture: Picture, target: Path) -> int:
    """Write one picture, and return its size.

    Raises:
        ValueError: it is larger than a picture of the documentation may be.
    """
    page.goto(picture.path)
    page.get_by_text(picture.shows).first.wait_for(timeout=PATIENCE)
    # What is drawn last, such as the lines of a graph, has no text to wait for.
    page.wait_for_timeout(3000)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = len(page.screenshot(path=target))
    if size > LARGEST:
        target.unlink()
        raise ValueError(f"{target.name} has {size:,} bytes, more than {LARGEST:,}")
    return size


def run_demo(folder: Path, environment: dict[str, str]) -> None:
    """Bring the demo's drops to gold, with a history that the UI then shows."""
    home = folder / "dagster"
    home.mkdir()
    subprocess.run(
        [sys.executable, "-m", "orchestration.cli.main", "demo", "--folder", str(folder)],
        cwd=ROOT,
        env={**os.environ, "DAGSTER_HOME": str(home), **environment},
        check=True,
    )


def main() -> None:
    """Take every picture."""
    program = next((one for one in CHROMIUM if Path(one).exists()), None)
    if program is None:
        sys.exit("there is no Chromium: apt-get install --no-install-recommends chromium")
    with tempfile.TemporaryDirectory(prefix="weir-screenshots-") as name:
        folder = Path(name)
        environment = {
            "WEIR_FEEDS": str(folder / "feeds"),
            "WEIR_WAREHOUSE": str(folder / "warehouse"),
            "WEIR_SPARK_DRIVER_MEMORY": "1g",
        }
        run_demo(folder, environment)
        with running(ROOT, folder, environment) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page(
                base_url=server.url, viewport={"width": 1280, "height": 800}, color_scheme="light"
            )
            for title, picture in PICTURES.items():
                size = take(page, picture, IMAGES / f"{title}.png")
                print(f"docs/images/{title}.png: {size:,} bytes")
            browser.close()


if __name__ == "__main__":
    main()
