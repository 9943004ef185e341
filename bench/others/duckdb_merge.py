"""The apply by DuckDB: newest change of each key by a window function, then MERGE INTO.

https://duckdb.org/docs/stable/sql/statements/merge_into has the statement. The table is one of its own, in a database
file: DuckDB cannot merge into a Delta table. It has no index, as a Delta table has none.
"""

from __future__ import annotations

from pathlib import Path

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


def export(folder: Path, file: Path) -> None:
    """Write what the table holds as Parquet."""
    with duckdb.connect(str(folder / DATABASE), read_only=True) as database:
        database.execute(f"COPY item TO '{file}' (FORMAT parquet)")


def _files(folder: Path) -> str:
    return str(folder / "*.parquet")
