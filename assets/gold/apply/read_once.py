"""The warehouse for a step that applies to many tables: what all of them ask for is read once and kept.

Kept are the feed's small tables (accounts, decisions, horizons), and the list of silver's files. Such a step writes
none of these; what another run adds meanwhile is applied by that run. Put here what may be kept for a step. Not here:
the gold tables, which the step writes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from pydantic import PrivateAttr

from assets.delta import small_table
from assets.delta.small_table import SmallTable, Where
from assets.lake import Lake
from assets.layers import Layer


@dataclass(frozen=True, slots=True)
class KeptTable(SmallTable):
    """A small table whose rows are kept after the first read."""

    kept: list[pa.Table] = field(default_factory=list)

    def read(self, columns: Sequence[str] | None = None, where: Where | None = None) -> pa.Table:
        """See ``SmallTable.read``: all rows are read once, and filtered in memory."""
        if not self.kept:
            self.kept.append(SmallTable.read(self))
        found = self.kept[0]
        for column, texts in (where or {}).items():
            found = found.filter(small_table.is_among(found[column], texts))
        return found.select(list(columns or self.columns.names))


class ReadOnce(Lake):
    """A warehouse that reads the feed's small tables once; several threads may use it."""

    _kept: dict[Hashable, Any] = PrivateAttr(default_factory=dict)
    _lock: Any = PrivateAttr(default_factory=RLock)

    @classmethod
    def of(cls, lake: Lake) -> ReadOnce:
        """The warehouse for one step."""
        return cls(
            warehouse=lake.warehouse,
            largest_object=lake.largest_object,
            largest_record=lake.largest_record,
            most_tables=lake.most_tables,
            executor=lake.executor,
            in_process_memory=lake.in_process_memory,
            pyspark=lake.pyspark,
        )

    def once(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """See ``Lake``."""
        with self._lock:
            if what not in self._kept:
                self._kept[what] = make()
            return self._kept[what]

    def forget(self) -> None:
        """Let go of all that is kept: an error that a step hands on holds it, by the frames that it came through."""
        with self._lock:
            self._kept.clear()

    def small_table(self, layer: Layer, feed: str, columns: pa.Schema) -> SmallTable:
        """See ``Lake``."""
        plain = super().small_table(layer, feed, columns)
        kept: SmallTable = self.once(
            ("small table", plain.path, tuple(columns.names)),
            lambda: KeptTable(plain.name, plain.path, plain.warehouse, plain.columns),
        )
        return kept

    def opened(self, layer: Layer, feed: str) -> DeltaTable | None:
        """See ``Lake``."""
        found: DeltaTable | None = self.once(
            ("opened", layer, feed), lambda: super(ReadOnce, self).opened(layer, feed)
        )
        return found
