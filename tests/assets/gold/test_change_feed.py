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
