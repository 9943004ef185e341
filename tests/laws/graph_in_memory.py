"""A graph's lake in memory: the product's stages from windows of silver to gold, run by run.

Every run gets the new windows and the gold before it, as a real run does. Not here: the graph that gold should be
(``tests/support/tigergraph_store``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from assets.columns import silver as silver_rows
from assets.columns.silver import SILVER_ARROW
from assets.executors.in_process import InProcess
from assets.gold.fold import TableFold
from assets.onboarding.preview import InMemory
from tests.laws.gold.tables_in_memory import GoldTables
from tests.transforms.formats.folded import gold_rows
from transforms.feed.feed import Feed, Table
from transforms.silver.frames import OUTPUT


@dataclass
class Lake:
    """The rows of each window's silver, which are there so far, and the tables.

    ``in_doubt``: by table, how many rows range deletes of other streams may be for, by event.
    """

    feed: Feed
    windows: Mapping[str, Sequence[Mapping[str, object]]]
    silver: dict[str, pa.Table] = field(default_factory=dict)
    gold: dict[str, GoldTables] = field(default_factory=dict)
    in_doubt: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def __post_init__(self) -> None:
        self.gold = {name: GoldTables(table) for name, table in self.feed.tables.items()}

    def derive(self, windows: Sequence[str]) -> None:
        """Bring these windows to silver, and no further."""
        for window in windows:
            rows = pa.Table.from_pylist(list(self.windows[window]), schema=OUTPUT)
            self.silver[window] = silver_rows.written_in_process(rows, self.feed, SILVER_ARROW)

    def run(self, windows: Sequence[str]) -> None:
        """Bring these windows to all gold tables."""
        self.derive(windows)
        for name, table in self.feed.tables.items():
            self._apply(name, table, windows)

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """What gold has, of tables that have something."""
        found = {
            name: sorted(gold_rows(tables.table, tables.stored().rows), key=str)
            for name, tables in self.gold.items()
        }
        return {name: rows for name, rows in found.items() if rows}

    def _apply(self, name: str, table: Table, windows: Sequence[str]) -> None:
        silver, stored = InMemory(self.silver), self.gold[name].stored()
        plan = silver.plan_of(self.feed, table, name, windows, {})
        fold = TableFold.of(InProcess(), plan, silver.of_table(plan))
        folded = replace(fold, stored=stored).onto_gold()
        stored.put(folded)
        self.in_doubt[name] += folded.metrics.in_doubt
