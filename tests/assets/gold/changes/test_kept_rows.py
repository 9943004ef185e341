"""Silver's files are read once for all tables of a step, as far as there is room."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from assets.delta.table_files import Files
from assets.gold.changes import kept_rows
from assets.gold.changes.kept_rows import KeptRows

ROWS = pa.table({"table": ["item", "order"], "key": ["1", "2"]})


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A table with one data file."""
    write_deltalake(tmp_path / "silver", ROWS)
    (file,) = (tmp_path / "silver").glob("*.parquet")
    return file


def kept_of(file: Path) -> KeptRows:
    path = str(file.parent)
    return KeptRows(Files.of(DeltaTable(path), path, path))


def test_a_file_is_read_once_for_the_same_columns(stored: Path) -> None:
    kept, size = kept_of(stored), stored.stat().st_size
    first = kept.read(stored.name, size, ["table", "key"])
    stored.unlink()
    assert first.equals(ROWS)
    assert kept.read(stored.name, size, ["table", "key"]) is first
    with pytest.raises(FileNotFoundError):
        kept.read(stored.name, size, ["key"])


def test_rows_beyond_the_room_are_read_again(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "MOST_BYTES", ROWS.nbytes - 1)
    kept, size = kept_of(stored), stored.stat().st_size
    assert kept.read(stored.name, size, ["table", "key"]).equals(ROWS)
    stored.unlink()
    with pytest.raises(FileNotFoundError):
        kept.read(stored.name, size, ["table", "key"])
