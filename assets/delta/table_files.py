"""The data files of a Delta table, read in this process, column by column.

Put here what has to be known to read such a file right: rows marked as deleted, times as Spark writes them, large files
in a store. Not here: which files a table has, and all else that delta-rs does (``delta_rs``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler

from assets.delta import kept_files
from assets.delta.delta_rs import address, options

# A smaller object costs less than the requests for its parts.
_WHOLE_BYTES = 8 << 20
_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one Delta table, by their paths below it.

    Not read through delta-rs's own dataset: that hands Python's files to threads of Arrow's, and a process that ends
    soon after is aborted by them, now and then, whatever it has done.
    """

    root: str
    handler: DeltaStorageHandler
    kept: Mapping[str, pa.BooleanArray]

    @classmethod
    def of(cls, table: DeltaTable, path: str, warehouse: str) -> Files:
        """The files of a table that was opened at this path."""
        kept: dict[str, pa.BooleanArray] = {}
        if "deletionVectors" in (table.protocol().reader_features or ()):
            # Spark may be set up to mark rows as deleted and leave them in their file.
            marked = pa.table(table.deletion_vectors())
            for name, rows in zip(marked["filepath"].to_pylist(), marked[1], strict=True):
                kept[name.rpartition("/")[2]] = rows.values
        return cls(path, DeltaStorageHandler(address(path), options(warehouse)), kept)

    def read(
        self, name: str, size: int, columns: Sequence[str], repeated: Sequence[str] = ()
    ) -> pa.Table:
        """These of the columns that a data file of so many bytes has, of its rows that are not deleted.

        ``repeated``: columns that have few values, which are read as numbers of these.
        """
        file = self.parquet(name, size, repeated)
        stored = set(file.schema_arrow.names)
        there = [column for column in columns if column in stored]
        # By this thread alone where the file is Python's: see above.
        found = file.read(there, use_threads=self._is_local)
        kept = self.kept.get(name.rpartition("/")[2])
        # Rows behind the end of the marks are all there.
        if kept is None:
            return found
        marks = pa.concat_arrays(
            [kept, pa.array([True] * (found.num_rows - len(kept)), pa.bool_())]
        )
        return found.filter(marks)

    def batches(self, name: str, size: int, columns: Sequence[str]) -> Iterator[pa.Table]:
        """``read``, some rows at a time, for whoever may need only the first of a large file."""
        file = self.parquet(name, size)
        there = [column for column in columns if column in file.schema_arrow.names]
        kept, at = self.kept.get(name.rpartition("/")[2]), 0
        for batch in file.iter_batches(_BATCH, columns=there, use_threads=self._is_local):
            found = pa.Table.from_batches([batch])
            marks = None if kept is None else kept[at : at + len(found)]
            at += len(found)
            if marks is not None:
                rest = pa.array([True] * (len(found) - len(marks)), pa.bool_())
                found = found.filter(pa.concat_arrays([marks, rest]))
            yield found

    def content(self, name: str) -> bytes:
        """A whole file.

        Raises:
            FileNotFoundError: there is none.
        """
        if self._is_local:
            return self._local(name).read_bytes()
        data: bytes = self.handler.open_input_file(name).read()
        return data

    def parquet(self, name: str, size: int, repeated: Sequence[str] = ()) -> pq.ParquetFile:
        """A data file of so many bytes, to be read column by column; times are in microseconds.

        Raises:
            FileNotFoundError: there is none.
        """
        if self._is_local:
            return _parquet(self._local(name), repeated)
        if size > _WHOLE_BYTES:
            return _parquet(self.handler.open_input_file(name), repeated)
        kept = kept_files.content((self.root, name, size))
        data = self.content(name) if kept is None else kept
        file = _parquet(pa.BufferReader(data), repeated)
        if kept is None:
            kept_files.keep((self.root, name, size), data)
        return file

    @property
    def _is_local(self) -> bool:
        return "://" not in self.root or self.root.startswith("file://")

    def _local(self, name: str) -> Path:
        return Path(self.root.removeprefix("file://"), name)


def _parquet(source: object, repeated: Sequence[str]) -> pq.ParquetFile:
    # Spark writes times as INT96, which are read as nanoseconds unless said: those end in the year 2262.
    return pq.ParquetFile(
        source, pre_buffer=False, coerce_int96_timestamp_unit="us", read_dictionary=[*repeated]
    )
