"""Where partitions begin, and that drops before that are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assets import feed_assets
from assets.storage.lake import Lake, Layer
from orchestration.automation.missing_windows import before_start, from_first_drop, starting
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed, Running


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"), {})


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables={"pets": PETS})


def first_of(feed: Feed) -> str | None:
    return feed_assets.partitions_of(feed).get_first_partition_key()


def test_partitions_begin_with_the_first_drop_that_is_known(lake: Lake, feed: Feed) -> None:
    assert from_first_drop(lake, feed) == feed
    assert first_of(feed) == "2020-01-01T00"
    for folder in ("2025-11-20/04", "2025-11-20/03", "2019-11-20/03"):
        lay(Path(feed.landing), f"{folder}/a.json", drop(change("I", 1, after={"id": "1"})))
    assert first_of(from_first_drop(lake, feed)) == "2025-11-20T03"


def test_a_start_in_the_feed_file_comes_first(lake: Lake, feed: Feed) -> None:
    lay(Path(feed.landing), "2025-11-20/03/a.json", drop(change("I", 1, after={"id": "1"})))
    declared = replace(feed, running=Running(start="2025-11-20T04"))
    assert first_of(from_first_drop(lake, declared)) == "2025-11-20T04"


def test_a_ledger_that_cannot_be_read_keeps_no_page_from_coming_up(lake: Lake, feed: Feed) -> None:
    log = Path(lake.path(Layer.LEDGER, "zoo")) / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("no commit")
    with pytest.warns(UserWarning, match="its first window is not known"):
        assert from_first_drop(lake, feed) == feed


def test_drops_before_the_first_partition_are_named(feed: Feed) -> None:
    begun = starting(feed, ["2025-11-20T03", "2025-11-20T05"])
    assert before_start(begun, ["2025-11-20T03", "2025-11-20T04"]) is None
    said = before_start(begun, ["2025-11-20T02", "2025-11-20T03"])
    assert said is not None
    assert "2025-11-20T03, are not asked for: 2025-11-20T02." in said
