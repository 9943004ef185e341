"""The files of a table that may be partitioned by window, and reading each with its window.

Put here what knows which window a file is of. Not here: reading one file (``table_files``), and whole tables
(``local_table``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

import pyarrow as pa
from deltalake import DeltaTable

from assets.delta import delta_rs
from assets.delta.table_files import Files

WindowFile: TypeAlias = tuple[str, int, str | None]
"""A file, its size in bytes, and its window where the table is partitioned by them."""


def listed(table: DeltaTable, asked: Collection[str] | None) -> list[WindowFile]:
    """Each file of these windows, or of all."""
    found = pa.table(table.get_add_actions(flatten=True))
    is_cut = "partition.window" in found.column_names
    windows = found["partition.window"].to_pylist() if is_cut else [None] * found.num_rows
    paths, sizes = (found[one].to_pylist() for one in ("path", "size_bytes"))
    files = zip(paths, sizes, windows, strict=True)
    return [one for one in files if asked is None or one[2] in asked]


def reader(files: Files, columns: pa.Schema) -> Callable[[WindowFile], pa.Table]:
    """What reads a file with these columns, and with its window."""

    def read(file: WindowFile) -> pa.Table:
        name, size, _ = file
        return _with_window(file, files.read(name, size, _stored(file, columns)), columns)

    return read


def batches(files: Files, file: WindowFile, columns: pa.Schema) -> Iterator[pa.Table]:
    """What ``reader`` reads of a file, some rows at a time."""
    name, size, _ = file
    for rows in files.batches(name, size, _stored(file, columns)):
        yield _with_window(file, rows, columns)


def _stored(file: WindowFile, columns: pa.Schema) -> list[str]:
    """Those of the columns that the file itself has."""
    return [one for one in columns.names if file[2] is None or one != "window"]


def _with_window(file: WindowFile, rows: pa.Table, columns: pa.Schema) -> pa.Table:
    if file[2] is not None and "window" in columns.names:
        rows = rows.append_column("window", pa.repeat(file[2], rows.num_rows))
    return delta_rs.conformed(rows, columns)
