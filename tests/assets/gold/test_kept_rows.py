"""Silver's files are read once for all tables of a step, as far as there is room."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from assets.gold import plan
from assets.gold.plan import SilverFiles
from assets.storage.in_process_table import DataFile, InProcessTable

ROWS = pa.table({"table": ["item", "order"], "key": ["1", "2"]})


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A table with one data file."""
    write_deltalake(tmp_path / "silver", ROWS)
    (file,) = (tmp_path / "silver").glob("*.parquet")
    return file


def kept_of(file: Path) -> SilverFiles:
    path = str(file.parent)
    table = InProcessTable.at("silver.zoo", path, path)
    return SilverFiles([], table.read_file, table.read_parts_with)


def test_a_file_is_read_once_for_the_same_columns(stored: Path) -> None:
    kept, file = kept_of(stored), DataFile(stored.name, 0, 2, {})
    first = kept.read_file(file, ["table", "key"])
    stored.unlink()
    assert first.equals(ROWS)
    assert kept.read_file(file, ["table", "key"]) is first
    with pytest.raises(FileNotFoundError):
        kept.read_file(file, ["key"])


def test_rows_beyond_the_room_are_read_again(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MOST_BYTES", ROWS.nbytes - 1)
    kept, file = kept_of(stored), DataFile(stored.name, 0, 2, {})
    assert kept.read_file(file, ["table", "key"]).equals(ROWS)
    stored.unlink()
    with pytest.raises(FileNotFoundError):
        kept.read_file(file, ["table", "key"])
