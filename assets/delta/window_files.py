"""The files of a table that may be partitioned by a column, and reading each with its value of that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

import pyarrow as pa
from deltalake import DeltaTable

from assets.delta import delta_rs
from assets.delta.table_files import Files

WindowFile: TypeAlias = tuple[str, int, str | None]
"""A file, its size in bytes, and its value where the table is partitioned: its window."""


def listed(
    table: DeltaTable, asked: Collection[str] | None, by: str = "window"
) -> list[WindowFile]:
    """Each file with one of these values in the column by which the table is partitioned, or each."""
    found = pa.table(table.get_add_actions(flatten=True))
    column = f"partition.{by}"
    is_cut = column in found.column_names
    values = found[column].to_pylist() if is_cut else [None] * found.num_rows
    paths, sizes = (found[one].to_pylist() for one in ("path", "size_bytes"))
    files = zip(paths, sizes, values, strict=True)
    return [one for one in files if asked is None or one[2] in asked]


def reader(
    files: Files, columns: pa.Schema, by: str = "window"
) -> Callable[[WindowFile], pa.Table]:
    """What reads a file with these columns, the one among them by which the table is partitioned."""

    def read(file: WindowFile) -> pa.Table:
        name, size, _ = file
        return _with_part(file, files.read(name, size, _stored(file, columns, by)), columns, by)

    return read


def batches(files: Files, file: WindowFile, columns: pa.Schema) -> Iterator[pa.Table]:
    """What ``reader`` reads of a file of a window, some rows at a time."""
    name, size, _ = file
    for rows in files.batches(name, size, _stored(file, columns, "window")):
        yield _with_part(file, rows, columns, "window")


def _stored(file: WindowFile, columns: pa.Schema, by: str) -> list[str]:
    """Those of the columns that the file itself has."""
    return [one for one in columns.names if file[2] is None or one != by]


def _with_part(file: WindowFile, rows: pa.Table, columns: pa.Schema, by: str) -> pa.Table:
    if file[2] is not None and by in columns.names:
        rows = rows.append_column(by, pa.repeat(file[2], rows.num_rows))
    return delta_rs.conformed(rows, columns)
