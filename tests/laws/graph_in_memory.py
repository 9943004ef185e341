"""A graph's lake in memory: the product's plain functions from windows of silver to gold, run by run.

Every run gets the new windows and the gold before it, as a real run does. Not here: the graph that gold should be
(``tests/support/tigergraph_store``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from assets.arrow.gold import read_changes
from assets.columns.silver import OUTPUT, SILVER_ARROW
from assets.gold.changes import cross_stream_deletes
from assets.onboarding.folding import WholeTable
from assets.silver import written_rows
from tests.transforms.formats.folded import gold_rows
from transforms.change import CONTROL
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.current import Current
from transforms.gold.fold import Fold
from transforms.gold.scopes import Scoped
from transforms.gold.state import State
from transforms.gold.table import apply_changes, folded_from_history
from transforms.gold.table_changes import NewChanges


@dataclass
class Lake:
    """The rows of each window's silver, which are there so far, and the state of every key of each table.

    ``finished``: windows that all tables have.
    """

    feed: Feed
    windows: Mapping[str, Sequence[Mapping[str, object]]]
    silver: dict[str, pa.Table] = field(default_factory=dict)
    gold: dict[str, dict[Key, State]] = field(default_factory=lambda: defaultdict(dict))

    finished: set[str] = field(default_factory=set)

    def derive(self, windows: Sequence[str]) -> None:
        """Bring these windows to silver, and no further."""
        for window in windows:
            rows = pa.Table.from_pylist(list(self.windows[window]), schema=OUTPUT)
            self.silver[window] = written_rows.as_arrow(rows, self.feed, SILVER_ARROW)

    def run(self, windows: Sequence[str]) -> None:
        """Bring these windows to all gold tables."""
        self.derive(windows)
        for name, table in self.feed.tables.items():
            self._apply(name, table, windows)
        self.finished.update(windows)

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """What gold has, of tables that have something."""
        found = {
            name: sorted(gold_rows(self.feed.tables[name], states), key=str)
            for name, states in self.gold.items()
        }
        return {name: rows for name, rows in found.items() if rows}

    def _apply(self, name: str, table: Table, windows: Sequence[str]) -> None:
        own: dict[Key, list[Change]] = defaultdict(list)
        keyed: dict[Key, list[read_changes.SilverRow]] = defaultdict(list)
        scoped: list[Scoped] = []
        for row, is_new in self._of_table(name, windows):
            if row.scoped is not None:
                past = replace(row.change, is_past=not is_new)
                scoped.append(replace(row.scoped, change=past))
            elif row.key is not None:
                keyed[row.key].append(row)
                if is_new:
                    own[row.key].append(row.change)
        before = self.finished.difference(windows)
        rows = (
            (rows.select(cross_stream_deletes.COLUMNS), one not in before)
            for one, rows in self.silver.items()
        )
        cross_stream = cross_stream_deletes.read_locally(self.feed, table, scoped, rows)
        new = NewChanges(own, scoped)
        if cross_stream is not None:
            new = replace(
                new,
                crossing=cross_stream.crossing,
                cross_stream_positions=cross_stream.cross_stream_positions,
                placed=cross_stream.placed,
            )
        fold, silver, gold = Fold.of(table), WholeTable(keyed), self.gold[name]
        if cross_stream is not None and cross_stream.crossing.has_moved:
            gold.clear()
            gold.update(folded_from_history(fold, new, silver))
        else:
            current = {key: Current(state) for key, state in gold.items()}
            gold.update(apply_changes(fold, new, current, silver).states)

    def _of_table(
        self, name: str, windows: Sequence[str]
    ) -> Iterable[tuple[read_changes.SilverRow, bool]]:
        for window, rows in self.silver.items():
            for batch in rows.combine_chunks().to_batches():
                tables = batch.column("table").to_pylist()
                for row, of_table in zip(read_changes.silver_rows(batch), tables, strict=True):
                    if of_table == name and row.change.effect not in CONTROL:
                        yield row, window in windows
