"""Delta's change data feed: on where the feed file asks for it; of tables that have it from before, until upkeep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable

from assets.executors.choice import SPARK
from assets.gold import apply
from assets.gold.tables import CONSTRAINT
from assets.maintenance import compaction
from assets.storage.delta_rs import CHANGE_FEED
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed


def properties(lake: Lake) -> dict[str, str]:
    return lake.table(Layer.GOLD, "zoo", "pets").properties()


def engine(lake: Lake) -> str:
    """Who made the newest commit to gold."""
    (newest,) = DeltaTable(lake.path(Layer.GOLD, "zoo", "pets")).history(1)
    return "Spark" if "Spark" in str(newest["engineInfo"]) else "delta-rs"


@pytest.fixture
def feed(folder: Path) -> Feed:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 3, after={"id": "1", "name": "Ada"})))
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})


def as_earlier_builds_made_it(lake: Lake, feed: Feed) -> None:
    """A table that Spark made, with the feed that nobody had asked for."""
    bring(lake.by(SPARK), feed)
    lake.table(Layer.GOLD, "zoo", "pets").set_properties({CHANGE_FEED: "true"})


def test_a_new_table_has_no_change_feed(lake: Lake, feed: Feed) -> None:
    bring(lake, feed)
    assert CHANGE_FEED not in properties(lake)


def test_a_table_that_has_a_feed_keeps_it_until_upkeep_and_is_then_rewritten_here(
    lake: Lake, folder: Path, feed: Feed
) -> None:
    as_earlier_builds_made_it(lake, feed)
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 4, {"id": "1"}, {"name": "Eve"})))
    bring(lake, feed)
    assert properties(lake)[CHANGE_FEED] == "true"
    assert engine(lake) == "Spark"
    before = DeltaTable(lake.path(Layer.GOLD, "zoo", "pets")).version()
    list(compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=True))
    assert DeltaTable(lake.path(Layer.GOLD, "zoo", "pets")).version() == before

    list(compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False))
    kept = properties(lake)
    assert kept[CHANGE_FEED] == "false"
    assert CONSTRAINT in kept
    # Delta keeps the feature in the table's protocol; it asks nothing of who writes the table then.
    gold = DeltaTable(lake.path(Layer.GOLD, "zoo", "pets"))
    assert "changeDataFeed" in (gold.protocol().writer_features or ())
    lay(folder, "2025-11-20/05/c.json", drop(change("U", 5, {"id": "1"}, {"name": "Ivy"})))
    bring(lake, feed)
    assert engine(lake) == "delta-rs"
    assert names(lake, feed) == {1: "Ivy"}
    # Spark goes on with it, too.
    lay(folder, "2025-11-20/06/d.json", drop(change("U", 6, {"id": "1"}, {"name": "Zoe"})))
    bring(lake.by(SPARK), feed)
    assert engine(lake) == "Spark"
    assert names(lake, feed) == {1: "Zoe"}


def test_a_rebuild_ends_a_change_feed_that_is_not_asked_for(
    lake: Lake, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_earlier_builds_made_it(lake, feed)
    apply.apply(lake, feed, PETS, ["2025-11-20T03"], full_rebuild=True)
    assert properties(lake).get(CHANGE_FEED) != "true"
    assert names(lake, feed) == {1: "Ada"}


def test_a_feed_that_is_asked_for_comes_and_stays(lake: Lake, folder: Path, feed: Feed) -> None:
    bring(lake, feed)
    followed = replace(PETS, change_feed=True)
    feed = replace(feed, tables={"pets": followed})
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 4, {"id": "1"}, {"name": "Eve"})))
    bring(lake, feed)
    list(compaction.compact_feed(lake, feed, {"pets": followed}, dry_run=False))
    assert properties(lake)[CHANGE_FEED] == "true"
    # A compaction turns it off when the feed file no longer asks for it; a run turns it on when it asks again.
    list(compaction.compact_feed(lake, feed, {"pets": PETS}, dry_run=False))
    assert properties(lake)[CHANGE_FEED] == "false"
    lay(folder, "2025-11-20/05/c.json", drop(change("U", 5, {"id": "1"}, {"name": "Ivy"})))
    bring(lake, feed)
    assert properties(lake)[CHANGE_FEED] == "true"
    gold = lake.table(Layer.GOLD, "zoo", "pets")
    newest = DeltaTable(gold.path).version()
    reader = lake.spark.read.format("delta").option("readChangeFeed", "true")
    followed_rows = reader.option("startingVersion", newest).load(gold.path)
    assert {row["_change_type"] for row in followed_rows.collect()} == {
        "update_preimage",
        "update_postimage",
    }
