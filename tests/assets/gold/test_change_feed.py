"""Delta's change data feed: on where the feed file asks for it, and off after a compaction where it no longer does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from assets.maintenance import compaction
from assets.storage.delta_rs import CHANGE_FEED
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import Feed


def properties(lake: Lake) -> dict[str, str]:
    return lake.table(Layer.GOLD, "zoo", "pets").properties()


def test_row_tracking_is_no_change_feed_of_deltas_on_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Once it is one, ``change_feed`` need not write twice (docs/architecture.md)."""
    path = str(tmp_path / "tracked")
    tracked = {"delta.enableRowTracking": "true", "delta.enableDeletionVectors": "true"}
    spark.sql("SELECT 1 AS id, 'Ada' AS name").write.format("delta").options(**tracked).save(path)
    spark.sql(f"UPDATE delta.`{path}` SET name = 'Eve'")
    (row,) = spark.sql(f"SELECT _metadata.row_commit_version AS at FROM delta.`{path}`").collect()
    assert row["at"] == 1
    reader = spark.read.format("delta").option("readChangeFeed", "true")
    with pytest.raises(AnalysisException, match="change data"):
        reader.option("startingVersion", 0).load(path).collect()


@pytest.fixture
def feed(folder: Path) -> Feed:
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 3, after={"id": "1", "name": "Ada"})))
    return Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})


def test_a_feed_that_is_asked_for_comes_and_stays(lake: Lake, folder: Path, feed: Feed) -> None:
    bring(lake, feed)
    assert CHANGE_FEED not in properties(lake)
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


def test_a_row_that_is_marked_is_an_update_in_the_feed(
    lake: Lake, folder: Path, feed: Feed
) -> None:
    """Whoever follows it sees no delete: the row stays, with the mark and the time of the source's delete."""
    marking = replace(PETS, deletes="mark", change_feed=True)
    feed = replace(feed, tables={"pets": marking})
    bring(lake, feed)
    gone = change("D", 9, {"id": "1", "name": "Ada"})
    lay(folder, "2025-11-20/04/b.json", drop(gone))
    bring(lake, feed)
    assert followed(lake) == [("update_preimage", "Ada", False), ("update_postimage", "Ada", True)]
    # A late change of the marked row, and one that brings it back.
    late = change("U", 5, {"id": "1"}, {"name": "Ava"})
    lay(folder, "2025-11-20/05/c.json", drop(late))
    bring(lake, feed)
    assert followed(lake) == [("update_preimage", "Ada", True), ("update_postimage", "Ava", True)]
    again = change("I", 20, after={"id": "1", "name": "Zoe"})
    lay(folder, "2025-11-20/06/d.json", drop(again))
    bring(lake, feed)
    assert followed(lake) == [("update_preimage", "Ava", True), ("update_postimage", "Zoe", False)]


def followed(lake: Lake) -> list[tuple[str, str, bool]]:
    """What the feed says of gold's newest version: the kind of change, the name, and the mark."""
    gold = lake.table(Layer.GOLD, "zoo", "pets")
    reader = lake.spark.read.format("delta").option("readChangeFeed", "true")
    rows = reader.option("startingVersion", DeltaTable(gold.path).version()).load(gold.path)
    found = [(row["_change_type"], row["name"], row["_weir_is_deleted"]) for row in rows.collect()]
    return sorted(found, key=lambda one: one[0] != "update_preimage")
