"""The report in a real browser: without network, on a phone and on a wide screen, in light and in dark."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from orchestration.observability.report.html_page import page_of
from tests.orchestration.observability.report.test_report import many
from transforms.feed.feed import Feed

pytestmark = pytest.mark.journey

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def test_it_is_whole_without_network_at_every_width(tmp_path: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    file = tmp_path / "report.html"
    feed = Feed("a_feed_of_a_rather_long_name_that_has_no_blank", "arcion_s3_json", "/drops")
    file.write_text(page_of(feed, many(), datetime(2025, 11, 20, 9, tzinfo=UTC)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        page = context.new_page()
        asked: list[str] = []
        faults: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: faults.append(message.text))
        backgrounds = set()
        for width, scheme in ((320, "dark"), (800, "light"), (1920, "light")):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(file.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for plot in page.locator("svg").all():
                box = plot.bounding_box()
                assert box is not None
                assert box["width"] > 200
                # What is drawn has a colour of the page's own.
            fills = page.locator("svg .reactive").evaluate_all(
                "marks => [...new Set(marks.map(one => getComputedStyle(one).fill))]"
            )
            assert len(fills) >= 6
            assert "rgb(0, 0, 0)" not in fills
            backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(backgrounds) == 2
        # The numbers open without a script.
        numbers = page.locator("details").first
        numbers.locator("summary").click()
        assert numbers.locator("td", has_text="130").first.is_visible()
        assert set(asked) == {file.as_uri()}
        assert faults == []
        browser.close()
