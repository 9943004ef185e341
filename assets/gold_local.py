"""An apply in this process: for a gold table that is small, and a run that brings little for it.

Reading, folding and rewriting such a table whole takes some hundredths of a second; Spark's jobs for the same take
seconds. What the changes do is the same code (``transforms/gold``). Not here: which tables a run is for, and larger
ones (``current_state``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from assets import (
    bases,
    crossings,
    decisions,
    schema_changes,
    scoped_changes,
    transactions,
    waiting_changes,
)
from assets.applied import Applied, GoldTable
from assets.gold_files import GoldFiles
from assets.gold_tables import CHANGE_FEED, CONSTRAINT, DECLARATION, stale_windows
from assets.history import booked
from assets.lake import Lake
from assets.schema_changes import ADDED
from assets.silver_files import Place, SilverFiles, TooLarge, Visible
from transforms.change_kinds import ChangeKinds
from transforms.feed import Feed, Table
from transforms.feed_digest import table_digest
from transforms.gold.change import Change, Key
from transforms.gold.fold import Fold
from transforms.gold.onto_gold import Current
from transforms.gold.scopes import Scoped
from transforms.gold.table import Brought, New, brought, whole
from transforms.table_names import TOMBSTONES

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

MOST_CHANGES = 20_000
"""So many changes of a table are folded in this process at most, in about a second; more are Spark's work."""


def apply_one(
    lake: Lake, feed: Feed, table: Table, name: str, windows: Sequence[str], *, anew: bool
) -> Applied | None:
    """Bring one gold table up to these windows, in this process; None where that is Spark's work."""
    change_kinds, most_new = booked(lake, feed, name, windows)
    if most_new > MOST_CHANGES or not _is_for_this_process(lake, feed, table, name):
        return None
    gold = GoldFiles.of(lake, feed, table, name)
    stands = gold.gold.properties
    if not gold.is_small or CHANGE_FEED in stands:
        return None
    if gold.exists and CONSTRAINT not in stands:
        # An earlier version of Weir made it: rows without a key have to go first.
        return None
    anew = anew or not gold.exists or stands.get(DECLARATION) != table_digest(feed, table)
    if anew:
        if gold.exists:
            tables = (lake.table("gold", feed.name, one) for one in (name, name + TOMBSTONES))
            schema_changes.refuse_declaration(lake, feed, table, name, *tables)
        if stale := stale_windows(lake, feed, name):
            return Applied(waits_for=tuple(stale))
    try:
        return _applied(lake, feed, name, gold, windows, change_kinds, anew=anew)
    except TooLarge:
        return None


