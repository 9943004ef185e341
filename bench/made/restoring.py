"""Warehouses for single runs: each starts from the same tables, at a path that Delta has not cached."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from assets.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of warehouses that share one Spark session; only the newest copy is kept."""

    folder: Path
    session: Lake
    _numbers: Iterator[int] = field(default_factory=count)

    def lake(self, name: str) -> Lake:
        """The warehouse of this name."""
        return self.session.with_warehouse(str(self.folder / name))

    def fresh(self, like: str | None = None) -> Lake:
        """A new warehouse: empty, or with the tables of another."""
        number = next(self._numbers)
        shutil.rmtree(self.folder / f"run_{number - 1}", ignore_errors=True)
        if like is not None:
            copy(self.folder / like, self.folder / f"run_{number}")
        return self.lake(f"run_{number}")


def copy(source: Path, target: Path) -> None:
    """Copy a warehouse. Data files never change, so they are linked where the file system can do that."""
    shutil.copytree(source, target, copy_function=_linked)


def _linked(source: str, target: str) -> None:
    if "_delta_log" in Path(source).parts:
        shutil.copy2(source, target)
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
