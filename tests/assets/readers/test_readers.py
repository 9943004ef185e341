"""Gold as other programs read it: delta-rs, DuckDB, and Spark without Weir's settings, on every kind of table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable, QueryBuilder
from pyspark.sql import SparkSession

from assets.gold.apply import local_apply
from assets.gold.fold import whole_images
from assets.lake import Lake
from assets.layers import Layer
from bench.others import environments
from orchestration.resources import lake_of
from orchestration.spark.jars import ensure_jars
from tests.others.cells import rows
from tests.support.pet_feed import bring, change, drop, lay
from transforms.feed.feed import Feed, Table

OTHERS = Path(__file__).resolve().parents[2] / "others"
Read = dict[str, Any]
"""By path the rows, or a text that says why there are none."""


def table(name: str, /, **columns: str) -> Table:
    declared = {"id": "int", **columns}
    return Table(name, ("id",), declared, tuple(declared))


TYPES = {
    "text": "string",
    "price": "decimal(10,2)",
    "sold": "boolean",
    "born": "date",
    "seen": "timestamp",
    "share": "double",
    "large": "bigint",
    "raw": "binary",
}
ODD = ("größe", "select", "per%cent", "a-b", "1st", 'wei"ght', "it's")
SMALL = {
    "plain": table("plain", **TYPES),
    "moments": table("moments", at="timestamp_ntz"),
    "odd": table("odd", **dict.fromkeys(ODD, "string")),
    "odd#name": table("odd#name", name="string"),
    "kept": replace(table("kept", name="string"), history=True),
}
"""Tables that are small: Weir writes them by delta-rs."""
LARGE = {
    "marked": table("marked", **TYPES),
    "large_moments": table("large_moments", at="timestamp_ntz"),
    "followed": replace(table("followed", name="string"), change_feed=True),
}
"""Tables that Spark writes: with deletion vectors."""
VALUES = {
    "text": "Ada",
    "price": "12.50",
    "sold": "true",
    "born": "2001-02-03",
    "seen": "2025-11-20 01:02:03.000004",
    "share": "0.5",
    "large": "9007199254740993",
    "raw": "AAEC",
    "at": "2025-11-20 01:02:03.000004",
}
EXPECTED = {
    "text": "Ada",
    "price": "12.50",
    "sold": True,
    "born": "2001-02-03",
    "seen": "2025-11-20T01:02:03.000004",
    "share": 0.5,
    "large": 9007199254740993,
    # A text in a column of bytes is its UTF-8.
    "raw": b"AAEC".hex(),
    "at": "2025-11-20T01:02:03.000004",
}


@dataclass(frozen=True)
class Gold:
    """Tables of gold, by name."""

    paths: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.paths[name]


def rows_of(one: Table, number: int) -> dict[str, str | None]:
    found: dict[str, str | None] = {
        name: VALUES.get(name, f"{name} {number}") for name in one.columns
    }
    return {**found, "id": str(number)}


def brought(lake: Lake, feed: Feed, landing: Path) -> None:
    """Two windows: three rows of each table, of which one is deleted and one is changed."""
    for name, one in feed.tables.items():
        first = [
            change("I", number, after=rows_of(one, number), table=name) for number in (1, 2, 3)
        ]
        nothing = {column: None for column in one.columns if column != "id"}
        last = [
            change("D", 10, rows_of(one, 2), table=name),
            change("U", 11, rows_of(one, 3), {"id": "3", **nothing}, table=name),
        ]
        lay(landing, f"2025-11-20/03/{number_of(feed, name)}.json", drop(*first))
        lay(landing, f"2025-11-20/04/{number_of(feed, name)}.json", drop(*last))
    for window in ("2025-11-20T03", "2025-11-20T04"):
        bring(lake, feed, [window])


def number_of(feed: Feed, name: str) -> int:
    return [*feed.tables].index(name)


@pytest.fixture(scope="module")
def gold(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gold]:
    folder = tmp_path_factory.mktemp("readers")
    lake = lake_of(str(folder / "warehouse"))
    paths: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, tables, most in (("small", SMALL, 10**6), ("large", LARGE, -1)):
            patch.setattr(local_apply, "MOST_CHANGES", most)
            patch.setattr(whole_images, "LEAST", 0)
            landing = folder / "landing" / name
            feed = Feed(name, "arcion_s3_json", str(landing), tables=tables)
            brought(lake, feed, landing)
            paths |= {table: lake.path(Layer.GOLD, name, table) for table in tables}
    paths["kept__history"] = paths["kept"] + "__history"
    yield Gold(paths)


def expected(one: Table) -> list[dict[str, Any]]:
    """What the two windows leave of a table."""
    full = {name: EXPECTED.get(name, f"{name} 1") for name in one.columns} | {"id": 1}
    return [full, {**dict.fromkeys(one.columns), "id": 3}]


def by_script(python: Path, script: str, gold: Gold, folder: Path, **more: str) -> Read:
    for name in (script, "cells.py"):
        shutil.copy(OTHERS / name, folder)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME") if name in os.environ}
    done = subprocess.run(
        [python, folder / script],
        input="\n".join(gold.paths.values()),
        env={**kept, "TZ": "UTC", **more},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def by_delta_rs(gold: Gold, read: Callable[[str], Any]) -> Read:
    found: Read = {}
    for path in gold.paths.values():
        try:
            found[path] = rows(read(path))
        except Exception as fault:
            found[path] = f"{type(fault).__name__}: {fault}"
    return found


def as_arrow(path: str) -> Any:
    return DeltaTable(path).to_pyarrow_table().to_pylist()


def by_query(path: str) -> Any:
    asked = QueryBuilder().register("gold", DeltaTable(path)).execute("SELECT * FROM gold")
    return duckdb.from_arrow(asked).to_arrow_table().to_pylist()


@pytest.fixture(scope="module", params=["delta-rs", "delta-rs, as a query", "DuckDB", "Spark"])
def found(
    request: pytest.FixtureRequest, gold: Gold, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Read]:
    folder = tmp_path_factory.mktemp("reading")
    match request.param:
        case "delta-rs":
            return request.param, by_delta_rs(gold, as_arrow)
        case "delta-rs, as a query":
            return request.param, by_delta_rs(gold, by_query)
        case "Spark":
            jars = ",".join(map(str, ensure_jars()))
            script = "read_by_spark.py"
            return request.param, by_script(
                Path(sys.executable),
                script,
                gold,
                folder,
                DELTA_JARS=jars,
                PYSPARK_PYTHON=sys.executable,
            )
        case _:
            try:
                python = environments.python("dbt", locks=OTHERS)
            except environments.NoEnvironment as fault:
                pytest.skip(f"DuckDB's extension for Delta cannot be installed here: {fault}")
            return request.param, by_script(python, "read_by_duckdb.py", gold, folder)


REFUSED = {("delta-rs", name): "deletionVectors" for name in LARGE}
"""By reader and table what it says instead; docs/readers.md has the same."""


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_every_reader_has_the_rows_and_types_that_gold_has(
    found: tuple[str, Read], gold: Gold, name: str
) -> None:
    reader, read = found
    got = read[gold[name]]
    if (reader, name) in REFUSED:
        assert REFUSED[reader, name] in got
        return
    one = {**SMALL, **LARGE}[name]
    assert not isinstance(got, str), got
    assert [{column: row[column] for column in one.columns} for row in got] == expected(one)


def test_the_history_has_every_version(found: tuple[str, Read], gold: Gold) -> None:
    _, read = found
    got = read[gold["kept__history"]]
    assert not isinstance(got, str), got
    versions = [(row["id"], row["name"], row["_weir_valid_to"] is None) for row in got]
    assert sorted(versions, key=str) == [
        (1, "name 1", True),
        (2, "name 2", False),
        (3, "name 3", False),
        (3, None, True),
    ]
