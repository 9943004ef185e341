"""What a run brings for one gold table: changes that were read in this process, sorted by what is done with them.

Put here what makes ``transforms.gold.table_changes.NewChanges`` of them. Not here: how they are read
(``silver_files``), and what becomes of them (``transforms/gold``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assets.bookkeeping import snapshot_deletes, window_progress
from assets.bookkeeping.transactions import complete_transactions
from assets.gold.changes import cross_stream_deletes, streams
from assets.gold.changes.silver_files import SilverFiles
from assets.gold.changes.visible_changes import Place, Visible
from assets.gold.gold_table import GoldTable
from transforms.change_kinds import ChangeKinds
from transforms.feed.feed import Feed
from transforms.gold.change import Change, Key
from transforms.gold.scopes import Scoped
from transforms.gold.table_changes import NewChanges
from transforms.moments import microseconds_of


@dataclass(frozen=True, slots=True)
class Run:
    """What a run brings for one table; of its scoped changes, by event, where they come from and what they are for."""

    new: NewChanges
    places: Mapping[str, Place]
    scopes: Mapping[str, Scoped]


def run(
    silver: SilverFiles, changes: Sequence[Visible], epochs: Sequence[Visible], kinds: ChangeKinds
) -> Run:
    """Sort the changes of the table.

    Args:
        silver: Silver, as the table sees it.
        changes: Its changes.
        epochs: The scoped deletes that complete snapshots stand for.
        kinds: What kinds of change the table has.
    """
    own: dict[Key, list[Change]] = defaultdict(list)
    scoped: list[Scoped] = []
    places: dict[str, Place] = {}
    scopes: dict[str, Scoped] = {}
    for one in (*changes, *epochs):
        if one.scoped is None:
            if one.is_new and one.key is not None:
                own[one.key].append(one.change)
            continue
        scoped.append(one.scoped)
        known = scopes.get(one.change.event_id)
        if known is None or known.change.is_past:
            # Of several deliveries a new one says that the event is new.
            scopes[one.change.event_id] = one.scoped
        place = places.setdefault(one.change.event_id, one.place)
        places[one.change.event_id] = min(place, one.place, key=lambda at: at[1:])
    new = NewChanges(own, scoped, kinds.moves, silver.table.history, horizon=silver.based.horizon)
    return Run(new, places, scopes)


def silver_of(
    gold: GoldTable, windows: Sequence[str], kinds: ChangeKinds
) -> tuple[SilverFiles, ChangeKinds]:
    """Silver as one gold table sees it, and the kinds of its changes, with what the accounts could not know of them.

    Raises:
        TooLarge: The table's base does not fit into this process.
    """
    released = (
        complete_transactions.complete(gold.lake, gold.feed, windows)
        if kinds.transactions
        else None
    )
    silver = SilverFiles.of(gold, windows, released or {})
    if silver.waits is not None:
        # Whether a waiting change moves a row to another key could not be known when it was counted.
        kinds = replace(kinds, moves=True)
    return silver, kinds


def epochs(feed: Feed, silver: SilverFiles) -> list[Visible]:
    """The scoped deletes that complete snapshots stand for, without those at or below the table's horizon.

    None of them is new: gold is made from all of silver for every epoch.
    """
    found = []
    for row in snapshot_deletes.scoped_rows(feed, silver.table.name, silver.name):
        change = Change(
            *("remove", tuple(row["position"]), 1, row["event_id"]),
            microseconds_of(row["event_at"]),
            *({}, {}, {}),
            is_scoped=True,
            is_derived=True,
            is_past=True,
        )
        place = Place(row["operation"], row["window"], row["object"], row["line"])
        if not silver.covers(change):
            scoped = Scoped({}, None, change)
            found.append(Visible(None, None, change, scoped, place, is_new=False))
    return found


def crossing(gold: GoldTable, run_changes: Run, silver: SilverFiles) -> tuple[Run, bool]:
    """The run, with what decides which keys of other streams scoped changes reach, and whether that has moved."""
    if not streams.may_have_several_streams(gold.lake, gold.feed):
        return run_changes, False
    before = window_progress.brought_before(gold.lake, gold.feed, silver.windows)
    everywhere = silver.everywhere(cross_stream_deletes.COLUMNS, before)
    across = cross_stream_deletes.read_locally(
        gold.feed, gold.table, run_changes.new.scoped, everywhere
    )
    if across is None:
        return run_changes, False
    new = replace(
        run_changes.new,
        crossing=across.crossing,
        cross_stream_positions=across.cross_stream_positions,
        placed=across.placed,
    )
    return replace(run_changes, new=new), across.crossing.has_moved
