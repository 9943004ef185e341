"""The files of a feed's silver, as they are when a plan is made, and what reads them in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa

from assets.delta.table_files import Files
from assets.gold.changes.kept_rows import KeptRows
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed


class SilverFiles(Protocol):
    """What reads a file of silver."""

    def read(self, name: str, size: int, columns: Sequence[str]) -> pa.Table:
        """These columns of a file of so many bytes."""


class Part(NamedTuple):
    """One file of silver: its path within the table, its bytes and rows, and the window that these are of."""

    path: str
    size: int
    rows: int
    window: str


@dataclass(frozen=True, slots=True)
class SilverParts:
    """The files of a feed's silver (``parts``), and what reads them; the tables of a step share what is read."""

    files: SilverFiles
    parts: Sequence[Part]

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> SilverParts | None:
        """The files that silver has now; None where there is no silver."""
        silver = lake.opened(Layer.SILVER, feed.name)
        if silver is None:
            return None
        listed = pa.table(silver.get_add_actions(flatten=True))
        columns = ("path", "size_bytes", "num_records", "partition.window")
        cells = zip(*(listed[name].to_pylist() for name in columns), strict=True)
        files = Files.of(silver, lake.path(Layer.SILVER, feed.name), lake.warehouse)
        parts = [Part(name, size, rows or 0, window) for name, size, rows, window in cells]
        return cls(KeptRows(files), parts)
