"""What a source may call its things, on a page of Dagster's in a real browser: text, and nothing that is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect, sync_playwright

from tests.journeys.conftest import CHROMIUM, PATIENCE
from tests.orchestration.web.pages_server import GUARDED, pages_of

pytestmark = [pytest.mark.journey, pytest.mark.services]

EVIL = "evil.example"
NAMES = (
    f"![x](http://{EVIL}/image)",
    f"[x](http://{EVIL}/link)",
    f"http://{EVIL}/plain",
    f'<img src="http://{EVIL}/tag">',
    f"a` ![x](http://{EVIL}/span)",
    f"a|b\n\n![x](http://{EVIL}/cell)",
    f"```\n\n![x](http://{EVIL}/block)",
)
CODE = f"""
import dagster as dg
from transforms import display

NAMES = {NAMES!r}

@dg.asset(description="\\n\\n".join(NAMES))
def raw(): ...

@dg.asset(
    description=display.bullets([*NAMES, "the end of the list"])
    + "\\n\\n" + display.table(["name", NAMES[0]], [[one, one] for one in NAMES])
    + "\\n\\n" + display.code_block("\\n".join(NAMES))
)
def written_by_weir(): ...

defs = dg.Definitions(assets=[raw, written_by_weir])
"""


def test_names_of_a_source_are_text_on_the_page_of_an_asset(tmp_path: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    (tmp_path / "names.py").write_text(CODE)
    with pages_of(GUARDED, tmp_path, "-f", "names.py") as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(base_url=f"http://127.0.0.1:{port}")
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        # Where nobody quotes, Dagster's pages fetch the image, by which this test sees that it would see it.
        assert what_acts(page, "raw", "x")[0]
        assert what_acts(page, "written_by_weir", "the end of the list") == ([], 0)
        for name in NAMES:
            assert name.splitlines()[0] in page.inner_text("body")
        browser.close()


def what_acts(page: Page, asset: str, seen: str) -> tuple[list[str], int]:
    """What the asset's page asked another host for, and how many links it has to one."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if EVIL in request.url:
            asked.append(request.url)

    page.on("request", note)
    page.goto(f"/assets/{asset}?view=overview")
    expect(page.get_by_text(asset, exact=True).first).to_be_visible()
    if seen == "x":
        expect(page.locator(f"a[href*='{EVIL}']").first).to_be_visible()
    else:
        expect(page.get_by_text(seen).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.remove_listener("request", note)
    return asked, page.locator(f"[href*='{EVIL}'], img[src*='{EVIL}']").count()
