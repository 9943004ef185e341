"""Silver as one gold table sees it, read in this process: for feeds whose silver, or what a run needs of it, is small.

Not here: what becomes of the changes (``transforms/gold``), and larger silver, which is Spark's (``table_changes``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from assets.arrow import read_changes
from assets.bookkeeping.compacted import base_files
from assets.bookkeeping.compacted.base_files import Base
from assets.columns import spelling
from assets.columns.silver import SILVER_ARROW
from assets.delta.table_files import Files
from assets.gold.changes import waiting_changes
from assets.gold.changes.waiting_changes import Conform
from assets.lake import Lake
from assets.layers import Layer
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key, Position
from transforms.gold.fold import State
from transforms.gold.key_changes import Links
from transforms.gold.scopes import Scoped
from transforms.gold.transactions import at_commit

MOST_BYTES = 64 << 20
"""So much of silver is read in this process at most; more is Spark's work."""

MOST_ROWS = 200_000
"""So many changes of a table are held in this process at most, some 300 MB: Parquet makes little of equal ones."""

_SIFTED = ("table", "declared")


class TooLarge(Exception):
    """What has to be read does not fit into this process."""


class Place(NamedTuple):
    """What a person is told of a change: what the source did, and where it stands."""

    operation: str
    window: str
    object: str
    line: int


class Visible(NamedTuple):
    """One change of the table that counts, at its place; ``is_new``: the run brings it, or has released it."""

    key: Key | None
    stream: str | None
    change: Change
    scoped: Scoped | None
    place: Place
    is_new: bool


