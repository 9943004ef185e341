"""What the changes of a few records fold to, in this process and without any table: the rows that gold would have.

The stages are those of every run; here they get all changes at once, from memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.transactions import open_events, transaction_states
from assets.columns import silver_rows, spelling
from assets.columns.silver import SILVER_ARROW
from assets.delta.in_process_table import DataFile
from assets.executors.choice import IN_PROCESS, Choice
from assets.executors.in_process import InProcess
from assets.gold.folding import TableFold
from assets.gold.plan import SEVERAL, TablePlan
from assets.gold.silver_in_process import SilverInProcess
from transforms.arrow import map_columns
from transforms.change import CONTROL, HOLD
from transforms.change_kinds import ChangeKinds, ScopeShape
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.change import LogPosition

_ALL = "all"
"""The one window that all records are taken for."""


@dataclass(frozen=True, slots=True)
class FoldedTable:
    """One gold table after all changes: how it is declared, and one row per key (``folded_rows.schema_of``)."""

    table: Table
    rows: pa.Table


def tables_of(feed: Feed, rows: pa.Table) -> dict[str, FoldedTable]:
    """What the keys of each gold table are after all changes of these rows."""
    if not rows.num_rows:
        return {}
    silver = InMemory({_ALL: silver_rows.as_arrow(rows, feed, SILVER_ARROW)})
    complete = completed(rows) if FORMATS[feed.format].transactional else {}
    released = {name: (commit, True) for name, commit in complete.items()}
    found = {}
    for name, table in silver.tables(feed):
        plan = silver.plan_of(feed, table, name, {_ALL}, released)
        folded = TableFold.of(InProcess(), plan, silver.of_table(plan)).from_history()
        found[name] = FoldedTable(table, folded.rows)
    return found


def completed(rows: pa.Table) -> dict[str, LogPosition]:
    """The commits of the transactions that are complete where all of them was read."""
    waiting = open_events.events_here(rows).sort_by("id")
    states = transaction_states.states_of(waiting.to_batches(), [])
    return {one.id: tuple(one.commit) for one in states if one.commit is not None}


@dataclass(frozen=True, slots=True)
class InMemory:
    """Silver that is in memory, by window; each window stands for a file."""

    windows: Mapping[str, pa.Table]

    def read_file(self, file: DataFile, columns: Sequence[str]) -> pa.Table:
        """See ``SilverFiles``."""
        return self.windows[file.path].select([*columns])

    def tables(self, feed: Feed) -> list[tuple[str, Table]]:
        """The gold tables that have changes, each with the table of the feed that it mirrors."""
        found: dict[str, Table] = {}
        for rows in self.windows.values():
            waits = pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))
            counting = rows.filter(pc.invert(waits))
            for name, declared in zip(
                counting["table"].to_pylist(), counting["declared"].to_pylist(), strict=True
            ):
                if declared in feed.tables:
                    found[name] = feed.tables[declared]
        return [*found.items()]

    def of_table(self, plan: TablePlan) -> SilverInProcess:
        """The changes of one table."""
        parts = [
            DataFile(window, 0, rows.num_rows, {"window": window})
            for window, rows in self.windows.items()
        ]
        return SilverInProcess(
            plan, Choice(IN_PROCESS), self, parts, None, plan.compaction_watermark
        )

    def plan_of(
        self,
        feed: Feed,
        table: Table,
        name: str,
        windows: Collection[str],
        released: Mapping[str, tuple[LogPosition, bool]],
    ) -> TablePlan:
        """What the accounts would say of one table (``name``), by the rows themselves.

        Args:
            feed: The feed.
            table: The table of the feed.
            name: The gold table.
            windows: Those that the run brings.
            released: See ``TablePlan``.
        """
        kinds = ChangeKinds()
        streams: set[str] = set()
        most_new = 0
        for window, rows in self.windows.items():
            mine = rows.filter(pc.fill_null(pc.equal(rows["table"], name), False))
            if mine.num_rows:
                kinds = _with_kinds(kinds, mine, spelling.both(table))
            streams |= {one for one in rows["stream"].unique().to_pylist() if one is not None}
            most_new += mine.num_rows if window in windows else 0
        return TablePlan(
            feed=feed,
            table=table,
            name=name,
            windows=frozenset(windows),
            kinds=kinds,
            most_new=most_new,
            released=released,
            several_streams=len(streams) >= SEVERAL,
        )


def _with_kinds(known: ChangeKinds, rows: pa.Table, names: Mapping[str, str]) -> ChangeKinds:
    """The kinds of change that there are, with those of these rows."""
    effects = {*rows["effect"].unique().to_pylist()}
    operations = rows["attribute_ops"].combine_chunks()
    shapes = set(known.scopes)
    range_deletes = rows.filter(pc.is_valid(rows["scope"])).combine_chunks()
    for batch in range_deletes.to_batches():
        scopes = map_columns.maps(batch["scope"], names)
        for scope, stream in zip(scopes, batch["stream"].to_pylist(), strict=True):
            shapes.add(ScopeShape(tuple(sorted(scope or ())), stream is not None))
    return ChangeKinds(
        depends=known.depends or "remove_if" in effects or any(map_columns.maps(operations)),
        moves=known.moves or "move" in effects,
        transactions=known.transactions or rows["transaction"].null_count < rows.num_rows,
        scopes=tuple(sorted(shapes)),
    )
