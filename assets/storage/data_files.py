"""Data files that Spark's tasks write themselves below a Delta table, for one commit of the driver to add."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_MOST_HELD: Final = 32 << 20
"""Maximum number of bytes of rows that a task holds before it writes those of one window, as a group of its file."""

_ROWS_OF_A_PAGE: Final = 2_000
"""Pages are small, so that a reader of a few keys passes over most of them (``orchestration/spark/settings.py``)."""


class NewFile(NamedTuple):
    """A file that no commit has added yet: its path below the table, bytes, rows and statistics as Delta has them."""

    path: str
    window: str
    size: int
    rows: int
    statistics: str


class _Open:
    """A file that is being written, and the rows that are not in it yet."""

    def __init__(self, root: Path, window: str, schema: pa.Schema, coded: Sequence[str]) -> None:
        self.path = f"window={window}/part-{uuid4()}.parquet"
        self.whole = root / self.path
        self.whole.parent.mkdir(parents=True, exist_ok=True)
        self.footers: list[pq.FileMetaData] = []
        self._held: list[pa.RecordBatch] = []
        self.size = 0
        self._writer = pq.ParquetWriter(
            self.whole,
            schema,
            compression="snappy",
            use_dictionary=[*coded],
            max_rows_per_page=_ROWS_OF_A_PAGE,
            write_page_index=True,
            store_schema=False,
            metadata_collector=self.footers,
        )

    def hold(self, rows: pa.Table) -> int:
        """Take rows; returns how many bytes they have."""
        self._held += rows.to_batches()
        self.size += rows.nbytes
        return int(rows.nbytes)

    def write(self) -> int:
        """Write what is held; returns how many bytes it had."""
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held))
        size, self._held, self.size = self.size, [], 0
        return size

    def close(self) -> None:
        """Write what is left, and the footer."""
        self.write()
        self._writer.close()


class WindowFiles:
    """The files that one task writes, one for each window of which it has rows.

    ``unique``: columns whose values hardly repeat, so that a dictionary of them takes time and saves nothing.
    """

    def __init__(self, table: str, schema: pa.Schema, unique: Collection[str]) -> None:
        self._root = Path(table.removeprefix("file://"))
        self._schema = schema.remove(schema.get_field_index("window"))
        maps = [one.name for one in schema if pa.types.is_map(one.type)]
        self._coded = [name for name in self._schema.names if name not in unique]
        self._coded += [f"{name}.key_value.key" for name in maps]
        self._open: dict[str, _Open] = {}
        self._held = 0

    def add(self, rows: pa.Table) -> None:
        """Write rows, each behind those that the file of its window has."""
        for window in rows["window"].unique().to_pylist():
            if window not in self._open:
                self._open[window] = _Open(self._root, window, self._schema, self._coded)
            mine = rows.filter(pc.equal(rows["window"], window)).select(self._schema.names)
            self._held += self._open[window].hold(mine)
        while self._held > _MOST_HELD:
            self._held -= max(self._open.values(), key=lambda one: one.size).write()

    def closed(self) -> list[NewFile]:
        """What has been written, once it is all on disk."""
        found = []
        for window, one in self._open.items():
            one.close()
            (footer,) = one.footers
            size = one.whole.stat().st_size
            found.append(NewFile(one.path, window, size, footer.num_rows, statistics(footer)))
        return found

    def __enter__(self) -> Self:
        """Begin to write."""
        return self

    def __exit__(self, failed: type[BaseException] | None, *rest: object) -> None:
        """Remove what has been written, where the task fails."""
        if failed is not None:
            for one in self._open.values():
                one.whole.unlink(missing_ok=True)


def remove(table: str, paths: Iterable[str]) -> None:
    """Remove files of a table, which are of no commit."""
    for path in paths:
        Path(table.removeprefix("file://"), path).unlink(missing_ok=True)


def statistics(footer: pq.FileMetaData) -> str:
    """What Delta's log says of a file: how many rows it has, and the least and greatest texts and numbers."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: Counter[str] = Counter()
    unknown: set[str] = set()
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for at in range(group.num_columns):
            column = group.column(at)
            name, found = column.path_in_schema, column.statistics
            if "." in name or found is None or not found.has_null_count:
                continue
            nulls[name] += found.null_count
            if found.has_min_max and type(found.min) in (str, int):
                least[name] = min(found.min, least.get(name, found.min))
                greatest[name] = max(found.max, greatest.get(name, found.max))
            elif found.null_count < group.num_rows:
                unknown.add(name)
    for name in unknown:
        least.pop(name, None)
        greatest.pop(name, None)
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": least,
            "maxValues": greatest,
            "nullCount": nulls,
        }
    )
