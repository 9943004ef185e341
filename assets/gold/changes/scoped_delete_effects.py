"""What scoped changes did to a gold table: every truncate, drop or star delete is reported with what it removed.

There may be as many as there are events (star deletes are common in Dgraph), so that only the widest are named. Put
here how effects are counted and put into words. Not here: which keys a scope has (``transforms/gold/scopes.py``), and
how scoped changes are read (``scoping``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assets.gold.changes.visible_changes import Place
from assets.wording import counted
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.scopes import Scoped
from transforms.gold.state import State

SHOWN = 5
"""How many of a run are named one by one, the widest first and then those that did most; the others are summed up."""


@dataclass(frozen=True, slots=True)
class ScopedDeleteEffect:
    """One scoped change of a run, or the sum of several (``events``) of one operation, without scope and place.

    ``removed``: how many rows it removed. ``changed``: how many it changed, as a dropped column does.
    """

    operation: str
    scope: str
    place: str
    removed: int
    changed: int
    events: int = 1


def effects_of_states(
    scopes: Mapping[str, Scoped],
    places: Mapping[str, Place],
    states: Mapping[Key, State],
    current_rows: Mapping[Key, Current],
    *,
    full_rebuild: bool,
) -> tuple[ScopedDeleteEffect, ...]:
    """The effects of a run that was folded in this process.

    Args:
        scopes: All scoped changes of the table, by event.
        places: Where each of them comes from, by event.
        states: What the keys are now that have changed.
        current_rows: What gold had of these keys before.
        full_rebuild: Whether the table is made from all of silver.
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
    return effects_of_counts(scopes, places, removed, changed)


def effects_of_counts(
    scopes: Mapping[str, Scoped],
    places: Mapping[str, Place],
    removed: Counter[str],
    changed: Counter[str],
) -> tuple[ScopedDeleteEffect, ...]:
    """The effects of a run whose tasks have counted them.

    Args:
        scopes: All scoped changes of the table, by event.
        places: Where each of them comes from, by event.
        removed: How many rows each event removed.
        changed: How many rows each event changed otherwise.
    """
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
    """The first ``SHOWN`` of these effects, and the others in one sum per operation."""
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


def effect_lines(effects: tuple[ScopedDeleteEffect, ...]) -> list[str]:
    """One line for each effect."""
    lines = []
    for one in effects:
        of = "of the whole table" if one.scope == "{}" else f"of {one.scope}"
        what = f"{one.operation} {of} ({one.place})"
        if not one.place:
            what = f"{one.events:,} more of {one.operation}"
        did = f"removed {counted(one.removed, 'row')}"
        if one.changed:
            did = f"changed {counted(one.changed, 'row')}"
        lines.append(f"{what} {did}")
    return lines
