"""Columns may be called as a source likes: words of SQL, and any character, as a key and as a value."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from assets.executors.choice import IN_PROCESS, SPARK
from assets.gold.tables import CONSTRAINT
from assets.storage.lake import Layer
from orchestration.resources import lake_of
from tests.support.pet_feed import bring, change, drop, lay
from transforms.feed.feed import Feed, Table

WORDS = (
    *("interval", "struct", "exists", "not", "null", "trim", "case", "select", "order", "position"),
    *("current_date", "timestamp", "array", "map", "cast", "extract", "between", "end", "values"),
    *("table", "from", "where", "group", "by", "and", "true", "row", "all", "any", "unique", "if"),
)
STRANGE = ("a b", "ü", "日", "a`b", 'a"b', "a'b", "a.b", "a-b", "1st", "$x", "a;b", "%", "a\\b")
EVERY = tuple(dict.fromkeys((*WORDS, *STRANGE)))


@pytest.mark.parametrize("by", [IN_PROCESS, SPARK])
def test_every_name_may_be_a_key_and_a_value(spark: SparkSession, tmp_path: Path, by: str) -> None:
    rng = Random(by)
    # Spark takes a job or more for each table.
    names = EVERY if by == IN_PROCESS else tuple(rng.sample(EVERY, 2))
    tables = {}
    for number, name in enumerate(names):
        value = rng.choice([one for one in EVERY if one.lower() != name.lower()])
        columns = {name: "int", value: "string"}
        tables[f"t{number}"] = Table(f"t{number}", (name,), columns, tuple(columns))
    feed = Feed("zoo", "arcion_s3_json", str(tmp_path / "landing"), tables=tables)
    lake = lake_of(str(tmp_path / "warehouse")).by(by)
    for hour in (1, 2, 3):
        records = [record for table in tables.values() for record in changes(table, hour)]
        lay(tmp_path / "landing", f"2025-11-20/{hour:02}/a.json", drop(*records))
        bring(lake, feed)
    for table in tables.values():
        stored = lake.in_process_table(Layer.GOLD, "zoo", table.name)
        key, value = table.columns
        rows = sorted((row[key], row[value]) for row in stored.rows([key, value]))
        assert rows == [(1, "new"), (2, "b")], table.columns
        assert CONSTRAINT in stored.properties


def changes(table: Table, hour: int) -> list[str]:
    """What the hour brings: rows, then one that is changed and one that is gone, then the same again."""
    key, value = table.columns
    if hour == 1:
        rows = ((1, "1", "a"), (2, "2", "b"), (3, "3", "c"))
        return [
            change("I", at, after={key: id, value: text}, table=table.name) for at, id, text in rows
        ]
    return [
        change("U", 4, {key: "1", value: "a"}, {key: "1", value: "new"}, table=table.name),
        change("D", 5, {key: "3", value: "c"}, table=table.name),
    ]
