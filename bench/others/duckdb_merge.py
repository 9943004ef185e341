"""The apply by DuckDB: newest change of each key by a window function, then MERGE INTO. Run as a script.

Its table is one of its own, in a database file that ``prepare`` makes of the same rows before anything is timed:
DuckDB cannot merge into a Delta table. The table has no index, as a Delta table has none.

Imports nothing of Weir's, for it is run by a Python that has DuckDB and little else.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter

import duckdb

DATABASE = "gold.duckdb"
"""The file, within the folder that is given."""


def prepare(rows: Path, folder: Path) -> None:
    """Make the table of these rows."""
    folder.mkdir(parents=True)
    with duckdb.connect(str(folder / DATABASE)) as database:
        database.execute("CREATE TABLE item AS SELECT * FROM read_parquet(?)", [_files(rows)])


def merge(changes: Path, folder: Path) -> None:
    """Apply the changes. The database is closed within, which writes its log into its file."""
    with duckdb.connect(str(folder / DATABASE)) as database:
        read = "SELECT * FROM read_parquet(?)"
        described = database.execute(f"DESCRIBE {read}", [_files(changes)]).fetchall()
        names = [name for name, *_ in described if name != "is_delete"]
        columns = ", ".join(f'"{name}"' for name in names)
        values = ", ".join(f'new."{name}"' for name in names)
        updates = ", ".join(f'"{name}" = new."{name}"' for name in names)
        newer = "new._weir_log_position > old._weir_log_position"
        latest = "row_number() OVER (PARTITION BY id ORDER BY _weir_log_position DESC) = 1"
        database.execute(
            f"""
            MERGE INTO item AS old USING ({read} QUALIFY {latest}) AS new ON old.id = new.id
            WHEN MATCHED AND {newer} AND new.is_delete THEN DELETE
            WHEN MATCHED AND {newer} THEN UPDATE SET {updates}
            WHEN NOT MATCHED AND NOT new.is_delete THEN INSERT ({columns}) VALUES ({values})
            """,
            [_files(changes)],
        )


def counted(folder: Path) -> dict[str, int]:
    """How many rows the table has, and the sum of their quantities."""
    with duckdb.connect(str(folder / DATABASE), read_only=True) as database:
        row = database.execute("SELECT count(*), sum(quantity) FROM item").fetchone()
    assert row is not None  # counts are one row
    return {"rows": int(row[0]), "quantity": int(row[1])}


def _files(folder: Path) -> str:
    return str(folder / "*.parquet")


def main() -> None:
    """Make the table; or merge, and print on one line what it took and what there is then."""
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    of_prepare, of_merge = steps.add_parser("prepare"), steps.add_parser("merge")
    of_prepare.add_argument("--rows", type=Path, required=True, help="a folder of Parquet files")
    of_merge.add_argument("--changes", type=Path, required=True, help="a folder of Parquet files")
    for one in (of_prepare, of_merge):
        one.add_argument("--table", type=Path, required=True, help="the database's folder")
    given = parser.parse_args()
    started = perf_counter()
    if given.step == "prepare":
        prepare(given.rows, given.table)
    else:
        merge(given.changes, given.table)
    seconds = perf_counter() - started
    print(json.dumps({"seconds": seconds, **counted(given.table)}), flush=True)


if __name__ == "__main__":
    main()
