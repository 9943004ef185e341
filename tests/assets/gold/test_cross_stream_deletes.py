"""Whether a graph's messages came from several partitions: the accounts say it; silver only where they are older."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from assets.bookkeeping import accounting
from assets.gold.changes import streams
from assets.lake import Lake
from assets.layers import Layer
from tests.assets.gold.test_tigergraph_checks import LIKES, declared, edge, person, rows
from tests.support.pet_feed import bring, drop, lay
from transforms.change_kinds import STREAMS
from transforms.feed.feed import Feed


@pytest.fixture
def feed(lake: Lake, folder: Path) -> Feed:
    """Two windows, each of one partition; brought to gold in turn."""
    feed = declared(folder, LIKES)
    lay(folder, "2025-11-20/03/a.jsonl", drop(person(1, 1, 10, "a"), person(1, 2, 20, "b")))
    bring(lake, feed)
    assert not streams.has_several_streams(lake, feed)
    assert not streams.may_have_several_streams(lake, feed)
    lay(folder, "2025-11-20/04/b.jsonl", drop(person(2, 1, 30, "c"), person(2, 2, 40, "d")))
    bring(lake, feed)
    return feed


def forget(lake: Lake, feed: Feed, window: str) -> None:
    """Make a window's accounts those of an earlier version, which did not write down any streams."""
    table = lake.small_table(Layer.ACCOUNTING, feed.name, accounting.COLUMNS)
    found = table.rows(where={"window": [window]})
    for row in found:
        row["change_kinds"] = [
            one for one in row["change_kinds"] or () if not one.startswith(STREAMS)
        ]
    table.replace_windows(pa.Table.from_pylist(found, schema=table.columns), [window])


def test_the_accounts_tell_streams_without_silver(lake: Lake, feed: Feed) -> None:
    assert streams.has_several_streams(lake, feed)
    shutil.rmtree(lake.path(Layer.SILVER, feed.name))
    assert streams.has_several_streams(lake, feed)


def test_silver_tells_what_accounts_of_an_earlier_version_do_not(
    lake: Lake, folder: Path, feed: Feed
) -> None:
    forget(lake, feed, "2025-11-20T03")
    assert streams.may_have_several_streams(lake, feed)
    assert streams.has_several_streams(lake, feed)
    # A delete in the other partition still reaches the edge: it was made before that.
    lay(
        folder,
        "2025-11-20/05/c.jsonl",
        drop(edge(1, 3, 25, "ac", weight=1), person(2, 3, 50, "c", "delete")),
    )
    bring(lake, feed)
    assert rows(lake, "edge_Likes") == set()
    assert rows(lake, "vertex_Person") == {("a", 0), ("b", 0), ("d", 0)}


def test_one_stream_of_an_earlier_version_is_one_stream(lake: Lake, folder: Path) -> None:
    feed = declared(folder, LIKES)
    lay(folder, "2025-11-20/03/a.jsonl", drop(person(1, 1, 10, "a"), edge(1, 2, 20, "ab")))
    bring(lake, feed)
    forget(lake, feed, "2025-11-20T03")
    assert streams.may_have_several_streams(lake, feed)
    assert not streams.has_several_streams(lake, feed)