def _is_for_this_process(lake: Lake, feed: Feed, table: Table, name: str) -> bool:
    """Whether nothing about the table asks for Spark, whatever its size."""
    return not (
        table.history
        or table.change_feed
        or name in bases.drawn(lake, feed)
        or waiting_changes.there_are(lake, feed, table, name)
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run brings for one table, and what it was made of."""

    new: New
    places: Mapping[str, Place]
    scopes: Mapping[str, Scoped]


def _applied(
    lake: Lake,
    feed: Feed,
    name: str,
    gold: GoldFiles,
    windows: Sequence[str],
    change_kinds: ChangeKinds,
    *,
    anew: bool,
) -> Applied:
    table, fold = gold.table, Fold.of(gold.table)
    released = (
        transactions.complete(lake, feed, windows) if change_kinds.transactions else None
    ) or {}
    silver = SilverFiles.of(lake, feed, table, name, windows, released)
    epochs = _epochs(feed, table, name)
    needs_all = bool(
        anew or change_kinds.scopes or epochs or any(is_new for _, is_new in released.values())
    )
    changes = silver.everything if needs_all else silver.of_windows
    run = _run(table, changes, epochs, change_kinds)
    rebuilt = anew and gold.exists
    if crossings.crosses(feed, change_kinds):
        run, has_moved = _crossing(feed, run, silver, table)
        anew = anew or has_moved
        if has_moved and (stale := stale_windows(lake, feed, name)):
            return Applied(waits_for=tuple(stale))
    if anew:
        done = Brought(states=whole(fold, run.new, silver))
        standing: Mapping[Key, Current] = {}
    else:
        # A new scoped change is for all that stands.
        brings_scopes = any(not one.change.is_past for one in run.new.scoped)
        standing = gold.current(None if brings_scopes else run.new.changes.keys())
        done = brought(fold, run.new, standing, silver)
        if missing := done.states.keys() - standing.keys():
            # Keys whose rows took values from others' are among those that were folded anew.
            standing = {**standing, **gold.current(missing)}
        values = [name for name in table.columns if name not in table.identity]
        for key in done.refolded & done.states.keys() & standing.keys():
            # Nothing that was told anew is other than gold has it.
            if standing[key].says(done.states[key], values):
                del done.states[key]
    own = [one for one in changes if one.is_new and one.key is not None]
    looked_at = done.states.keys() if anew else done.refolded
    repeats, late = _repeats(done, looked_at, own, silver, standing)
    foreign = 0 if anew else gold.foreign_copies(standing.keys())
    made = _properties(feed, table)
    sizes = gold.create(done.states, made) if anew else gold.put(done.states)
    told = scoped_changes.reached_here(run.scopes, run.places, done.states, standing, anew=anew)
    return Applied(
        tables=(GoldTable(name, *sizes, repeats, told),),
        changes=sum(not one.change.is_derived for one in own),
        repeats=repeats,
        superseded=done.superseded,
        keys=len(done.states),
        late_keys=late,
        ties=done.ties,
        foreign_copies=foreign,
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
    )


def _properties(feed: Feed, table: Table) -> dict[str, str]:
    added = {ADDED: ",".join(table.added)} if table.added else {}
    return {DECLARATION: table_digest(feed, table), **added}


def _epochs(feed: Feed, table: Table, name: str) -> list[Visible]:
    """The scoped deletes that complete snapshots are, none of them new: gold is made anew for every epoch."""
    found = []
    for row in decisions.scoped_rows(feed, table.name, name):
        change = Change(
            *("remove", tuple(row["position"]), 1, row["event_id"]),
            None if row["event_at"] is None else (row["event_at"] - _1970) // _MICROSECOND,
            *({}, {}, {}),
            is_scoped=True,
            is_derived=True,
            is_past=True,
        )
        place = Place(row["operation"], row["window"], row["object"], row["line"])
        found.append(Visible(None, None, change, Scoped({}, None, change), place, is_new=False))
    return found


def _run(
    table: Table, changes: Sequence[Visible], epochs: Sequence[Visible], kinds: ChangeKinds
) -> _Run:
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
    return _Run(New(own, scoped, kinds.moves, table.history), places, scopes)


def _crossing(feed: Feed, run: _Run, silver: SilverFiles, table: Table) -> tuple[_Run, bool]:
    """The run, with what tells whom scoped changes reach in other streams, and whether that has moved."""
    told = crossings.here(feed, table, run.new.scoped, silver.everywhere(crossings.COLUMNS))
    if told is None:
        return run, False
    new = replace(run.new, crossing=told.crossing, places=told.places, placed=told.placed)
    return replace(run, new=new), told.crossing.has_moved


def _repeats(
    done: Brought,
    looked_at: Collection[Key],
    own: Sequence[Visible],
    silver: SilverFiles,
    standing: Mapping[Key, Current],
) -> tuple[int, int]:
    """How many of the run's events are known to have come before, and how many keys had an event that came late.

    Of keys whose history was ``looked_at``, history says it. Of others only repeats within the run and of the last
    event are known.
    """
    repeats, late = done.known + done.repeats, set()
    if looked_at:
        elsewhere: dict[Key, set[str]] = defaultdict(set)
        for one in silver.everything:
            if one.key is not None and one.key in looked_at and not one.is_new:
                elsewhere[one.key].add(one.change.event_id)
        seen: set[tuple[Key, str]] = set()
        for one in own:
            key, change = one.key, one.change
            if key is None or key not in looked_at or change.is_derived:
                continue
            if change.event_id in elsewhere[key] or (key, change.event_id) in seen:
                repeats += 1
                continue
            seen.add((key, change.event_id))
            last = standing[key].state.last if key in standing else None
            if last is not None and change.stable <= last.position[: change.stable_prefix]:
                late.add(key)
    return repeats, len(late)
