"""What a run brings for one gold table: its changes that were read in this process, sorted by what is done with them.

Not here: how they are read (``silver_files``), and what becomes of them (``transforms/gold``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from assets.bookkeeping import decisions, ledger, transactions
from assets.gold.changes import cross_stream_deletes
from assets.gold.changes.silver_files import Place, SilverFiles, Visible
from assets.lake import Lake
from transforms.change_kinds import ChangeKinds
from transforms.feed.feed import Feed, Table
from transforms.gold.change import Change, Key
from transforms.gold.scopes import Scoped
from transforms.gold.table_changes import New

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run brings for one table, and what it was made of."""

    new: New
    places: Mapping[str, Place]
    scopes: Mapping[str, Scoped]


def run(
    silver: SilverFiles, changes: Sequence[Visible], epochs: Sequence[Visible], kinds: ChangeKinds
) -> Run:
    """Sort changes of silver's table; ``epochs`` are the scoped deletes that complete snapshots are."""
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
    new = New(own, scoped, kinds.moves, silver.table.history, horizon=silver.based.horizon)
    return Run(new, places, scopes)


def silver_of(
    lake: Lake,
    feed: Feed,
    table: Table,
    name: str,
    windows: Sequence[str],
    kinds: ChangeKinds,
) -> tuple[SilverFiles, ChangeKinds]:
    """Silver as one gold table sees it, and the kinds of its changes, of which the accounts tell only those they saw.

    Raises:
        TooLarge: the table's base does not fit into this process.
    """
    released = transactions.complete(lake, feed, windows) if kinds.transactions else None
    silver = SilverFiles.of(lake, feed, table, name, windows, released or {})
    if silver.waits is not None:
        # Whether one moves a row to another key could not be told when it was counted.
        kinds = replace(kinds, moves=True)
    return silver, kinds


def epochs(feed: Feed, silver: SilverFiles) -> list[Visible]:
    """The scoped deletes that complete snapshots are, none of them new: gold is made anew for every epoch.

    Those above the table's horizon: its base has the others.
    """
    found = []
    for row in decisions.scoped_rows(feed, silver.table.name, silver.name):
        change = Change(
            *("remove", tuple(row["position"]), 1, row["event_id"]),
            None if row["event_at"] is None else (row["event_at"] - _1970) // _MICROSECOND,
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


def crossing(
    lake: Lake, feed: Feed, found: Run, silver: SilverFiles, table: Table
) -> tuple[Run, bool]:
    """The run, with what tells whom scoped changes reach in other streams, and whether that has moved."""
    if not cross_stream_deletes.may_have_streams(lake, feed):
        return found, False
    before = ledger.brought_before(lake, feed, silver.windows)
    told = cross_stream_deletes.here(
        feed, table, found.new.scoped, silver.everywhere(cross_stream_deletes.COLUMNS, before)
    )
    if told is None:
        return found, False
    new = replace(
        found.new,
        crossing=told.crossing,
        cross_stream_positions=told.cross_stream_positions,
        placed=told.placed,
    )
    return replace(found, new=new), told.crossing.has_moved
