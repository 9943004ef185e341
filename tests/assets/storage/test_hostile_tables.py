"""Tables and columns of hostile names, by Spark: each statement is about its own table, and nothing lies elsewhere."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import functions as F

from assets.columns.quoting import literal, quoted
from assets.storage.lake import Lake, Layer
from transforms.feed.names import spelled_columns

NAMES = ("${env:HOME}", "a'; DROP TABLE b; -- {x} #?*")
COLUMNS = ["id", "a`b", "'", "select", "${spark.master}", "a.b"]


def test_every_statement_is_about_its_own_table(lake: Lake, tmp_path: Path) -> None:
    spelling = spelled_columns(COLUMNS)
    columns = [spelling.get(name, name) for name in COLUMNS]
    rows = lake.spark.createDataFrame([COLUMNS], columns)
    for name in NAMES:
        table = lake.table(Layer.GOLD, "zoo", name)
        table.create(rows, {"weir.told": "it's \\ ${env:HOME}"})
        table.set_properties({"weir.told": "it's \\ ${env:HOME}"})
        assert table.properties()["weir.told"] == "it's \\ ${env:HOME}"
        table.append(rows.withColumn("id", F.lit("2")))
        new = {one: F.col(f"new.{quoted(one)}") for one in columns}
        table.merge(
            rows,
            columns[:1],
            update=(F.lit(True), {quoted(one): value for one, value in new.items()}),
            insert=(F.lit(True), {quoted(one): value for one, value in new.items()}),
        )
        table.delete(f"{quoted('id')} = {literal('2')}")
        (row,) = table.read().select(*(quoted(one) for one in columns)).collect()
        assert [*row] == COLUMNS
        assert Path(table.path, "_delta_log").is_dir()
    folder = Path(lake.path(Layer.GOLD, "zoo"))
    assert {one.name for one in folder.iterdir()} == {*NAMES}
    assert len([*tmp_path.rglob("_delta_log")]) == len(NAMES)