# Without slots: what is read is kept.
@dataclass(frozen=True)
class SilverFiles:
    """One gold table's changes in silver, and what its keys were at the horizon (``based``).

    ``released``: the complete transactions that no window holds whole (``transactions.complete``). ``waits``: what
    conforms changes that wait for a description of their table; None where none do.
    """

    files: Files
    parts: Sequence[tuple[str, int, str]]
    table: Table
    name: str
    windows: frozenset[str]
    released: Mapping[str, tuple[Position, bool]]
    based: Base
    waits: Conform | None = None

    @classmethod
    def of(
        cls,
        lake: Lake,
        feed: Feed,
        table: Table,
        name: str,
        windows: Sequence[str],
        released: Mapping[str, tuple[Position, bool]],
    ) -> SilverFiles:
        """What silver and the table's base have now.

        Raises:
            TooLarge: the base is.
        """
        if base_files.size(lake, feed, name) > MOST_BYTES:
            raise TooLarge
        waits = waiting_changes.there_are(lake, feed, table, name)
        path = lake.path(Layer.SILVER, feed.name)
        silver = lake.opened(Layer.SILVER, feed.name)
        assert silver is not None  # silver comes first
        listed = pa.table(silver.get_add_actions(flatten=True))
        columns = ("path", "size_bytes", "partition.window")
        parts = [*zip(*(listed[one].to_pylist() for one in columns), strict=True)]
        files = Files.of(silver, path, lake.warehouse)
        return cls(
            *(files, parts, table, name, frozenset(windows), released),
            base_files.read(lake, feed, table, name),
            waiting_changes.Conform(feed, table) if waits else None,
        )

    @cached_property
    def of_windows(self) -> list[Visible]:
        """The changes in the run's own windows."""
        return [*self._read([one for one in self.parts if one[2] in self.windows])]

    @cached_property
    def everything(self) -> list[Visible]:
        """The changes of all windows.

        Raises:
            TooLarge: silver is.
        """
        others = [one for one in self.parts if one[2] not in self.windows]
        return [*self.of_windows, *self._read(others)]

    def everywhere(
        self, wanted: Sequence[str], before: Collection[str]
    ) -> Iterator[tuple[pa.Table, bool]]:
        """The rows of all the feed's tables, a file at a time, and whether it is of no window that was there before.

        Raises:
            TooLarge: silver is.
        """
        for name, size, window in self._small_enough(self.parts):
            yield self.files.read(name, size, wanted), window not in before

    def covers(self, change: Change) -> bool:
        """Whether a change is at or below the table's horizon."""
        horizon = self.based.horizon
        return horizon is not None and horizon.covers(change.position, change.stable_prefix)

    def history(self, keys: Collection[Key] | None) -> Mapping[Key, Sequence[Change]]:
        """See ``transforms.gold.table.Silver``."""
        found: dict[Key, list[Change]] = defaultdict(list)
        for one in self.everything:
            if one.scoped is None and one.key is not None and (keys is None or one.key in keys):
                found[one.key].append(one.change)
        return found

    def base(self, keys: Collection[Key] | None) -> Mapping[Key, State]:
        """See ``transforms.gold.table.Silver``."""
        rows = self.based.rows
        return {key: state for key, (state, _) in rows.items() if keys is None or key in keys}

    def streams(self, keys: Collection[Key] | None) -> Mapping[Key, Collection[str | None]]:
        """See ``transforms.gold.table.Silver``."""
        found: dict[Key, set[str | None]] = defaultdict(set)
        for one in self.everything:
            if one.key is not None and (keys is None or one.key in keys):
                found[one.key].add(one.stream)
        for key, (_, streams) in self.based.rows.items():
            if keys is None or key in keys:
                found[key].update(streams)
        return found

    def links(self) -> Links:
        """See ``transforms.gold.table.Silver``."""
        return {
            (one.change.moved_from or (), one.key)
            for one in self.everything
            if one.change.effect == "move" and one.key is not None
        }

    def _small_enough(
        self, parts: Sequence[tuple[str, int, str]]
    ) -> Sequence[tuple[str, int, str]]:
        if sum(size for _, size, _ in parts) > MOST_BYTES:
            raise TooLarge
        return parts

    def batches(self, wanted: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, str]]:
        """These columns of all the table's rows that count, with each batch's window.

        Changes whose transaction is not complete are among them, and those that the table's base has.

        Raises:
            TooLarge: silver is.
        """
        yield from self._batches(self.parts, wanted)

    def _read(self, parts: Sequence[tuple[str, int, str]]) -> Iterator[Visible]:
        wanted = [*read_changes.COLUMNS, "operation", "object", "line"]
        for batch, window in self._batches(parts, wanted):
            yield from self._visible(batch, window)

    def _batches(
        self, parts: Sequence[tuple[str, int, str]], wanted: Sequence[str]
    ) -> Iterator[tuple[pa.RecordBatch, str]]:
        """The table's rows that count, now or once their transaction is complete, and the window of each batch."""
        wanted = [*_SIFTED, *wanted]
        held = 0
        for name, size, window in self._small_enough(parts):
            rows = self.files.read(name, size, wanted)
            mine = pc.and_(
                pc.equal(rows["table"], self.name), pc.equal(rows["declared"], self.table.name)
            )
            waits = pc.is_in(rows["effect"], pa.array([HOLD, *CONTROL]))
            kept = rows.filter(pc.and_(pc.fill_null(mine, False), pc.invert(waits)))
            held += kept.num_rows
            if held > MOST_ROWS:
                raise TooLarge
            yield from ((batch, window) for batch in kept.combine_chunks().to_batches())
            if self.waits is not None:
                whole = self.files.read(name, size, SILVER_ARROW.names)
                for batch in self.waits(waiting_changes.here(whole, self.table, self.name, window)):
                    yield batch, window

    def _visible(self, batch: pa.RecordBatch, window: str) -> Iterator[Visible]:
        here = window in self.windows
        cells = zip(
            *(batch.column(name).to_pylist() for name in ("operation", "object", "line")),
            strict=True,
        )
        spelled = spelling.both(self.table)
        for row, (operation, name, line) in zip(
            read_changes.silver_rows(batch, spelled), cells, strict=True
        ):
            change, told, is_new = row.change, row.transaction, here
            if told is not None:
                commit = told["commit"]
                if commit is None:
                    if told["id"] not in self.released:
                        continue
                    commit, is_released_now = self.released[told["id"]]
                    is_new = is_new or is_released_now
                if told["at_commit"]:
                    change = at_commit(change, tuple(commit))
            if self.covers(change):
                # The base has it.
                continue
            scoped = row.scoped
            if scoped is not None:
                change = replace(change, is_past=not is_new)
                scoped = replace(scoped, change=change)
            place = Place(operation, window, name, line)
            yield Visible(row.key, row.stream, change, scoped, place, is_new)
