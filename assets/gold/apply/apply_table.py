"""How new changes get into a gold table: what is read, what is folded anew, what is merged.

Not here: the order and the fold (``transforms/gold``), and the Dagster asset (``gold``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from assets.bookkeeping import decisions, discovered_tables
from assets.bookkeeping.compacted import bases
from assets.columns.gold import PARTS
from assets.delta.lake_table import LakeTable
from assets.gold import history, schema_changes
from assets.gold.applied import Applied, GoldTable
from assets.gold.apply import commits, local_apply, spark_apply
from assets.gold.apply.read_once import ReadOnce
from assets.gold.changes import scoped_delete_effects
from assets.gold.changes.scoped_delete_effects import of_counts
from assets.gold.changes.table_changes import TableChanges
from assets.gold.gold_tables import (
    CONSTRAINT,
    DECLARATION,
    delta_properties,
    due_tables,
    properties_of,
    require_whole_key,
    stale_windows,
)
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from transforms.feed.digest import table_digest
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import HISTORY, TOMBSTONES
from transforms.silver.conforming.discovered_tables import Stopped


def apply(
    lake: Lake, feed: Feed, table: Table, windows: Sequence[str], *, full_rebuild: bool = False
) -> Applied:
    """Bring every gold table that mirrors the declared one up to these windows; ``full_rebuild``: from all of silver.

    One that cannot be made stays as it was (``discovered_tables.stopped``).
    """
    with writing(lake, Layer.GOLD, feed.name, table.name):
        return apply_known(Known.of(lake, feed), table, windows, full_rebuild=full_rebuild)


@dataclass(frozen=True, slots=True)
class Known:
    """What all tables of a feed ask for: the feed with its decisions, and the gold tables that cannot be made.

    ``once``: the warehouse, of which what is written down of the feed is read once: for tables that are made in this
    process. Whoever asks holds the locks of the tables: what came to gold since it was read would be undone.
    """

    lake: Lake
    once: Lake
    feed: Feed
    stopped: Mapping[str, Stopped]

    @classmethod
    def of(cls, lake: Lake, feed: Feed) -> Self:
        """What is written down of the feed."""
        once = ReadOnce.of(lake)
        # Before the accounts: a kind of change is in these before it is in silver.
        once.opened(Layer.SILVER, feed.name)
        feed = decisions.with_recorded(once, feed)
        # Whether a feed has too many tables is for whoever asks for all of them.
        return cls(lake, once, feed, discovered_tables.everything(once, feed).stopped)


def apply_known(
    known: Known, table: Table, windows: Sequence[str], *, full_rebuild: bool
) -> Applied:
    """The same, for whoever holds the lock of the table (``apply_feed``)."""
    mine = {name: one for name, one in known.stopped.items() if table.name in one.declared}
    done = Applied(stopped=mine)
    for name in due_tables(known.once, known.feed, table, windows):
        if name not in known.stopped:
            done = done.plus(apply_one(known, table, name, windows, full_rebuild=full_rebuild))
    return done


def apply_one(
    known: Known, table: Table, name: str, windows: Sequence[str], *, full_rebuild: bool = False
) -> Applied:
    """Fold these windows' changes onto one gold table; tombstones first, so that a crash between loses none.

    Keys whose changes are all newer than what gold knows are folded onto it; the others are folded anew from silver.
    A table that was made under another declaration is made anew as a whole, once all its windows are derived anew;
    until then it stays as it is.
    """
    lake, feed = known.lake, known.feed
    table = schema_changes.with_added(lake, feed, table, name)
    done = local_apply.apply_one(known.once, feed, table, name, windows, full_rebuild=full_rebuild)
    if done is not None:
        return done
    changes = TableChanges.read(lake, feed, table, name, windows)
    gold = lake.table(Layer.GOLD, feed.name, name)
    tombstones = lake.table(Layer.GOLD, feed.name, name + TOMBSTONES)
    exists = gold.exists() and tombstones.exists()
    # A table that is missing is made from all of silver, too: whoever removed it wants it back whole.
    stands = gold.properties() if exists else {}
    full_rebuild = (
        full_rebuild or not exists or stands.get(DECLARATION) != table_digest(feed, table)
    )
    scoping = scoped_delete_effects.of_changes(feed, changes)
    # What reaches keys of other streams may have moved with whatever came.
    has_moved = (
        not full_rebuild
        and scoping.across_streams is not None
        and scoping.across_streams.crossing.has_moved
    )
    if table.history and not lake.table(Layer.GOLD, feed.name, name + HISTORY).exists():
        full_rebuild = True
    if full_rebuild:
        if exists:
            schema_changes.refuse_declaration(lake, feed, table, name, gold, tombstones)
        if stale := stale_windows(lake, feed, name):
            return Applied(waits_for=tuple(stale))
    else:
        _brought_along(gold, table, stands)
    rebuilt, full_rebuild = exists and full_rebuild, full_rebuild or has_moved
    kept, horizon = (
        lake.table(Layer.GOLD, feed.name, name + HISTORY),
        bases.drawn(lake, feed).get(name),
    )
    stood = history.above(kept.read(), horizon) if table.history and not full_rebuild else None
    found = spark_apply.folded(
        feed, changes, scoping, *(() if full_rebuild else (gold, tombstones, stood))
    )
    tally = found.tally
    if table.history and (full_rebuild or tally.keys):
        history.write(
            *(kept, table, found.versions, found.rows.select(PARTS)),
            full_rebuild=full_rebuild,
            horizon=horizon,
        )
    if full_rebuild:
        made = properties_of(table, table_digest(feed, table))
        commits.create(gold, tombstones, found.rows, table, made)
    elif tally.keys:
        commits.put(gold, tombstones, found.rows, table, tally)
    sizes = gold.count(), tombstones.count()
    did = of_counts(scoping.by_event, scoping.places, tally.removed, tally.changed)
    return Applied(
        tables=(GoldTable(name, *sizes, tally.repeats, did),),
        changes=tally.deliveries,
        repeats=tally.repeats,
        superseded=tally.superseded,
        keys=tally.keys,
        refolded=tally.refolded,
        keys_with_late_events=tally.keys_with_late_events,
        ties=tally.ties,
        foreign_copies=tally.foreign_copies,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
    )


def _brought_along(gold: LakeTable, table: Table, stands: Mapping[str, str]) -> None:
    """Give a table that an earlier version of Weir made what it lacks."""
    if CONSTRAINT not in stands:
        require_whole_key(gold, table)
    if missing := {
        name: on for name, on in delta_properties(table).items() if stands.get(name) != on
    }:
        gold.set_properties(missing)
