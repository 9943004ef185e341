"""The pictures of the documentation: each is one that ``make screenshots`` takes, and small."""

from __future__ import annotations

import re

from tests.journeys.screenshots import IMAGES, LARGEST, PICTURES


def test_every_picture_is_in_the_docs_is_small_and_is_shown_by_a_page() -> None:
    there = sorted(IMAGES.glob("*"))
    assert {file.stem for file in there} == {*PICTURES}
    pages = "".join(page.read_text(encoding="utf-8") for page in IMAGES.parent.rglob("*.md"))
    assert {*re.findall(r"\(\S*images/(\w+)\.png\)", pages)} == {*PICTURES}
    assert [file.name for file in there if file.stat().st_size > LARGEST] == []
