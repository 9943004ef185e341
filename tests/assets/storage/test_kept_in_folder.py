"""A table of a folder that was read is read anew only when it has changed, whoever changed it and however."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from assets.storage import delta_rs
from assets.storage.in_process_table import InProcessTable

COLUMNS = pa.schema([pa.field("number", pa.int64())])


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Nothing kept, and each reading of a table's log."""
    delta_rs._KEPT.clear()
    counted: list[object] = []

    def read(*args: object, **options: object) -> DeltaTable:
        counted.append(args)
        return DeltaTable(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(delta_rs, "DeltaTable", read)
    return counted


def small(folder: Path) -> InProcessTable:
    return InProcessTable.at("progress.zoo", f"{folder}/zoo", str(folder), COLUMNS)


def rows(*numbers: int) -> pa.Table:
    return pa.table({"number": pa.array(numbers, pa.int64())})


def numbers(folder: Path) -> list[int]:
    return sorted(row["number"] for row in small(folder).rows())


def test_a_table_is_read_once_until_another_changes_it(tmp_path: Path, reads: list[object]) -> None:
    write_deltalake(tmp_path / "zoo", rows(1))
    assert [numbers(tmp_path) for _ in range(3)] == [[1]] * 3
    assert len(reads) == 1
    write_deltalake(tmp_path / "zoo", rows(2), mode="append")
    assert [numbers(tmp_path) for _ in range(3)] == [[1, 2]] * 3
    assert len(reads) == 2


def test_what_this_process_commits_it_need_not_read(tmp_path: Path, reads: list[object]) -> None:
    write_deltalake(tmp_path / "zoo", rows(1))
    for number in range(2, 25):
        small(tmp_path).append(rows(number))
    assert numbers(tmp_path) == [*range(1, 25)]
    assert len(reads) == 1


def test_a_table_that_was_made_again_is_another(tmp_path: Path, reads: list[object]) -> None:
    write_deltalake(tmp_path / "zoo", rows(1))
    assert numbers(tmp_path) == [1]
    commit = tmp_path / "zoo" / "_delta_log" / f"{0:020}.json"
    size = commit.stat().st_size
    shutil.rmtree(tmp_path / "zoo")
    write_deltalake(tmp_path / "zoo", rows(2))
    # Blanks at the end are nothing to JSON: the commit's name, size and place are the former one's.
    commit.write_text(commit.read_text().rstrip("\n").ljust(size))
    assert numbers(tmp_path) == [2]


def test_two_users_at_once_do_not_share_a_table(tmp_path: Path, reads: list[object]) -> None:
    write_deltalake(tmp_path / "zoo", rows(1))
    one, other = small(tmp_path), small(tmp_path)
    one.append(rows(2))
    assert (one.version, other.version) == (1, 0)
    assert [row["number"] for row in other.rows()] == [1]
    del one, other
    assert numbers(tmp_path) == [1, 2]


def test_what_others_took_away_is_gone(tmp_path: Path, reads: list[object]) -> None:
    write_deltalake(tmp_path / "zoo", rows(1, 2))
    assert numbers(tmp_path) == [1, 2]
    DeltaTable(tmp_path / "zoo").delete("number = 1")
    assert numbers(tmp_path) == [2]
    assert small(tmp_path).count() == 1
