"""Rows of a table's data files, kept for a step that reads the same files for one table after another.

Put here how much is kept. Not here: reading a file (``assets/delta/table_files.py``), and files kept as they are in a
store (``assets/delta/kept_files.py``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from threading import Lock
from typing import TypeAlias

import pyarrow as pa

from assets.delta.table_files import Files

MOST_BYTES = 128 << 20
"""Up to so many bytes of rows are kept, as they are in memory; what is beyond that is read again."""


_What: TypeAlias = tuple[str, tuple[str, ...]]
"""A file, and the columns that are read of it."""


class KeptRows:
    """Reads the data files of one Delta table, each once as far as there is room; several threads may use it.

    A feed's silver has the changes of all its tables in the same files. Read for each table anew, a window of a
    thousand tables costs as much as a million.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._kept: dict[_What, pa.Table] = {}
        self._bytes = 0
        self._reading: defaultdict[_What, Lock] = defaultdict(Lock)
        self._lock = Lock()

    def read(self, name: str, size: int, columns: Sequence[str]) -> pa.Table:
        """See ``Files.read``."""
        what = (name, tuple(columns))
        with self._lock:
            reading = self._reading[what]
        # The tables of a step begin together, and with the same file: one reads it, the others wait for that.
        with reading:
            if what not in self._kept:
                found = self._files.read(name, size, columns)
                if not self._takes(found.nbytes):
                    return found
                self._kept[what] = found
            return self._kept[what]

    def _takes(self, size: int) -> bool:
        """Whether there is room for so many bytes, which are then taken."""
        with self._lock:
            takes = self._bytes + size <= MOST_BYTES
            self._bytes += size if takes else 0
            return takes
