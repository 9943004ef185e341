"""Masks that come to tables that are there: gold and its history are made again, and hold no value from before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assets.executors.choice import SPARK
from assets.storage.lake import Lake, Layer
from tests.support.pet_feed import bring, change, drop, lay
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import MaskKey
from transforms.feed.schema_policies import Policies

COLUMNS = {"id": "int", "name": "string", "chip": "string", "note": "string"}
PETS = Table("pets", ("id",), COLUMNS, tuple(COLUMNS), history=True)
ADA = {"id": "1", "name": "Ada", "chip": "c1", "note": "bites"}
KEY = MaskKey("a secret of enough length")


@pytest.mark.parametrize(
    ("policy", "is_small"), [("evolve", True), ("keep", False), ("fail", True)]
)
def test_gold_and_history_are_made_again_under_masks_and_under_another_key(
    lake: Lake, folder: Path, policy: str, is_small: bool
) -> None:
    if not is_small:
        # The key goes along to Spark's own tasks.
        lake = lake.by(SPARK)
    pets = replace(PETS, policies=Policies(drop_column=policy))  # type: ignore[arg-type]
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": pets})
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 1, after=ADA)))
    bring(lake, feed)
    assert rows(lake, "pets") == [{"id": 1, "name": "Ada", "chip": "c1", "note": "bites"}]

    kept = {name: kind for name, kind in COLUMNS.items() if name != "note"}
    masked = replace(
        pets,
        columns=kept,
        masks={"name": "hash", "chip": "null", "note": "drop"},
        unmasked_columns=COLUMNS,
    )
    for key in (KEY, MaskKey("another secret of enough length")):
        now = replace(feed, tables={"pets": masked}, mask_key=key)
        bring(lake, now)
        row = {"id": 1, "name": key.hashed("Ada"), "chip": None}
        assert rows(lake, "pets") == rows(lake, "pets__history") == [row]
    # A change that comes later finds its row, and what follows the stream sees the masked value.
    lay(folder, "2025-11-20/04/a.json", drop(change("D", 2, ADA)))
    bring(lake, now)
    assert rows(lake, "pets") == []


def rows(lake: Lake, table: str) -> list[dict[str, object]]:
    """What the table has, without Weir's own columns."""
    found = lake.table(Layer.GOLD, "zoo", table).read()
    names = [name for name in found.columns if not name.startswith("_weir_")]
    return [row.asDict() for row in found.select(names).collect()]
