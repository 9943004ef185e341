"""The pictures of the documentation: each is one that ``make screenshots`` takes, and small."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.journeys import screenshots
from tests.journeys.screenshots import IMAGES, LARGEST, PICTURES, Picture, take


def test_every_picture_is_in_the_docs_is_small_and_is_shown_by_a_page() -> None:
    there = sorted(IMAGES.glob("*"))
    assert {file.stem for file in there} == {*PICTURES}
    pages = "".join(page.read_text(encoding="utf-8") for page in IMAGES.parent.rglob("*.md"))
    assert {*re.findall(r"\(\S*images/(\w+)\.png\)", pages)} == {*PICTURES}
    assert [file.name for file in there if file.stat().st_size > LARGEST] == []


@pytest.mark.journey
def test_a_picture_is_of_a_page_that_is_drawn_and_not_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if program is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    (tmp_path / "page.html").write_text("<p>drawn</p>")
    target = tmp_path / "images" / "page.png"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        picture = Picture("p*.html", "drawn")
        assert take(page, picture, tmp_path, target) == target.stat().st_size
        assert target.read_bytes().startswith(b"\x89PNG")
        monkeypatch.setattr(screenshots, "LARGEST", 100)
        with pytest.raises(ValueError, match=r"page\.png has .* more than 100"):
            take(page, picture, tmp_path, target)
        assert not target.exists()
        browser.close()
