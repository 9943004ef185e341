"""Silver as one gold table sees it, read in this process: for feeds whose silver, or what a run needs of it, is small.

Put here what of silver counts for the table, and what it says of its keys (``transforms.gold.table_changes.Silver``).
Not here: how its files are read (``silver_parts``), what becomes of the changes (``transforms/gold``), and larger
silver, which is Spark's (``table_changes``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from assets.arrow.gold import read_changes
from assets.arrow.gold.read_changes import SilverRow
from assets.bookkeeping.compacted import base_files
from assets.bookkeeping.compacted.base_files import Base
from assets.columns import spelling
from assets.gold.changes import silver_parts, waiting_changes
from assets.gold.changes.silver_parts import Part, SilverParts, TooLarge, parts_of
from assets.gold.changes.visible_changes import Place, Visible
from assets.gold.gold_table import GoldTable
from transforms.gold.change import Change, Key, Position
from transforms.gold.key_changes import Links
from transforms.gold.state import State
from transforms.gold.transactions import at_commit


# Without slots: what is read is kept.
@dataclass(frozen=True)
class SilverFiles(SilverParts):
    """One gold table's changes in silver, and what its keys were at the horizon.

    Args:
        windows: The run's own windows.
        released: The complete transactions that no window holds whole: the position of each one's commit, and whether
            the run has released it (``complete_transactions.complete``).
        based: What the keys were at the horizon.
    """

    windows: frozenset[str]
    released: Mapping[str, tuple[Position, bool]]
    based: Base

    @classmethod
    def of(
        cls,
        gold: GoldTable,
        windows: Sequence[str],
        released: Mapping[str, tuple[Position, bool]],
    ) -> SilverFiles:
        """What silver and the table's base have now.

        Raises:
            TooLarge: The base does not fit into this process.
        """
        lake, feed, table, name = gold.lake, gold.feed, gold.table, gold.name
        if base_files.size(lake, feed, name) > silver_parts.MOST_BYTES:
            raise TooLarge
        waits = waiting_changes.there_are(lake, feed, table, name)
        files, parts = parts_of(gold)
        return cls(
            *(files, parts, table, name),
            waiting_changes.Conform(feed, table) if waits else None,
            *(frozenset(windows), released, base_files.read(lake, feed, table, name)),
        )

    @cached_property
    def of_windows(self) -> list[Visible]:
        """The changes in the run's own windows."""
        return [*self._read([part for part in self.parts if part.window in self.windows])]

    @cached_property
    def everything(self) -> list[Visible]:
        """The changes of all windows.

        Raises:
            TooLarge: Silver does not fit into this process.
        """
        others = [part for part in self.parts if part.window not in self.windows]
        return [*self.of_windows, *self._read(others)]

    def covers(self, change: Change) -> bool:
        """Whether a change is at or below the table's horizon."""
        horizon = self.based.horizon
        return horizon is not None and horizon.covers(change.position, change.stable_prefix)

    def history(self, keys: Collection[Key] | None) -> Mapping[Key, Sequence[Change]]:
        """See ``transforms.gold.table_changes.Silver``."""
        found: dict[Key, list[Change]] = defaultdict(list)
        for one in self.everything:
            if one.scoped is None and one.key is not None and (keys is None or one.key in keys):
                found[one.key].append(one.change)
        return found

    def base(self, keys: Collection[Key] | None) -> Mapping[Key, State]:
        """See ``transforms.gold.table_changes.Silver``."""
        rows = self.based.rows
        return {key: state for key, (state, _) in rows.items() if keys is None or key in keys}

    def streams(self, keys: Collection[Key] | None) -> Mapping[Key, Collection[str | None]]:
        """See ``transforms.gold.table_changes.Silver``."""
        found: dict[Key, set[str | None]] = defaultdict(set)
        for one in self.everything:
            if one.key is not None and (keys is None or one.key in keys):
                found[one.key].add(one.stream)
        for key, (_, streams) in self.based.rows.items():
            if keys is None or key in keys:
                found[key].update(streams)
        return found

    def links(self) -> Links:
        """See ``transforms.gold.table_changes.Silver``."""
        return {
            (one.change.moved_from or (), one.key)
            for one in self.everything
            if one.change.effect == "move" and one.key is not None
        }

    def _read(self, parts: Sequence[Part]) -> Iterator[Visible]:
        wanted = [*read_changes.COLUMNS, "operation", "object", "line"]
        for batch, window in self.batches_of(parts, wanted):
            yield from self._visible(batch, window)

    def _visible(self, batch: pa.RecordBatch, window: str) -> Iterator[Visible]:
        """The changes of a batch that count, but for those at or below the horizon, which the base has."""
        columns = (batch.column(name).to_pylist() for name in ("operation", "object", "line"))
        cells = zip(*columns, strict=True)
        spelled = spelling.both(self.table)
        rows = read_changes.silver_rows(batch, spelled)
        for row, (operation, name, line) in zip(rows, cells, strict=True):
            change, is_new = row.change, window in self.windows
            if row.transaction is not None:
                committed = self._committed(row, row.transaction)
                if committed is None:
                    continue
                change, is_released_now = committed
                is_new = is_new or is_released_now
            if self.covers(change):
                continue
            scoped = row.scoped
            if scoped is not None:
                change = replace(change, is_past=not is_new)
                scoped = replace(scoped, change=change)
            place = Place(operation, window, name, line)
            yield Visible(row.key, row.stream, change, scoped, place, is_new)

    def _committed(
        self, row: SilverRow, transaction: Mapping[str, Any]
    ) -> tuple[Change, bool] | None:
        """A transaction's change at its position, and whether the run releases it; None while that is incomplete."""
        commit, is_released_now = transaction["commit"], False
        if commit is None:
            if transaction["id"] not in self.released:
                return None
            commit, is_released_now = self.released[transaction["id"]]
        if transaction["at_commit"]:
            return at_commit(row.change, tuple(commit)), is_released_now
        return row.change, is_released_now
