"""A table's history: one row per version, late events at their position, the open versions those of gold."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from assets.maintenance import compaction
from assets.storage.lake import Lake, Layer
from orchestration.cli import verify
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Retention

Version = tuple[int, str | None, int, int | None]


def versions(lake: Lake, feed: Feed) -> list[Version]:
    """Id, name, and the minutes (see ``zoo.change``) from which and to which the version stood."""
    rows = lake.table(Layer.GOLD, feed.name, "pets__history").read()
    minutes = [
        ((F.unix_timestamp(f"_weir_valid_{end}_at") - 1_763_600_000) / 60).cast("int").alias(end)
        for end in ("from", "to")
    ]
    found = rows.select("id", "name", *minutes).orderBy("id", "from").collect()
    return [tuple(row) for row in found]


# With a change feed, Spark merges even a small table.
@pytest.mark.parametrize("change_feed", [True, False], ids=["by Spark", "here"])
def test_a_history_has_every_version_and_late_ones_at_their_position(
    lake: Lake, folder: Path, tmp_path: Path, *, change_feed: bool
) -> None:
    kept = replace(PETS, history=True, change_feed=change_feed)
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(
            change("I", 10, after={"id": "1", "name": "Ada"}),
            change("I", 11, after={"id": "2", "name": "Bo"}),
            change("U", 20, {"id": "1"}, {"name": "Ava"}),
            change("D", 21, {"id": "2", "name": "Bo"}),
        ),
    )
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": kept})
    bring(lake, feed)
    assert versions(lake, feed) == [(1, "Ada", 10, 20), (1, "Ava", 20, None), (2, "Bo", 11, 21)]

    # A late update, and the deleted row comes back.
    late = change("U", 15, {"id": "1"}, {"name": "Amy"})
    back = change("I", 30, after={"id": "2", "name": "Bob"})
    lay(folder, "2025-11-20/05/b.json", drop(late, back))
    bring(lake, feed)
    expected = [
        *[(1, "Ada", 10, 15), (1, "Amy", 15, 20), (1, "Ava", 20, None)],
        *[(2, "Bo", 11, 21), (2, "Bob", 30, None)],
    ]
    assert versions(lake, feed) == expected
    assert names(lake, feed) == {1: "Ava", 2: "Bob"}

    # Compaction forgets how the old versions came to be; the history does not forget them.
    feed = replace(feed, retention=Retention(kept=timedelta(hours=1)))
    (done,) = compaction.compact_feed(lake, feed, {"pets": kept}, dry_run=False)
    assert done.plan.new is not None
    lay(folder, "2025-11-20/06/c.json", drop(change("U", 40, {"id": "1"}, {"name": "Zoe"})))
    bring(lake, feed)
    assert versions(lake, feed) == [
        *[(1, "Ada", 10, 15), (1, "Amy", 15, 20), (1, "Ava", 20, 40), (1, "Zoe", 40, None)],
        *expected[3:],
    ]
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=2) == 0

    if not change_feed:
        return
    # Others can follow gold itself change by change.
    gold = lake.table(Layer.GOLD, "zoo", "pets")
    changes = lake.spark.read.format("delta").option("readChangeFeed", "true")
    followed = changes.option("startingVersion", 0).load(gold.path)
    kinds = {row["_change_type"] for row in followed.where("id = 1").collect()}
    assert {"insert", "update_preimage", "update_postimage"} <= kinds
