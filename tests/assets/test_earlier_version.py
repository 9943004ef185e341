"""A warehouse whose tables an earlier version of Weir made, under other names of columns: it is brought along."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from assets.control import accounting, progress
from assets.executors.choice import IN_PROCESS, SPARK
from assets.storage.lake import Lake, Layer
from orchestration.runs import planning
from tests.support.pet_feed import PETS, bring, change, drop, lay, names
from transforms.feed.feed import Feed, Table
from transforms.feed.names import TOMBSTONES
from transforms.gold.columns import RESET

EARLIER = {
    "change_kinds": "traits",
    "warnings": "remarks",
    "stream_schemas": "told",
}
"""What columns of the accounting were called."""


def make_earlier(lake: Lake, feed: Feed) -> None:
    """Give silver, accounting, progress and gold the shape that they had, and the declarations of another version."""
    silver = lake.table(Layer.SILVER, feed.name)
    rows = silver.read().withColumnRenamed("dedup_prefix", "settled").localCheckpoint()
    overwriting = rows.write.format("delta").mode("overwrite").partitionBy("window")
    overwriting.option("overwriteSchema", "true").save(silver.path)
    for layer, columns in (
        (Layer.ACCOUNTING, accounting.COLUMNS),
        (Layer.PROGRESS, progress.PROGRESS),
    ):
        table = lake.in_process_table(layer, feed.name, columns=columns)
        found = table.read()
        at = found.schema.get_field_index("declaration")
        earlier = pa.array(["of another version"] * found.num_rows)
        found = found.set_column(at, "declaration", earlier)
        renamed = [EARLIER.get(name, name) for name in found.column_names]
        write_deltalake(
            table.path, found.rename_columns(renamed), mode="overwrite", schema_mode="overwrite"
        )
    gold = lake.table(Layer.GOLD, feed.name, "pets")
    gold.set_properties({progress.DECLARATION: "of another version"})


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
    assert silver.where("dedup_prefix IS NULL").count() == 0
    bring(lake, feed)
    assert planning.due(lake, feed).windows == []


@pytest.mark.parametrize("executor", [SPARK, IN_PROCESS])
def test_late_keys_are_found_in_files_that_have_no_texts_of_them(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    lake = lake.by(executor)
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
