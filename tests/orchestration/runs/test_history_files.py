"""SQLite files that stay open while a run writes its history: nobody waits for the disk, and nobody is kept out."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import sqlalchemy
from sqlalchemy.pool import NullPool

from orchestration.runs.history import kept_open


def write(file: Path, number: int) -> int:
    """Add a row as Dagster does, by a connection of its own; returns how careful SQLite was with the disk."""
    engine = sqlalchemy.create_engine(f"sqlite:///{file}", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("PRAGMA journal_mode = WAL"))
        connection.execute(sqlalchemy.text("CREATE TABLE IF NOT EXISTS entries (number INT)"))
        connection.execute(sqlalchemy.text(f"INSERT INTO entries VALUES ({number})"))
        connection.commit()
        found = connection.execute(sqlalchemy.text("PRAGMA synchronous")).scalar_one()
    engine.dispose()
    return int(found)


def log_of(file: Path) -> Path:
    """Where SQLite keeps what is not in the file itself yet."""
    return Path(f"{file}-wal")


FULL, NORMAL = 2, 1


def test_a_file_stays_open_until_the_end_and_is_whole_then(tmp_path: Path) -> None:
    file = tmp_path / "history.db"
    assert write(file, 1) == FULL
    assert not log_of(file).exists()
    with kept_open():
        assert write(file, 2) == NORMAL
        assert log_of(file).exists()
        # Dagster's pages and its daemon read and write the same file meanwhile.
        with sqlite3.connect(file, timeout=0) as other:
            other.execute("INSERT INTO entries VALUES (3)")
            assert other.execute("SELECT count(*) FROM entries").fetchone() == (3,)
        other.close()
        assert write(file, 4) == NORMAL
    assert not log_of(file).exists()
    assert write(file, 5) == FULL
    with sqlite3.connect(file) as after:
        assert after.execute("SELECT sum(number) FROM entries").fetchone() == (15,)
    after.close()


def test_a_new_file_and_one_in_memory_are_opened_as_ever(tmp_path: Path) -> None:
    with kept_open():
        # It becomes a file in WAL mode behind the first look at it.
        assert write(tmp_path / "new.db", 1) == NORMAL
        assert write(tmp_path / "new.db", 2) == NORMAL
        assert log_of(tmp_path / "new.db").exists()
        memory = sqlalchemy.create_engine("sqlite://")
        with memory.connect() as connection:
            assert connection.execute(sqlalchemy.text("SELECT 1")).scalar_one() == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["new.db"]
