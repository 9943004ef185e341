"""Gold as others read it, every kind of table: delta-rs, DuckDB, Polars, Trino, and Spark without Weir's settings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable, QueryBuilder
from pyspark.sql import SparkSession

from bench.others import environments
from orchestration.spark.jars import ensure_jars
from tests.assets.readers.made_gold import EXPECTED, LARGE, SMALL, Gold, expected, made_gold
from tests.others.cells import rows
from tests.services import trino
from tests.services.seaweed import Store

OTHERS = Path(__file__).resolve().parents[2] / "others"
BUCKET = "s3://readers"
Read = dict[str, Any]
"""By path the rows, or a text that says why there are none."""


@pytest.fixture(scope="module")
def gold(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Gold:
    return made_gold(tmp_path_factory.mktemp("readers"))


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


def by_library(gold: Gold, read: Callable[[str], Any]) -> Read:
    found: Read = {}
    for path in gold.paths.values():
        try:
            found[path] = rows(read(path))
        except Exception as fault:
            found[path] = f"{type(fault).__name__}: {fault}"
    return found


def as_arrow(path: str) -> Any:
    return DeltaTable(path).to_pyarrow_table().to_pylist()


def by_query(path: str, options: dict[str, str] | None = None) -> Any:
    opened = DeltaTable(path, storage_options=options)
    asked = QueryBuilder().register("gold", opened).execute("SELECT * FROM gold")
    return duckdb.from_arrow(asked).to_arrow_table().to_pylist()


def by_spark(gold: Gold, folder: Path) -> Read:
    jars = ",".join(map(str, ensure_jars()))
    more = {"DELTA_JARS": jars, "PYSPARK_PYTHON": sys.executable}
    return by_script(Path(sys.executable), "read_by_spark.py", gold, folder, **more)


def by_duckdb(gold: Gold, folder: Path, **more: str) -> Read:
    try:
        python = environments.python("dbt", locks=OTHERS)
    except environments.NoEnvironment as fault:
        pytest.skip(f"DuckDB's extension for Delta cannot be installed here: {fault}")
    return by_script(python, "read_by_duckdb.py", gold, folder, **more)


def by_polars(gold: Gold, folder: Path) -> Read:
    try:
        python = environments.python("polars", locks=OTHERS)
    except environments.NoEnvironment as fault:
        pytest.skip(f"Polars cannot be installed here: {fault}")
    return by_script(python, "read_by_polars.py", gold, folder)


def by_trino(gold: Gold, folder: Path) -> Read:
    server, java = os.environ.get(trino.SERVER), os.environ.get(trino.JAVA)
    if not server or not java:
        pytest.skip(
            f"{trino.SERVER} and {trino.JAVA} name no Trino: docs/tables.md says how to get it"
        )
    with trino.running_trino(folder, Path(server), Path(java), Path(gold.warehouse)) as running:
        return by_library(gold, running.read)


def in_bucket(gold: Gold, store: Store) -> Gold:
    """The same tables, file for file, in a bucket; readers take an address, in which ``#`` is written %23."""
    files = [one for one in Path(gold.warehouse).rglob("*") if one.is_file()]
    keys = {str(one.relative_to(gold.warehouse)): one.read_bytes() for one in files}
    store.put(BUCKET.removeprefix("s3://"), keys)
    places = {
        name: path.replace(gold.warehouse, BUCKET).replace("#", "%23")
        for name, path in gold.paths.items()
    }
    return Gold(BUCKET, places)


def by_place(read: Read, gold: Gold) -> Read:
    """What was read in the bucket, by the places of the tables that were copied there."""
    return {
        path.replace(BUCKET, gold.warehouse).replace("%23", "#"): found
        for path, found in read.items()
    }


READERS = ["delta-rs", "delta-rs, as a query", "DuckDB", "Polars", "Spark", "Trino"]
IN_A_BUCKET = ["delta-rs, as a query, in a bucket", "DuckDB, in a bucket"]


@pytest.fixture(scope="module", params=[*READERS, *IN_A_BUCKET])
def found(
    request: pytest.FixtureRequest, gold: Gold, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Read]:
    reader: str = request.param
    folder = tmp_path_factory.mktemp("reading")
    if reader in IN_A_BUCKET:
        store: Store = request.getfixturevalue("store")
        copied, options = in_bucket(gold, store), store.environment()
        if reader == "DuckDB, in a bucket":
            return reader, by_place(by_duckdb(copied, folder, **options), gold)
        options |= {"AWS_ALLOW_HTTP": "true"}
        return reader, by_place(by_library(copied, lambda path: by_query(path, options)), gold)
    match reader:
        case "delta-rs":
            return reader, by_library(gold, as_arrow)
        case "delta-rs, as a query":
            return reader, by_library(gold, by_query)
        case "Polars":
            return reader, by_polars(gold, folder)
        case "Spark":
            return reader, by_spark(gold, folder)
        case "Trino":
            return reader, by_trino(gold, folder)
        case _:
            return reader, by_duckdb(gold, folder)


TO_QUARANTINE = {
    **{("delta-rs", name): "deletionVectors" for name in LARGE},
    # It looks for a file in `odd%23name`.
    ("Polars", "odd#name"): "No such file or directory",
}
"""By reader and table what it says instead; docs/tables.md has the same."""

CUT = {("Trino", "seen", EXPECTED["seen"]): "2025-11-20T01:02:03.000"}
"""By reader, column and value what it shows instead: Trino has Delta's ``timestamp`` to the millisecond."""


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_every_reader_has_the_rows_and_types_that_gold_has(
    found: tuple[str, Read], gold: Gold, name: str
) -> None:
    reader, read = found
    got = read[gold[name]]
    if (reader, name) in TO_QUARANTINE:
        assert TO_QUARANTINE[reader, name] in got
        return
    one = {**SMALL, **LARGE}[name]
    assert not isinstance(got, str), got
    wanted = [
        {column: CUT.get((reader, column, value), value) for column, value in row.items()}
        for row in expected(one)
    ]
    assert [{column: row[column] for column in one.columns} for row in got] == wanted


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
