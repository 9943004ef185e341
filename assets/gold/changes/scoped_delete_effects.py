"""What scoped changes did to a gold table: a truncate, a drop, a star delete is always reported with what it removed.

There may be as many as there are events (a star delete of Dgraph is an everyday one), so that only the widest are
named. Not here: which keys a scope has (``transforms/gold/scopes.py``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assets.gold.changes.visible_changes import Place
from assets.wording import counted
from transforms.gold.change import Key
from transforms.gold.fold import State
from transforms.gold.onto_gold import Current
from transforms.gold.scopes import Scoped

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
