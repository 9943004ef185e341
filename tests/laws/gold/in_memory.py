"""A lake in memory: the product's stages from drawn events to gold, by the executor in this process, without files.

Between two runs it keeps what the tables would keep. Not here: what gold should be (``oracle``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from assets.executors.in_process import InProcess
from assets.gold.fold import Folded, TableFold
from assets.onboarding.preview import InMemory
from tests.laws.gold.silver_in_memory import Silver
from tests.laws.gold.tables_in_memory import GoldTables, Killed, Unread, made_of
from tests.laws.oracle.oracle import Event
from transforms.feed.feed import Feed, Table
from transforms.gold.folded_rows import FoldMetrics


@dataclass
class Lake:
    """All windows' records, what was derived of them so far, and the gold tables.

    ``finished``: windows that all tables have. ``done``: what the last run counted of each table.
    """

    feed: Feed
    records: Mapping[str, Sequence[Event]]
    gold: dict[str, GoldTables] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    done: dict[str, FoldMetrics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.silver = Silver(self.feed)
        self.gold = {name: GoldTables(table) for name, table in self.feed.tables.items()}

    def run(self, windows: Sequence[str], ends: str = "", *, is_read: bool = False) -> None:
        """Bring these windows to gold; ``ends``: the run ends behind ``silver``, or behind the ``tombstones``.

        ``is_read``: with the values of gold's rows also where no change depends on them.
        """
        for window in windows:
            self.silver.derive(window, self.records[window])
        if ends == "silver":
            return
        for name, table in self.feed.tables.items():
            tables = self.gold[name]
            tables.gold.dies = ends == "tombstones"
            try:
                self._apply(name, table, windows, is_read=is_read)
            except Killed:
                continue
            finally:
                tables.gold.dies = False
        if not ends:
            self.finished.update(windows)

    def rebuilt(self, name: str) -> GoldTables:
        """What the keys of a table are by all of silver, from the first event."""
        table = self.feed.tables[name]
        return made_of(table, self._from_history(name, table))

    def versions(self, name: str) -> pa.Table:
        """Every version of every row of a table, by all of silver."""
        table = replace(self.feed.tables[name], history=True)
        return self._from_history(name, table).versions

    def _from_history(self, name: str, table: Table) -> Folded[pa.Table]:
        return self.fold(name, table, [*self.silver.windows], InProcess()).from_history()

    def _apply(self, name: str, table: Table, windows: Sequence[str], *, is_read: bool) -> None:
        tables = self.gold[name]
        executor = InProcess() if is_read else Unread()
        fold = self.fold(name, table, windows, executor)
        stored = tables.stored()
        folded = replace(fold, stored=stored).onto_gold()
        self.done[name] = folded.metrics
        stored.put(tables.whole(folded))

    def fold(
        self, name: str, table: Table, windows: Sequence[str], executor: InProcess
    ) -> TableFold[pa.Table]:
        in_gold = self.finished.difference(windows)
        released = self.silver.released([*self.records], in_gold)
        silver = InMemory(self.silver.stored)
        plan = silver.plan_of(self.feed, table, name, windows, released)
        return TableFold.of(executor, plan, silver.of_table(plan))
