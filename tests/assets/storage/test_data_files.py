"""Files that Spark's tasks write below a table, and the commits that add them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.columns.layers import Quarantine
from assets.storage import data_files
from assets.storage.data_files import NewFile, WindowFiles
from assets.storage.in_process_table import InProcessTable
from transforms.errors import TableBusy

FIRST, SECOND = "2025-11-20T00", "2025-11-20T01"


def rows(window: str, *lines: int) -> pa.Table:
    found = [
        {"window": window, "feed": "zoo", "line": line, "log_position": [1, line]} for line in lines
    ]
    return pa.Table.from_pylist(found, schema=Quarantine.schema)


def written(folder: Path, *some: pa.Table) -> list[NewFile]:
    with WindowFiles(str(folder), Quarantine.schema, ("payload",)) as files:
        for one in some:
            files.add(one)
        return files.closed()


def table(folder: Path) -> InProcessTable:
    return InProcessTable.at("quarantine.zoo", str(folder), str(folder.parent), Quarantine.schema)


def lines_of(folder: Path) -> list[tuple[str, int]]:
    found = table(folder).rows(["window", "line"])
    return sorted((one["window"], one["line"]) for one in found)


def test_files_take_the_place_of_their_windows_rows_alone(tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    both = pa.concat_tables([rows(FIRST, 3, 1), rows(SECOND, 7)])
    assert table(folder).put_files(written(folder, both, rows(FIRST, 2)), [FIRST, SECOND]) == 4
    assert lines_of(folder) == [(FIRST, 1), (FIRST, 2), (FIRST, 3), (SECOND, 7)]
    assert len(table(folder).files()) == 2
    assert table(folder).put_files(written(folder, rows(FIRST, 5)), [FIRST]) == 1
    assert lines_of(folder) == [(FIRST, 5), (SECOND, 7)]
    assert table(folder).put_files([], [FIRST]) == 0
    assert lines_of(folder) == [(SECOND, 7)]
    before = table(folder).version
    assert table(folder).put_files([], [FIRST]) == 0
    assert table(folder).version == before


def test_a_table_without_rows_is_made_by_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    table(folder).append_files([], seen=-1)
    assert table(folder).exists
    assert table(folder).schema.names == Quarantine.schema.names


def test_what_others_have_committed_since_keeps_files_out(tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    table(folder).append_files(written(folder, rows(FIRST, 1)), seen=-1)
    late = written(folder, rows(FIRST, 2))
    with pytest.raises(TableBusy):
        table(folder).append_files(late, seen=-1)
    assert lines_of(folder) == [(FIRST, 1)]
    assert not (folder / late[0].path).exists()


def test_only_files_that_no_commit_has_added_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    files = written(folder, rows(FIRST, 1))
    table(folder).append_files(files, seen=-1)
    more = written(folder, rows(SECOND, 2))
    table(folder).remove_unadded([*files, *more])
    assert (folder / files[0].path).exists()
    assert not (folder / more[0].path).exists()


def test_a_task_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with WindowFiles(str(tmp_path), Quarantine.schema, ()) as files:
            files.add(rows(FIRST, 1))
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert not [*tmp_path.rglob("*.parquet")]


def test_statistics_and_pages_say_where_values_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "_MOST_HELD", 50_000)
    (file,) = written(tmp_path, rows(FIRST, *range(5_000, 8_000)), rows(FIRST, *range(10)))
    found = json.loads(file.statistics)
    assert (found["numRecords"], file.rows) == (3_010, 3_010)
    assert (found["minValues"]["line"], found["maxValues"]["line"]) == (0, 7_999)
    assert (found["nullCount"]["line"], found["nullCount"]["object"]) == (0, 3_010)
    assert "object" not in found["minValues"]
    footer = pq.ParquetFile(tmp_path / file.path).metadata
    assert footer.num_row_groups == 2
    assert footer.row_group(0).column(footer.schema.names.index("line")).has_column_index
