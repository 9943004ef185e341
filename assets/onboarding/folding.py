"""What the changes of a few records fold to, in this process and without any table: the rows that gold would have.

The stages and the fold are those of every run (``silver/local_stages``, ``transforms/gold``); here they get all changes
at once, from memory. Put here how the rows of silver are brought to the fold. Not here: where the records come from
(``sampling``), and what a person is shown (``previewing``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from assets.arrow.gold import read_changes
from assets.arrow.gold.read_changes import SilverRow
from assets.bookkeeping.transactions import open_events, transaction_states
from assets.columns import spelling
from assets.columns.silver import SILVER_ARROW
from assets.gold.changes import cross_stream_deletes
from assets.silver import written_rows
from transforms.change import CONTROL, HOLD
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.gold.change import Change, Key, Position
from transforms.gold.fold import Fold
from transforms.gold.key_changes import Links
from transforms.gold.scopes import Scoped
from transforms.gold.state import State
from transforms.gold.table import folded_from_history
from transforms.gold.table_changes import NewChanges
from transforms.gold.transactions import at_commit

_WHOSE = ("table", "effect")


def tables_of(feed: Feed, rows: pa.Table) -> dict[str, tuple[Table, Mapping[Key, State]]]:
    """What the keys of each gold table are after all changes of these rows, and how the table is declared."""
    if not rows.num_rows:
        return {}
    silver = written_rows.as_arrow(rows, feed, SILVER_ARROW)
    complete = completed(rows) if FORMATS[feed.format].transactional else {}
    every: dict[tuple[str, str], list[SilverRow]] = defaultdict(list)
    for name in feed.tables.keys() & {*silver["declared"].to_pylist()}:
        own = silver.filter(pc.equal(silver["declared"], name)).combine_chunks()
        for batch in own.to_batches():
            cells = zip(*(batch.column(one).to_pylist() for one in _WHOSE), strict=True)
            changes = read_changes.silver_rows(batch, spelling.both(feed.tables[name]))
            for row, (table, effect) in zip(changes, cells, strict=True):
                placed = at_its_place(row, complete)
                if effect not in (HOLD, *CONTROL) and placed is not None:
                    every[name, table].append(placed)
    found = {}
    for (name, gold), some in every.items():
        declared = feed.tables[name]
        found[gold] = declared, folded_whole(feed, declared, some, silver)
    return found


def completed(rows: pa.Table) -> dict[str, Position]:
    """The commits of the transactions that are complete where all of them was read."""
    waiting = open_events.events_here(rows).sort_by("id")
    states = transaction_states.states_of(waiting.to_batches(), [])
    return {one.id: tuple(one.commit) for one in states if one.commit is not None}


def at_its_place(row: SilverRow, complete: Mapping[str, Position]) -> SilverRow | None:
    """The row where it takes effect; None for one whose transaction is not complete."""
    transaction = row.transaction
    if transaction is None:
        return row
    commit = transaction["commit"] or complete.get(transaction["id"])
    if commit is None:
        return None
    if not transaction["at_commit"]:
        return row
    change = at_commit(row.change, tuple(commit))
    scoped = None if row.scoped is None else replace(row.scoped, change=change)
    return row._replace(change=change, scoped=scoped)


@dataclass(frozen=True)
class WholeTable:
    """All changes of one table (``transforms.gold.table.Silver``)."""

    changes: Mapping[Key, Sequence[SilverRow]]

    def history(self, keys: Collection[Key] | None) -> Mapping[Key, Sequence[Change]]:
        """Those of these keys alone, as the product's silver has it."""
        return {
            key: [one.change for one in some]
            for key, some in self.changes.items()
            if keys is None or key in keys
        }

    def base(self, keys: Collection[Key] | None) -> Mapping[Key, State]:
        """Nothing is compacted."""
        return {}

    def streams(self, keys: Collection[Key] | None) -> Mapping[Key, Collection[str | None]]:
        """Of which streams keys have changes."""
        return {
            key: {one.stream for one in some if not one.change.is_scoped}
            for key, some in self.changes.items()
        }

    def links(self) -> Links:
        """The keys that key changes link."""
        return [
            (one.change.moved_from or (), key)
            for key, some in self.changes.items()
            for one in some
            if one.change.effect == "move"
        ]


def folded_whole(
    feed: Feed, table: Table, rows: Sequence[SilverRow], silver: pa.Table
) -> Mapping[Key, State]:
    """What the keys of a table are after all of these rows of ``silver``, which has those of all tables."""
    keyed: dict[Key, list[SilverRow]] = defaultdict(list)
    scoped: list[Scoped] = []
    for one in rows:
        if one.key is not None:
            keyed[one.key].append(one)
        elif one.scoped is not None:
            scoped.append(one.scoped)
    moves = any(one.change.effect == "move" for one in rows)
    new = NewChanges({}, scoped, moves=moves)
    if FORMATS[feed.format].crosses_streams and any(one.stream is not None for one in scoped):
        cross_stream = cross_stream_deletes.read_locally(
            feed, table, scoped, [(silver.select(cross_stream_deletes.COLUMNS), True)]
        )
        if cross_stream is not None:
            new = replace(
                new,
                crossing=cross_stream.crossing,
                cross_stream_positions=cross_stream.cross_stream_positions,
            )
    return folded_from_history(Fold.of(table), new, WholeTable(keyed))
