"""The DuckDB that answers questions has their tables: it reaches no file, no extension and no variable of Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from orchestration.cli.sql import in_duckdb

ROWS = pa.table({"id": [1, 2]})
SECRET = "hunter2"

LOCKED = [
    "SELECT * FROM 'secret.csv'",
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM read_csv_auto('secret.csv')",
    "SELECT * FROM sniff_csv('secret.csv')",
    "SELECT * FROM read_text('secret.csv')",
    "SELECT * FROM read_blob('secret.csv')",
    "SELECT * FROM read_parquet('secret.parquet')",
    "SELECT * FROM parquet_metadata('secret.parquet')",
    "SELECT * FROM query('SELECT * FROM ''secret.csv''')",
    "SELECT * FROM query_table('secret.csv')",
    "SELECT * FROM read_json('secret.csv')",
    "SELECT * FROM read_parquet('http://127.0.0.1:9/a.parquet')",
    "SELECT * FROM read_csv('s3://bucket/a.csv')",
    "SELECT * FROM glob('*')",
    "SELECT getenv('HOME')",
    "SELECT * FROM beside",
    "COPY t0 TO 'written.csv'",
    "COPY t0 FROM 'secret.csv'",
    "EXPORT DATABASE 'written'",
    "IMPORT DATABASE 'written'",
    "ATTACH 'written.db' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD 'written.duckdb_extension'",
    "CREATE PERSISTENT SECRET (TYPE s3)",
    "SET enable_external_access = true",
    "RESET enable_external_access",
    "SET lock_configuration = false",
    "SET python_enable_replacements = true",
    "SET home_directory = '.'",
    "PRAGMA threads = 1",
    "PRAGMA profiling_output = 'written.json'",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which the process is, with files that DuckDB could read."""
    (tmp_path / "secret.csv").write_text(f"word\n{SECRET}\n")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT '{SECRET}') TO '{tmp_path}/secret.parquet'")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    yield tmp_path
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("sql", LOCKED)
def test_what_is_not_its_one_table_is_refused(folder: Path, sql: str) -> None:
    beside = ROWS
    assert beside.num_rows == 2
    with in_duckdb.locked({"t0": ROWS}) as connection:
        with pytest.raises(duckdb.Error) as refused:
            connection.execute(sql).fetchall()
        assert SECRET not in str(refused.value)
        # Nor did anything of it stay.
        assert connection.execute("SELECT count(*) FROM t0").fetchall() == [(2,)]
        settings = "SELECT current_setting('enable_external_access'), current_setting('lock_configuration')"
        assert connection.execute(settings).fetchall() == [(False, True)]


def test_without_the_lock_files_and_variables_are_read(folder: Path) -> None:
    """What the tests above try does reach out where nothing is locked."""
    beside = ROWS
    assert beside.num_rows == 2
    with duckdb.connect() as connection:
        for sql in LOCKED[:9]:
            assert connection.execute(sql).fetchall()
        assert connection.execute("SELECT * FROM beside").fetchall() == [(1,), (2,)]
        connection.execute("PRAGMA threads = 1")
