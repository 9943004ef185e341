"""The versions of a small gold table's rows, as an apply in this process works them out and puts them in place.

Late events are woven in at their position, and an event that changes a version in between counts as late. Put here
which versions change. Not here: what a version is (``transforms/gold/history.py``), and how the table is rewritten
(``history_files``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from assets.gold.apply.history_files import HistoryFiles
from assets.gold.changes.silver_files import SilverFiles
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.fold import Fold
from transforms.gold.history import Version, are_same, has_late_version, versions
from transforms.gold.state import ABSENT
from transforms.gold.table import steps, with_linked
from transforms.gold.table_changes import NewChanges, TableOutcome


def put_all(history: HistoryFiles, new: NewChanges, silver: SilverFiles) -> None:
    """Replace the whole table of versions by what all of silver gives."""
    history.put(_versions(history, new, silver, None), silver.based.horizon, None)


def put_changed(
    history: HistoryFiles,
    new: NewChanges,
    silver: SilverFiles,
    done: TableOutcome,
    current_rows: Mapping[Key, Current],
) -> None:
    """Write the versions of the keys that a run has changed.

    Keys of which both gold and the versions stay the same leave ``done.states``; those in whose versions an event was
    woven in join ``done.late``.

    Args:
        history: The table of versions.
        new: What the run brings.
        silver: Silver, as the table sees it.
        done: What becomes of the keys.
        current_rows: What gold has of them before.
    """
    horizon = silver.based.horizon
    of_keys = _versions(history, new, silver, done.states.keys())
    fold = Fold.of(history.table)
    kept = history.versions_of(done.states.keys(), horizon)
    for key in done.states.keys() & current_rows.keys():
        current, before, after = current_rows[key], kept.get(key, []), of_keys.get(key, [])
        last = current.state.last
        if last is not None and has_late_version(before, after, last.position):
            done.late.add(key)
        is_known = current.says(fold, done.states[key], horizon)
        if is_known and are_same(fold, before, after):
            del done.states[key]
    if done.states:
        changed = {key: some for key, some in of_keys.items() if key in done.states}
        history.put(changed, horizon, done.states.keys())


def _versions(
    history: HistoryFiles, new: NewChanges, silver: SilverFiles, keys: Collection[Key] | None
) -> dict[Key, Sequence[Version]]:
    """The versions of these keys, or of all, that can be derived from silver."""
    fold, wanted = Fold.of(history.table), keys
    if keys is not None and new.moves:
        wanted = with_linked({*keys}, silver.links())
    of_keys, before = steps(fold, new, silver, wanted)
    return {
        key: versions(fold, some, before.get(key, ABSENT))
        for key, some in of_keys.items()
        if keys is None or key in keys
    }
