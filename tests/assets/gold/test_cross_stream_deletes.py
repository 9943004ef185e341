"""Whether a graph's messages came from several partitions: the accounts say it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assets.gold import plan
from assets.lake import Lake
from assets.layers import Layer
from tests.assets.gold.test_tigergraph_checks import LIKES, declared, person
from tests.support.pet_feed import bring, drop, lay
from transforms.feed.feed import Feed


@pytest.fixture
def feed(lake: Lake, folder: Path) -> Feed:
    """Two windows, each of one partition; brought to gold in turn."""
    feed = declared(folder, LIKES)
    lay(folder, "2025-11-20/03/a.jsonl", drop(person(1, 1, 10, "a"), person(1, 2, 20, "b")))
    bring(lake, feed)
    assert not plan.has_several_streams(lake, feed)
    lay(folder, "2025-11-20/04/b.jsonl", drop(person(2, 1, 30, "c"), person(2, 2, 40, "d")))
    bring(lake, feed)
    return feed


def test_the_accounts_tell_streams_without_silver(lake: Lake, feed: Feed) -> None:
    assert plan.has_several_streams(lake, feed)
    shutil.rmtree(lake.path(Layer.SILVER, feed.name))
    assert plan.has_several_streams(lake, feed)
