"""Of a data file only those row groups are read that may hold what is looked for, and nothing of it is missed."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import WriterProperties, write_deltalake

from assets.storage import in_process_table
from assets.storage.in_process_table import InProcessTable, groups_of, groups_with

COLUMNS = pa.schema(
    [
        ("id", pa.int64()),
        ("code", pa.string()),
        ("day", pa.date32()),
        ("price", pa.decimal128(9, 2)),
    ]
)

ROWS = 2_000
GROUP = 100


def rows(numbers: list[int]) -> pa.Table:
    cells = {
        "id": numbers,
        "code": [None if number % 97 == 0 else f"é{number:06}" for number in numbers],
        "day": [date(2020, 1, 1) + timedelta(number) for number in numbers],
        "price": numbers,
    }
    price = (
        pa.array(cells["price"], pa.int64()).cast(pa.decimal128(19, 0)).cast(pa.decimal128(9, 2))
    )
    return pa.table({**cells, "price": price}, schema=COLUMNS)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessTable:
    """One file of twenty row groups in the order of the ids, of which some rows are marked as deleted."""
    # Rows of smaller files are written again, and not marked.
    monkeypatch.setattr(in_process_table, "SMALL_FILE", 0)
    write_deltalake(
        tmp_path / "rows",
        rows([*range(ROWS)]),
        writer_properties=WriterProperties(max_row_group_size=GROUP),
    )
    stored = InProcessTable.at("gold.rows", f"{tmp_path}/rows", str(tmp_path), COLUMNS)
    (file,) = stored.files()
    assert pq.ParquetFile(tmp_path / "rows" / file.path).num_row_groups == ROWS // GROUP
    gone = np.array([3, 150, 151, 1_999])
    stored.put_rows({file.path: gone}, COLUMNS.empty_table())
    (again,) = stored.files()
    assert (again.path, stored.count()) == (file.path, ROWS - 4)
    return stored


@pytest.mark.parametrize("column", COLUMNS.names)
def test_no_row_is_missed_whatever_is_looked_for(table: InProcessTable, column: str) -> None:
    (file,), draw = table.files(), Random(11)
    numbers, every = table.numbered(file, COLUMNS)
    for _ in range(60):
        wanted = draw.sample(range(-50, ROWS + 50), draw.choice((1, 2, 5, 40)))
        values = rows(wanted)[column].combine_chunks().drop_null()
        some_numbers, some = table.numbered(file, COLUMNS, groups_with(column, values))
        found = some.filter(pc.is_in(some[column], values))
        expected = every.filter(pc.is_in(every[column], values))
        assert found.equals(expected)
        where = numbers[pc.is_in(every[column], values).to_numpy(zero_copy_only=False)]
        of_some = pc.is_in(some[column], values).to_numpy(zero_copy_only=False)
        assert some_numbers[of_some].tolist() == where.tolist()


def test_other_row_groups_are_not_read(table: InProcessTable) -> None:
    (file,) = table.files()
    few = pa.array([140, 149, 1_205], pa.int64())
    numbers, some = table.numbered(file, COLUMNS, groups_with("id", few))
    # Two groups of a hundred rows, of which two rows are deleted.
    assert some.num_rows == len(numbers) == 198
    assert {number // GROUP for number in numbers.tolist()} == {1, 12}
    assert some["id"].to_pylist() == numbers.tolist()
    none = table.numbered(file, COLUMNS, groups_with("id", pa.array([-7], pa.int64())))
    assert (len(none[0]), none[1].num_rows, none[1].schema) == (0, 0, COLUMNS)
    # Bounds of decimal numbers are not gone by, and a column that the file does not have has none. What is looked for
    # by its text, as keys of floating numbers are, is not compared with bounds of another type.
    texts = pa.array(["140"], pa.string())
    for column, values in (("price", rows([140])["price"]), ("elsewhere", few), ("id", texts)):
        among = groups_with(column, values)
        assert table.numbered(file, COLUMNS, among)[1].num_rows == ROWS - 4


def test_the_row_groups_of_found_rows_are_read_again(table: InProcessTable) -> None:
    (file,) = table.files()
    numbers, some = table.numbered(file, COLUMNS, groups_of(np.array([99, 100, 1_999])))
    assert {number // GROUP for number in numbers.tolist()} == {0, 1, 19}
    assert some["id"].to_pylist() == numbers.tolist()
    assert table.numbered(file, COLUMNS, groups_of(np.array([], np.int64)))[1].num_rows == 0
