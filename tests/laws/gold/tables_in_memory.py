"""Tables that are no files, so that the product's reading and committing of gold runs over them by the ten thousand.

What is in them, and in which order it is written, is the product's (``StoredInProcess``). Not here: which runs there
are (``in_memory``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from assets.executors.in_process import InProcess
from assets.gold.fold import Folded
from assets.gold.stored_in_process import StoredInProcess
from assets.storage.in_process_table import InProcessTable
from transforms.feed.feed import Table
from transforms.gold import folded_rows
from transforms.gold.columns import EFFECT, LAST_CHANGE, MENTIONS, PARTS


class Killed(Exception):
    """A run ends in the middle of its commits."""


@dataclass
class MemoryTable:
    """One table: what ``InProcessTable`` is to the product. ``dies``: the next write ends the run."""

    rows: pa.Table | None = None
    dies: bool = False
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        """Whether anything was written."""
        return self.rows is not None

    def read(self, columns: pa.Schema) -> pa.Table:
        """All rows."""
        return columns.empty_table() if self.rows is None else self.rows

    def rewrite(
        self,
        rows: pa.Table,
        properties: Mapping[str, str] | None = None,
        constraint: tuple[str, str] | None = None,
    ) -> None:
        """Have these rows and no others."""
        if self.dies:
            raise Killed
        self.rows = rows


@dataclass(frozen=True, slots=True)
class Unread(InProcess):
    """The executor in this process, but for one thing: like Spark, it does not read values that nothing depends on."""

    @property
    def reads_values(self) -> bool:
        """Rows come out with only the columns that changes mention."""
        return False


@dataclass
class GoldTables:
    """The tables of one gold table."""

    table: Table
    gold: MemoryTable = field(default_factory=MemoryTable)
    tombstones: MemoryTable = field(default_factory=MemoryTable)
    history: MemoryTable = field(default_factory=MemoryTable)

    def stored(self) -> StoredInProcess:
        """The product's view of them, as they are now."""
        gold, tombstones, history = (
            cast(InProcessTable, one) for one in (self.gold, self.tombstones, self.history)
        )
        return StoredInProcess(
            self.table, gold, tombstones, history if self.table.history else None
        )

    def whole(self, folded: Folded[pa.Table]) -> Folded[pa.Table]:
        """What a fold made, each row with the values that it keeps: as Spark's MERGE leaves them."""
        names = [name for name in self.table.columns if name not in self.table.identity]
        stored = self.stored()
        before = dict(zip(stored.keys, stored.rows.select(names).to_pylist(), strict=True))
        rows = folded.rows.to_pylist()
        for row in rows:
            if row[EFFECT] == "update":
                old = before[tuple(row[PARTS])]
                row |= {name: old[name] for name in names if name not in row[MENTIONS]}
        whole = pa.Table.from_pylist(rows, schema=folded.rows.schema)
        return Folded(whole, folded.versions, folded.metrics)


def made_of(table: Table, folded: Folded[pa.Table]) -> GoldTables:
    """Tables that a fold of all changes makes, though gold has others."""
    made = GoldTables(table)
    is_absent = pc.equal(folded.rows[EFFECT], "remove")
    made.gold.rows = folded.rows.filter(pc.invert(is_absent))
    own = (*folded_rows.tombstones_schema(table).names,)
    made.tombstones.rows = folded.rows.filter(is_absent).select(own)
    assert set(LAST_CHANGE) <= set(own)
    return made
