"""DuckDB with its extension for Delta, from a wheel: run in the environment of ``dbt.lock``.

Where ``AWS_ENDPOINT_URL`` names a store, the tables lie in a bucket of it: see docs/tables.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import duckdb_extension_delta
import duckdb_extension_httpfs
from cells import answer

connection = duckdb.connect()


def load(wheel: ModuleType, name: str) -> None:
    """An extension from its wheel, in place of one that DuckDB would fetch."""
    (extension,) = Path(next(iter(wheel.__path__))).rglob(f"{name}.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")


load(duckdb_extension_delta, "delta")
if store := os.environ.get("AWS_ENDPOINT_URL"):
    load(duckdb_extension_httpfs, "httpfs")
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    connection.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION '{os.environ['AWS_DEFAULT_REGION']}',"
        f" ENDPOINT '{store.removeprefix('http://')}', USE_SSL false, URL_STYLE 'path')"
    )


def read(path: str) -> Iterable[Mapping[str, Any]]:
    """All rows of the table."""
    asked = connection.execute("SELECT * FROM delta_scan(?)", [path])
    names = [column[0] for column in asked.description or ()]
    return [dict(zip(names, row, strict=True)) for row in asked.fetchall()]


answer(read)
