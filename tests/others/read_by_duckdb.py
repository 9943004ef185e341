"""DuckDB with its extension for Delta, from a wheel: run in the environment of ``dbt.lock``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_delta
from cells import answer

(EXTENSION,) = Path(next(iter(duckdb_extension_delta.__path__))).rglob("delta.duckdb_extension")
connection = duckdb.connect()
connection.execute(f"LOAD '{EXTENSION}'")


def read(path: str) -> Iterable[Mapping[str, Any]]:
    """All rows of the table."""
    asked = connection.execute("SELECT * FROM delta_scan(?)", [path])
    names = [column[0] for column in asked.description or ()]
    return [dict(zip(names, row, strict=True)) for row in asked.fetchall()]


answer(read)
