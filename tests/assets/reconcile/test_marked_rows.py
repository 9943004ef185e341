"""A row that is marked as deleted is none that the source should have: neither counted nor shown as gold's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assets.reconcile.gold import GoldTables
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.feed.feed import Feed
from transforms.reconcile.ranges import Range
from transforms.reconcile.row_texts import Declared, SourceColumn, columns_of


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse"))


def test_a_marked_row_is_no_row_of_golds(lake: Lake, folder: Path) -> None:
    ada, bo = ({"id": f"{id}", "name": name} for id, name in ((1, "Ada"), (2, "Bo")))
    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(change("I", 1, after=ada), change("I", 2, after=bo), change("D", 9, ada)),
    )
    feed = Feed(
        "zoo", "arcion_s3_json", str(folder), tables={"pets": replace(PETS, deletes="mark")}
    )
    bring(lake, feed)
    columns = columns_of(
        {name: Declared(kind) for name, kind in PETS.columns.items()},
        PETS.key,
        {"id": SourceColumn("id", "integer"), "name": SourceColumn("name", "text")},
        {},
    )
    gold = GoldTables(lake, "zoo", "pets", columns)
    copy = gold.copy()
    assert (copy.rows, [*copy.hashes([Range(None, None, 1, 1)])]) == (1, [("2",)])
    states = gold.states([("1",), ("2",), ("3",)])
    assert {key: state.row and state.row["name"] for key, state in states.items()} == {
        ("1",): None,
        ("2",): "Bo",
        ("3",): None,
    }
    # The delete is known, so that gold is not taken to be on its way.
    assert states["1",].change is not None
    assert states["3",].change is None
