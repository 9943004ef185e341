"""Whether a graph's messages came from several partitions: the accounts say it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assets.gold.plan import FeedPlan, has_several_streams
from assets.storage.lake import Lake, Layer
from tests.assets.gold.test_tigergraph_checks import LIKES, declared, person
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.feed import Feed


def several(lake: Lake, feed: Feed) -> bool:
    """What the accounts say."""
    return has_several_streams(FeedPlan.read(lake, feed, []).accounts)


@pytest.fixture
def feed(lake: Lake, folder: Path) -> Feed:
    """Two windows, each of one partition; brought to gold in turn."""
    feed = declared(folder, LIKES)
    lay(folder, "2025-11-20/03/a.jsonl", drop(person(1, 1, 10, "a"), person(1, 2, 20, "b")))
    bring(lake, feed)
    assert not several(lake, feed)
    lay(folder, "2025-11-20/04/b.jsonl", drop(person(2, 1, 30, "c"), person(2, 2, 40, "d")))
    bring(lake, feed)
    return feed


def test_the_accounts_tell_streams_without_silver(lake: Lake, feed: Feed) -> None:
    assert several(lake, feed)
    shutil.rmtree(lake.path(Layer.SILVER, feed.name))
    assert several(lake, feed)
