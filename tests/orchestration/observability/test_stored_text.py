"""Texts that several write at once are each whole, and a page of newer facts is not replaced by an older one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from assets.storage import stored_text
from assets.storage.lake import Lake
from orchestration.observability.report import html_page
from transforms.feed.feed import Feed


def test_whoever_reads_a_text_that_several_write_reads_one_of_them_whole(tmp_path: Path) -> None:
    address = str(tmp_path / "pages" / "zoo.html")
    texts = [str(number) * 200_000 for number in range(8)]

    def write(text: str) -> None:
        for _ in range(20):
            stored_text.store_text(address, text, stored_text.HTML)
            assert (stored_text.read_text(address) or b"").decode() in texts

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(write, texts)] == [None] * 8
    # Nothing is left beside it.
    assert [one.name for one in (tmp_path / "pages").iterdir()] == ["zoo.html"]


def test_a_page_takes_the_place_only_of_one_made_of_older_facts(lake: Lake, tmp_path: Path) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path))
    facts, is_read, is_changed = ["old"], Event(), Event()

    def slow() -> None:
        with html_page.making(lake, feed) as put:
            page = facts[-1]
            is_read.set()
            is_changed.wait(10)
            put(page)

    def quick() -> None:
        with html_page.making(lake, feed) as put:
            put(facts[-1])

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(slow)
        assert is_read.wait(10)
        facts.append("new")
        second = threads.submit(quick)
        is_changed.set()
        first.result()
        second.result()
    assert Path(html_page.address_of(lake, feed)).read_text() == "new"
