"""One gold table after some new changes: which keys they touch, what each of these is now, and what history that takes.

All in memory, for tables and windows that fit; where they do not, Spark brings the same changes of each key together
and asks the same functions (``onto_gold``, ``fold``). Put here what is done for all keys of a table together. Not here:
what goes into that and comes out of it (``table_changes``), and how silver and gold are read and written (``assets``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from transforms.gold import key_changes
from transforms.gold.change import Change, Key
from transforms.gold.current import Current
from transforms.gold.fold import Fold
from transforms.gold.key_changes import Links
from transforms.gold.onto_gold import apply_new_changes, refold
from transforms.gold.ordering import Counts, sort_key, sorted_distinct
from transforms.gold.scopes import Scopes
from transforms.gold.state import ABSENT, State
from transforms.gold.table_changes import NewChanges, Silver, TableOutcome


def apply_changes(
    fold: Fold, new: NewChanges, current: Mapping[Key, Current], silver: Silver
) -> TableOutcome:
    """What new changes do to an existing table.

    Keys that were refolded, and that gold already has as they should be, are left out of the result, unless the table
    keeps every version of a row.

    Args:
        fold: How rows of the table are folded.
        new: What the run brings.
        current: What gold has of the keys in ``new``, and of the keys that are linked with them.
        silver: Reads the history of the keys that need it.
    """
    found = TableOutcome()
    touched = set(new.changes)
    fresh = Scopes([one for one in new.scoped if not one.change.is_past], fold.identity)
    every = Scopes(new.scoped, fold.identity)
    streams: Mapping[Key, Collection[str | None]] = {}
    if new.scoped:
        if new.needs_streams:
            streams = silver.streams({*touched, *current})
        # A new scoped change is for every row that is there.
        touched.update(
            key for key in current if next(iter(fresh.of(key, streams.get(key, ()))), None)
        )
    if new.crossing is not None:
        touched.update(new.placed, (key for key in current if fresh.reach_across(key)))
    for key in touched:
        deliveries = [*new.changes.get(key, ()), *every.of(key, streams.get(key, ()))]
        deliveries.sort(key=sort_key)
        keeps_history = new.keeps_history or new.moves
        outcome = apply_new_changes(fold, current.get(key), deliveries, keeps_history=keeps_history)
        # Only all of a key's changes say where those of other streams stand among them.
        outcome.needs_history |= new.crossing is not None and every.reach_across(key)
        # Where every version is kept, it takes all of a key's changes to tell them.
        outcome.needs_history |= new.keeps_history and outcome.state is not None
        found.add(key, outcome)
    if found.asked:
        _refold(found, fold, new, current, silver)
    return found


def _refold(
    found: TableOutcome, fold: Fold, new: NewChanges, current: Mapping[Key, Current], silver: Silver
) -> None:
    """Fold the keys that need their history, and the keys linked with them."""
    found.refolded = with_linked(found.asked, silver.links()) if new.moves else found.asked
    changes, before = steps(fold, new, silver, found.refolded)
    for key, some in changes.items():
        stands = current.get(key)
        state, came_late = refold(fold, stands, some, before.get(key, ABSENT))
        # What a linked key became by its new changes alone no longer counts.
        found.states.pop(key, None)
        if state.last is None:
            continue
        if came_late:
            found.late.add(key)
        if new.keeps_history or stands is None or not stands.says(fold, state, new.horizon):
            found.states[key] = state


def with_linked(keys: set[Key], links: Links) -> set[Key]:
    """The keys, and all that are linked with them."""
    groups = key_changes.groups(links)
    wanted = {groups[key] for key in keys if key in groups}
    return keys | {key for key, group in groups.items() if group in wanted}


def folded_from_history(
    fold: Fold, new: NewChanges, silver: Silver, keys: Collection[Key] | None = None
) -> dict[Key, State]:
    """What these keys are, or all, by everything that silver has of them; only those on which some change counted."""
    changes, before = steps(fold, new, silver, keys)
    found = {key: fold.after(some, before.get(key, ABSENT)) for key, some in changes.items()}
    return {key: state for key, state in found.items() if state.last is not None}


def steps(
    fold: Fold, new: NewChanges, silver: Silver, keys: Collection[Key] | None = None
) -> tuple[dict[Key, list[Change]], Mapping[Key, State]]:
    """The changes of these keys, or of all, in their order, and what each key is before them (its base)."""
    own, before = silver.history(keys), silver.base(keys)
    streams = silver.streams(keys) if new.needs_streams else {}
    scopes = Scopes(new.scoped, fold.identity)
    found = {
        key: with_scoped(
            own.get(key, ()),
            (*scopes.of(key, streams.get(key, ())), *_across(new, key, own, scopes)),
        )
        for key in {**own, **before}
    }
    return (key_changes.resolved(fold, found, before) if new.moves else found), before


def _across(
    new: NewChanges, key: Key, own: Mapping[Key, Sequence[Change]], scopes: Scopes
) -> Iterable[Change]:
    """The scoped changes of other streams that a key meets."""
    if new.crossing is None or key not in own:
        return ()
    return new.crossing.for_key(scopes.matching(key), own[key], new.cross_stream_positions)


def with_scoped(
    own: Iterable[Change], scoped: Iterable[Change], counts: Counts | None = None
) -> list[Change]:
    """A key's own changes and the scoped ones that it meets, in their order."""
    return list(sorted_distinct([*own, *scoped], counts))
