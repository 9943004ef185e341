"""What scoped changes did to a gold table: a truncate, a drop, a star delete is always reported with what it removed.

There may be as many as there are events (a star delete of Dgraph is an everyday one), so that only the widest are
named. Not here: which keys a scope has (``transforms/gold/scopes.py``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from assets.arrow import read_changes
from assets.gold.changes import cross_stream_deletes
from assets.gold.changes.cross_stream_deletes import CrossStreamDeletes
from assets.gold.changes.silver_files import Place
from assets.gold.changes.table_changes import TableChanges
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.scopes import Scoped
from transforms.gold.state import State

SHOWN = 5
"""So many of a run are named one by one, the widest and then those that did most; of the others the sum is told."""


@dataclass(frozen=True, slots=True)
class ScopedDeleteEffect:
    """One scoped change of a run, and how many rows it removed, or changed where it is a dropped column.

    Or ``events`` of them together, all of one operation: these have neither scope nor place.
    """

    operation: str
    scope: str
    place: str
    removed: int
    changed: int
    events: int = 1


def reached_here(
    scopes: Mapping[str, Scoped],
    places: Mapping[str, Place],
    states: Mapping[Key, State],
    current_rows: Mapping[Key, Current],
    *,
    full_rebuild: bool,
) -> tuple[ScopedDeleteEffect, ...]:
    """The same of what was folded in this process.

    Args:
        scopes: All scoped changes of the table, by event.
        places: What a person is told of each of them.
        states: What the keys are that have changed.
        current_rows: What gold had of them before.
        full_rebuild: Whether the table is made anew.
    """
    removed: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for key, state in states.items():
        if state.last is None or not state.last.is_scoped:
            continue
        was_there = full_rebuild or (
            key in current_rows and current_rows[key].state.effect != "remove"
        )
        counts = removed if state.effect == "remove" else changed
        counts[state.last.event_id] += was_there
    return of_counts(scopes, places, removed, changed)


@dataclass(frozen=True, slots=True)
class Scoping:
    """A table's scoped changes, those of earlier windows marked as such, and what tells whom they reach.

    ``by_event``: one of each event's deliveries. ``places``: what a person is told of each. ``across_streams``: None
    where they reach no other streams.
    """

    every: Sequence[Scoped] = ()
    by_event: Mapping[str, Scoped] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    across_streams: CrossStreamDeletes | None = None


def of_changes(feed: Feed, table_changes: TableChanges) -> Scoping:
    """Those of one table: few, so that they fit into this process."""
    if not table_changes.change_kinds.scopes:
        return Scoping()
    wanted = [*read_changes.COLUMNS, "is_new", "operation", "window", "object", "line"]
    rows = table_changes.scoped.select(*wanted).toArrow().combine_chunks()
    every: list[Scoped] = []
    by_event: dict[str, Scoped] = {}
    places: dict[str, Place] = {}
    for batch in rows.to_batches():
        columns = ("is_new", "operation", "window", "object", "line")
        cells = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
        for row, (is_new, *place) in zip(read_changes.silver_rows(batch), cells, strict=True):
            assert row.scoped is not None  # no others were asked for
            change = replace(row.change, is_past=not is_new)
            one = replace(row.scoped, change=change)
            every.append(one)
            known = by_event.get(change.event_id)
            if known is None or known.change.is_past:
                # Of several deliveries a new one says that the event is new.
                by_event[change.event_id] = one
            at = Place(*place)
            places[change.event_id] = min(
                places.setdefault(change.event_id, at), at, key=lambda one: one[1:]
            )
    if not table_changes.crosses:
        return Scoping(every, by_event, places)
    across_streams = cross_stream_deletes.across_streams(
        feed, table_changes.table, every, table_changes.everywhere
    )
    return Scoping(every, by_event, places, across_streams)


def of_counts(
    scopes: Mapping[str, Scoped],
    places: Mapping[str, Place],
    removed: Counter[str],
    changed: Counter[str],
) -> tuple[ScopedDeleteEffect, ...]:
    """The same, where it is known how many rows each event has removed, and how many it has changed otherwise."""
    found = [
        (scoped, places[event_id], removed[event_id], changed[event_id])
        for event_id, scoped in scopes.items()
        if not scoped.change.is_past or removed[event_id] or changed[event_id]
    ]
    found.sort(key=lambda one: (len(one[0].scope), -(one[2] + one[3]), one[1][1:]))
    return summed_up(
        [
            ScopedDeleteEffect(
                place.operation,
                json.dumps(scoped.scope, ensure_ascii=False, separators=(",", ":")),
                f"{place.object} line {place.line}" if place.line else place.object,
                *(gone, other),
            )
            for scoped, place, gone, other in found
        ]
    )


def summed_up(every: Sequence[ScopedDeleteEffect]) -> tuple[ScopedDeleteEffect, ...]:
    """Those that are named, of all in their order, and the others in one sum per operation."""
    if len(every) <= SHOWN:
        return tuple(every)
    sums: dict[str, ScopedDeleteEffect] = {}
    for one in every[SHOWN:]:
        known = sums.get(one.operation, ScopedDeleteEffect(one.operation, "", "", 0, 0, 0))
        sums[one.operation] = replace(
            known,
            removed=known.removed + one.removed,
            changed=known.changed + one.changed,
            events=known.events + 1,
        )
    return (*every[:SHOWN], *(sums[name] for name in sorted(sums)))


def told(changes: tuple[ScopedDeleteEffect, ...]) -> list[str]:
    """One line for each that is named, and one per operation for the others."""
    lines = []
    for one in changes:
        of = "of the whole table" if one.scope == "{}" else f"of {one.scope}"
        what = f"{one.operation} {of} ({one.place})"
        if not one.place:
            what = f"{one.events:,} more of {one.operation}"
        did = f"removed {counted(one.removed, 'row')}"
        if one.changed:
            did = f"changed {counted(one.changed, 'row')}"
        lines.append(f"{what} {did}")
    return lines
