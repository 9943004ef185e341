"""A lake in memory: the product's stages from drawn events to gold, by the executor in this process, without files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.columns import layers, silver
from assets.executors.in_process import InProcess
from assets.gold.fold import Folded, TableFold
from assets.gold.stored_in_process import StoredInProcess
from assets.onboarding.preview import InMemory
from assets.silver import classify
from assets.storage.in_process_table import DataFile, InProcessTable, RowGroups
from assets.storage.row_commits import Numbers
from tests.laws.drawn import model_histories
from tests.laws.oracle.oracle import Event
from tests.transforms.formats.in_process import ARROW
from transforms.feed.feed import Feed, Table
from transforms.gold import folded_rows
from transforms.gold.columns import EFFECT, LAST_CHANGE
from transforms.gold.folded_rows import FoldMetrics
from transforms.silver.frames import CHANGES
from transforms.silver.transactions import TransactionEvent, state_of

Item = TypeVar("Item")
Made = TypeVar("Made")


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

    def run(self, windows: Sequence[str], ends: str = "") -> None:
        """Bring these windows to gold; ``ends``: the run ends behind ``silver``, or behind the ``tombstones``."""
        for window in windows:
            self.silver.derive(window, self.records[window])
        if ends == "silver":
            return
        for name, table in self.feed.tables.items():
            tables = self.gold[name]
            tables.gold.dies = ends == "tombstones"
            try:
                self._apply(name, table, windows)
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
        return self.fold(name, table, [*self.silver.windows]).from_history()

    def _apply(self, name: str, table: Table, windows: Sequence[str]) -> None:
        fold, stored = self.fold(name, table, windows), self.gold[name].stored()
        folded = replace(fold, stored=stored).onto_gold()
        self.done[name] = folded.metrics
        stored.put(folded)

    def fold(self, name: str, table: Table, windows: Sequence[str]) -> TableFold[pa.Table]:
        in_gold = self.finished.difference(windows)
        released = self.silver.released([*self.records], in_gold)
        silver = InMemory(self.silver.stored)
        plan = silver.plan_of(self.feed, table, name, windows, released)
        # Even of few rows some parts are worked on side by side.
        run = InProcess(part_rows=4)
        return TableFold.of(run, plan, silver.of_table(plan))


LANDED_AT = datetime(2024, 11, 20, tzinfo=UTC)


@dataclass
class Silver:
    """The windows that were derived: as the stages gave them, and as silver stores them (``stored``)."""

    feed: Feed
    windows: dict[str, pa.Table] = field(default_factory=dict)
    stored: dict[str, pa.Table] = field(default_factory=dict)
    _parts: dict[str, list[tuple[dict[str, Any], TransactionEvent]]] = field(default_factory=dict)

    def derive(self, window: str, events: Iterable[Event]) -> None:
        """Have the window; a function of its own events: a second time would make the same."""
        if window not in self.windows:
            self.windows[window] = derived(self.feed, window, events)
            rows = silver.written_in_process(self.windows[window], self.feed, layers.Silver.schema)
            self.stored[window] = rows.combine_chunks()

    def released(
        self, every: Sequence[str], in_gold: Collection[str]
    ) -> dict[str, tuple[tuple[int, ...], bool]]:
        """The complete transactions, of which some window holds a part: the commit, and whether it is complete now.

        ``every``: all windows there are; ``in_gold``: those that gold had before this run.
        """
        events: dict[str, list[TransactionEvent]] = defaultdict(list)
        whole_in: dict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
        for window in self.windows:
            for transaction, event in self._in_transactions(window):
                if transaction["commit"] is None:
                    events[transaction["id"]].append(event)
                else:
                    whole_in[transaction["id"]][window] = tuple(transaction["commit"])
        unread_now = [one for one in every if one not in self.windows]
        before = [one for one in every if one not in in_gold]
        found = {}
        for name, some in events.items():
            with_warehouse = whole_in[name]
            commit = state_of(name, some, unread_now).commit or next(
                iter(with_warehouse.values()), None
            )
            if commit is not None:
                earlier = [one for one in some if one.window in in_gold]
                was = state_of(name, earlier, before).commit if earlier else None
                was_whole = any(window in in_gold for window in with_warehouse)
                found[name] = (tuple(commit), was is None and not was_whole)
        return found

    def _in_transactions(self, window: str) -> list[tuple[dict[str, Any], TransactionEvent]]:
        """The window's events that are parts of a transaction, and what silver says of this."""
        if window not in self._parts:
            rows = self.windows[window]
            rows = rows.filter(pc.is_valid(rows["transaction"]))
            names = ("event_id", "effect", "derived", "log_position", "event_at")
            cells = zip(*(rows[one].to_pylist() for one in names), strict=True)
            found = []
            for transaction, (event_id, effect, derived_of, log_position, at) in zip(
                rows["transaction"].to_pylist(), cells, strict=True
            ):
                of_event = {
                    **{"window": window, "event_id": event_id, "effect": effect},
                    **{"is_derived": derived_of is not None, "expected": transaction["expected"]},
                    **{"has_begin": transaction["has_begin"], "log_position": tuple(log_position)},
                    "event_at": at,
                }
                found.append((transaction, TransactionEvent(**of_event)))
            self._parts[window] = found
        return self._parts[window]


