"""Views as ``weir cut --views duckdb`` prints them, made by DuckDB with its extension for Delta, and both tables read.

Run in the environment of ``dbt.lock``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
import duckdb_extension_delta

connection = duckdb.connect()
(extension,) = Path(next(iter(duckdb_extension_delta.__path__))).rglob("delta.duckdb_extension")
connection.execute(f"LOAD '{extension}'")
connection.execute(sys.stdin.read())
asked = "SELECT id, cents FROM checking UNION ALL SELECT id, cents FROM savings"
print(json.dumps(connection.execute(asked).fetchall()))
