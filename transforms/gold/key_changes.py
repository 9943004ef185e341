"""Key changes whose images do not say the whole row: the new key's row is the old key's, as it was just before.

Only these link keys (``moved_from``), so that linked keys are folded together. Put here how linked keys are followed
together. Not here: which keys are linked, and the fold of each (``fold``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge

from transforms.gold.change import Change, Key, LogPosition
from transforms.gold.fold import Fold
from transforms.gold.state import ABSENT, State

Links = Iterable[tuple[Key, Key]]
"""Pairs of an old key and the new one that took values from its row."""


def resolved(
    fold: Fold, changes: Mapping[Key, Sequence[Change]], before: Mapping[Key, State]
) -> dict[Key, list[Change]]:
    """The changes of linked keys, each in order, with the old key's row filled in: a ``move`` is then a ``replace``.

    All of them are followed together, in the order of their positions: what leaves a key is looked at as it leaves.
    """
    wanted = {
        (one.moved_from, one.event_id)
        for some in changes.values()
        for one in some
        if one.effect == "move"
    }
    left: dict[tuple[Key, str], State] = {}
    states = dict(before)
    found: dict[Key, list[Change]] = {key: [] for key in changes}
    each = [_of_key(key, some) for key, some in changes.items()]
    for _, key, change in merge(*each, key=lambda one: one[0]):
        state = states.get(key, ABSENT)
        if (key, change.event_id) in wanted:
            left[key, change.event_id] = state
        if change.effect == "move":
            old = change.moved_from or ()
            row = left.get((old, change.event_id)) or before.get(old, ABSENT)
            change = replace(change, effect="replace", after={**row.columns, **change.after})
        states[key] = fold.step(state, change)
        found[key].append(change)
    return found


def _of_key(
    key: Key, changes: Iterable[Change]
) -> Iterator[tuple[tuple[LogPosition, int], Key, Change]]:
    for change in changes:
        yield change.standing, key, change


def groups(links: Links) -> dict[Key, Key]:
    """For every linked key one that stands for all that are linked with it, directly or through others."""
    parents: dict[Key, Key] = {}

    def root(key: Key) -> Key:
        top = key
        while (above := parents.setdefault(top, top)) != top:
            top = above
        while parents[key] != top:
            parents[key], key = top, parents[key]
        return top

    for old, new in links:
        parents[root(new)] = root(old)
    return {key: root(key) for key in list(parents)}