def derived(feed: Feed, window: str, events: Iterable[Event]) -> pa.Table:
    """A window's silver."""
    rows = [
        {
            **{"window": window, "object": "part_1", "generation": "g", "line": number},
            **{"byte_offset": number, "landed_at": LANDED_AT},
            "payload": json.dumps(model_histories.to_record(event)).encode(),
        }
        for number, event in enumerate(events, start=1)
    ]
    bronze = pa.RecordBatch.from_pylist(rows, schema=ARROW)
    return classify.alone(feed, bronze).of_kind(CHANGES)


class Killed(Exception):
    """A run ends in the middle of its commits."""


@dataclass
class MemoryTable:
    """One table: what ``InProcessTable`` is to the product. ``dies``: the next write ends the run."""

    rows: pa.Table | None = None
    dies: bool = False
    name: str = "in memory"
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

    def count(self) -> int:
        """How many rows there are."""
        return 0 if self.rows is None else int(self.rows.num_rows)

    def files(self) -> list[DataFile]:
        """All rows are one file."""
        return [DataFile("rows", 0, self.count(), {})]

    def files_with(self, column: str, values: pa.Array) -> list[DataFile]:
        """That one."""
        return self.files()

    def at_once(self, work: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
        return [work(one) for one in items]

    def numbered(
        self, file: DataFile, columns: pa.Schema, among: RowGroups | None = None
    ) -> tuple[Numbers, pa.Table]:
        """All rows, with these columns: they are one row group."""
        return np.arange(self.count()), self.read(columns).select(columns.names)

    def rows_at(self, path: str, numbers: Numbers, columns: pa.Schema) -> pa.Table:
        """The rows with these numbers."""
        return self.read(columns).select(columns.names).take(pa.array(numbers))

    def put_rows(
        self, gone: Mapping[str, Numbers], rows: pa.Table, checked: Collection[str] = ()
    ) -> None:
        """Take rows away, and add others."""
        if not rows.num_rows and not any(map(len, gone.values())):
            return
        before = self.read(rows.schema).select(rows.schema.names)
        stay = ~np.isin(np.arange(before.num_rows), gone.get("rows", []))
        self.rewrite(pa.concat_tables([before.filter(pa.array(stay)), rows]))


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


def made_of(table: Table, folded: Folded[pa.Table]) -> GoldTables:
    """Tables that a fold of all changes makes, though gold has others."""
    made = GoldTables(table)
    is_absent = pc.equal(folded.rows[EFFECT], "remove")
    made.gold.rows = folded.rows.filter(pc.invert(is_absent))
    own = (*folded_rows.tombstones_schema(table).names,)
    made.tombstones.rows = folded.rows.filter(is_absent).select(own)
    assert set(LAST_CHANGE) <= set(own)
    return made
