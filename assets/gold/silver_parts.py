"""The files of a feed's silver, as they are when a plan is made, and what reads them in this process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol, TypeAlias

import pyarrow as pa

from assets.delta.in_process_table import DataFile
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed

MOST_BYTES = 128 << 20
"""Up to so many bytes of rows are kept, as they are in memory; what is beyond that is read again."""

_What: TypeAlias = tuple[str, tuple[str, ...]]
"""A file, and the columns that are read of it."""


class SilverFiles(Protocol):
    """What reads a file of silver."""

    def read_file(self, file: DataFile, columns: Sequence[str]) -> pa.Table:
        """These columns of a file."""


class KeptRows:
    """Reads the data files of silver, each once as far as there is room; several threads may use it.

    A feed's silver has the changes of all its tables in the same files. Read for each table anew, a window of a
    thousand tables costs as much as a million.
    """

    def __init__(self, files: SilverFiles) -> None:
        self._files = files
        self._kept: dict[_What, pa.Table] = {}
        self._bytes = 0
        self._reading: defaultdict[_What, Lock] = defaultdict(Lock)
        self._lock = Lock()

    def read_file(self, file: DataFile, columns: Sequence[str]) -> pa.Table:
        """See ``SilverFiles``."""
        what = (file.path, tuple(columns))
        with self._lock:
            reading = self._reading[what]
        # The tables of a step begin together, and with the same file: one reads it, the others wait for that.
        with reading:
            if what not in self._kept:
                found = self._files.read_file(file, columns)
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


@dataclass(frozen=True, slots=True)
class SilverParts:
    """The files of a feed's silver (``parts``), and what reads them; the tables of a step share what is read."""

    files: SilverFiles
    parts: Sequence[DataFile]

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> SilverParts | None:
        """The files that silver has now; None where there is no silver."""
        silver = lake.in_process_table(Layer.SILVER, feed.name)
        return cls(KeptRows(silver), silver.files()) if silver.exists else None
