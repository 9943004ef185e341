"""A warehouse whose tables an earlier version of Weir made, under other names of columns: it is brought along."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from assets.bookkeeping import accounting, window_progress
from assets.columns.gold import RESET
from assets.gold import table_properties
from assets.gold.apply import local_apply
from assets.lake import Lake
from assets.layers import Layer
from orchestration.cli import verify
from orchestration.resources import lake_of
from orchestration.runs import planning
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES

EARLIER = {
    "change_kinds": "traits",
    "warnings": "remarks",
    "stream_schemas": "told",
}
"""What columns of the accounting were called."""


def make_earlier(lake: Lake, feed: Feed) -> None:
    """Give silver, accounting, progress and gold the shape that they had, and the declarations of another version."""
    silver = lake.table(Layer.SILVER, feed.name)
    rows = silver.read().withColumnRenamed("stable_prefix", "settled").localCheckpoint()
    overwriting = rows.write.format("delta").mode("overwrite").partitionBy("window")
    overwriting.option("overwriteSchema", "true").save(silver.path)
    for layer, columns in (
        (Layer.ACCOUNTING, accounting.COLUMNS),
        (Layer.PROGRESS, window_progress.PROGRESS),
    ):
        table = lake.small_table(layer, feed.name, columns)
        found = table.read()
        at = found.schema.get_field_index("declaration")
        earlier = pa.array(["of another version"] * found.num_rows)
        found = found.set_column(at, "declaration", earlier)
        renamed = [EARLIER.get(name, name) for name in found.column_names]
        write_deltalake(
            table.path, found.rename_columns(renamed), mode="overwrite", schema_mode="overwrite"
        )
    gold = lake.table(Layer.GOLD, feed.name, "pets")
    gold.set_properties({table_properties.DECLARATION: "of another version"})


def test_tables_of_an_earlier_version_are_brought_along(lake: Lake, folder: Path) -> None:
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": PETS})
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 3, after={"id": "1", "name": "Ada"})))
    lay(folder, "2025-11-20/04/b.json", drop(change("I", 4, after={"id": "2", "name": "Bo"})))
    bring(lake, feed)
    make_earlier(lake, feed)
    windows = ["2025-11-20T03", "2025-11-20T04"]
    assert planning.due(lake, feed).windows == windows

    # One window alone: gold stays as it was until all of its windows speak of the same.
    lay(
        folder,
        "2025-11-20/05/c.json",
        drop(change("U", 5, {"id": "2", "name": "Bo"}, {"id": "2", "name": "Ben"})),
    )
    bring(lake, feed, ["2025-11-20T05"])
    assert names(lake, feed) == {1: "Ada", 2: "Bo"}
    bring(lake, feed)
    assert names(lake, feed) == {1: "Ada", 2: "Ben"}
    silver = lake.table(Layer.SILVER, feed.name).read()
    assert silver.where("stable_prefix IS NULL").count() == 0
    bring(lake, feed)
    assert planning.due(lake, feed).windows == []


@pytest.mark.parametrize("most_changes", [-1, local_apply.MOST_CHANGES], ids=["by Spark", "here"])
def test_late_keys_are_found_in_files_that_have_no_texts_of_them(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch, most_changes: int
) -> None:
    monkeypatch.setattr(local_apply, "MOST_CHANGES", most_changes)
    columns = {"id": "int", "name": "string", "kind": "string"}
    feed = Feed(
        "zoo",
        "arcion_s3_json",
        str(folder),
        tables={"pets": Table("pets", ("id",), columns, (*columns,))},
    )
    ada = {"id": "1", "name": "Ada", "kind": "cat"}
    lay(folder, "2025-11-20/03/a.json", drop(change("I", 3, after=ada)))
    key = {"id": "1"}
    lay(folder, "2025-11-20/04/b.json", drop(change("U", 7, key, {**key, "name": "Eve"})))
    bring(lake, feed)
    silver = lake.table(Layer.SILVER, feed.name)
    rows = silver.read().drop("key_text").localCheckpoint()
    overwriting = rows.write.format("delta").mode("overwrite").partitionBy("window")
    overwriting.option("overwriteSchema", "true").save(silver.path)
    # Older than the last change, and newer than the last one that said the whole row.
    late = (change("U", 5, key, {**key, "kind": "dog"}), change("U", 4, key, {**key, "name": "X"}))
    lay(folder, "2025-11-20/05/c.json", drop(*late))
    bring(lake, feed)
    (row,) = lake.table(Layer.GOLD, feed.name, "pets").read().select(*columns).collect()
    assert row.asDict() == {"id": 1, "name": "Eve", "kind": "dog"}
    texts = silver.read().select("window", "key_text").distinct().collect()
    assert {row["window"]: row["key_text"] for row in texts} == {
        **{"2025-11-20T03": None, "2025-11-20T04": None},
        "2025-11-20T05": "1",
    }


def without_reset(lake: Lake, feed: Feed) -> None:
    """Take from gold and its tombstones the column that earlier builds did not have; all else stays as it is."""
    for name in ("pets", "pets" + TOMBSTONES):
        table = lake.table(Layer.GOLD, feed.name, name)
        rows = table.read().drop(RESET).localCheckpoint()
        overwriting = rows.write.format("delta").mode("overwrite")
        overwriting.option("overwriteSchema", "true").save(table.path)
        assert RESET not in table.read().columns


@pytest.mark.parametrize("most_changes", [-1, local_apply.MOST_CHANGES], ids=["by Spark", "here"])
def test_gold_without_reset_positions_is_brought_onward(
    lake: Lake,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_changes: int,
) -> None:
    monkeypatch.setattr(local_apply, "MOST_CHANGES", most_changes)
    columns = {"id": "int", "name": "string", "kind": "string"}
    table = Table("pets", ("id",), columns, (*columns,))
    feed = Feed("zoo", "arcion_s3_json", str(folder), tables={"pets": table})

    def born(at: int, number: int, name: str) -> str:
        return change("I", at, after={"id": str(number), "name": name, "kind": "cat"})

    def renamed(at: int, number: int, name: str) -> str:
        return change("U", at, {"id": str(number)}, {"name": name})

    def gone(at: int, number: int) -> str:
        return change("D", at, {"id": str(number), "name": "x", "kind": "cat"})

    lay(
        folder,
        "2025-11-20/03/a.json",
        drop(
            *(born(at, at, name) for at, name in enumerate(("Ada", "Bo", "Cleo", "Dan"), start=1)),
            change("U", 20, {"id": "1"}, {"kind": "dog"}),
            gone(21, 2),
            gone(22, 3),
            renamed(23, 4, "Don"),
        ),
    )
    bring(lake, feed)
    made = lake.table(Layer.GOLD, "zoo", "pets").properties()
    without_reset(lake, feed)
    assert lake.table(Layer.GOLD, "zoo", "pets").properties() == made

    lay(
        folder,
        "2025-11-20/04/b.json",
        drop(
            # Late: between what the row was put by and its last change; before all of it; and before a delete.
            *(renamed(10, 1, "Amy"), renamed(0, 4, "X"), renamed(11, 2, "Bob")),
            # Repeats, of an insert and of a delete.
            *(born(4, 4, "Dan"), gone(21, 2)),
            # New: a key, one that is back, an update, and a delete.
            *(born(30, 5, "Eve"), born(31, 3, "Cid"), renamed(32, 1, "Ann"), gone(33, 4)),
        ),
    )
    bring(lake, feed)

    def rows() -> dict[int, tuple[str, str]]:
        found = lake.table(Layer.GOLD, "zoo", "pets").read().collect()
        return {row["id"]: (row["name"], row["kind"]) for row in found}

    assert rows() == {1: ("Ann", "dog"), 3: ("Cid", "cat"), 5: ("Eve", "cat")}
    gold = lake.table(Layer.GOLD, "zoo", "pets")
    resets = {row["id"]: row[RESET] for row in gold.read().collect()}
    assert resets[3][-2] == 31
    assert resets[5][-2] == 30
    # A row that has not been put since has no reset position, so a late change folds it again from its history.
    lay(
        folder,
        "2025-11-20/05/c.json",
        drop(
            renamed(24, 1, "Old"), change("U", 25, {"id": "1"}, {"kind": "owl"}), born(26, 2, "Ben")
        ),
    )
    bring(lake, feed)
    assert rows() == {**rows(), 1: ("Ann", "owl"), 2: ("Ben", "cat")}
    assert set(rows()) == {1, 2, 3, 5}
    lay(folder, "2025-11-20/06/d.json", drop(renamed(12, 2, "Bob"), renamed(13, 4, "Dot")))
    before = gold.version()
    bring(lake, feed)
    assert gold.version() == before
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=4) == 0
