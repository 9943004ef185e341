"""Rows of a table's data files, kept for a step that reads the same files for one table after another.

Put here how much is kept. Not here: reading a file (``table_files``), and files that a process keeps as they are in a
store (``kept_files``).
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import pyarrow as pa

from assets.delta.table_files import Files

MOST_BYTES = 128 << 20
"""Up to so many bytes of rows are kept, as they are in memory; what is beyond that is read again."""


class KeptRows:
    """Reads the data files of one Delta table, each once as far as there is room; several threads may use it.

    A feed's silver has the changes of all its tables in the same files. Read for each table anew, a window of a
    thousand tables costs as much as a million.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._kept: dict[tuple[str, tuple[str, ...]], pa.Table] = {}
        self._bytes = 0
        self._lock = Lock()

    def read(self, name: str, size: int, columns: Sequence[str]) -> pa.Table:
        """See ``Files.read``."""
        what = (name, tuple(columns))
        # Held while it reads: the tables of a step begin together, and with the same file.
        with self._lock:
            if what in self._kept:
                return self._kept[what]
            found = self._files.read(name, size, columns)
            if self._bytes + found.nbytes <= MOST_BYTES:
                self._bytes += found.nbytes
                self._kept[what] = found
            return found
