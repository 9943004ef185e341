"""An apply in this process: for a gold table that is small, and a run that brings little for it.

Reading, folding and rewriting such a table whole takes some hundredths of a second; Spark's jobs for the same take
seconds. What the changes do is the same code (``transforms/gold``). Put here the steps of such an apply, in their
order. Not here: which tables a run is for (``apply_table``), larger ones (``spark_apply``), and the files that are
rewritten (``gold_files``, ``history_files``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from assets.gold.applied import Applied, AppliedTable, shown_keys
from assets.gold.apply import full_rebuilds, local_history
from assets.gold.apply.gold_files import GoldFiles
from assets.gold.apply.history_files import HistoryFiles
from assets.gold.apply.local_changes import RunChanges, gathered
from assets.gold.changes import scoped_delete_effects
from assets.gold.changes.change_counts import kinds_and_counts
from assets.gold.changes.silver_files import SilverFiles
from assets.gold.changes.silver_parts import TooLarge
from assets.gold.gold_table import GoldTable
from assets.gold.table_properties import CONSTRAINT, declared_with
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.delivery_counts import DeliveryCounts
from transforms.gold.fold import Fold
from transforms.gold.table import apply_changes, folded_from_history
from transforms.gold.table_changes import TableOutcome

MOST_CHANGES = 60_000
"""So many changes of a table are folded in this process at most: into 300,000 rows that took 4.9 s, by Spark 7.1."""


def apply_one(gold: GoldTable, windows: Sequence[str], *, full_rebuild: bool) -> Applied | None:
    """Bring one gold table up to these windows, in this process; None where that is Spark's work."""
    change_kinds, most_new = kinds_and_counts(gold.lake, gold.feed, gold.name, windows)
    if most_new > MOST_CHANGES or gold.table.change_feed:
        return None
    files = _Files.of(gold)
    properties, exists = files.gold.gold.properties, files.gold.exists
    if not files.are_small:
        return None
    if exists and CONSTRAINT not in properties:
        # An earlier version of Weir made it: rows without a key have to go first.
        return None
    has_history = files.history is not None and files.history.exists
    full_rebuild = full_rebuild or full_rebuilds.is_due(
        gold, properties, exists=exists, has_history=has_history
    )
    if full_rebuild and (stale := full_rebuilds.waits_for(gold, exists=exists)):
        return Applied(waits_for=stale)
    try:
        run_changes = gathered(gold, windows, change_kinds, full_rebuild=full_rebuild)
        folded = _folded(files, run_changes)
        return _written(gold, files, run_changes, folded, rebuilt=full_rebuild and exists)
    except TooLarge:
        return None


@dataclass(frozen=True, slots=True)
class _Files:
    """The tables that an apply rewrites; ``history``: None where the table keeps no versions."""

    gold: GoldFiles
    history: HistoryFiles | None

    @classmethod
    def of(cls, gold: GoldTable) -> _Files:
        rows = GoldFiles.of(gold.lake, gold.feed, gold.table, gold.name)
        history = HistoryFiles.of(gold) if gold.table.history else None
        return cls(rows, history)

    @property
    def are_small(self) -> bool:
        return self.gold.is_small and (self.history is None or self.history.is_small)


@dataclass(frozen=True, slots=True)
class _Folded:
    """What becomes of the keys, and what gold has of them before; ``foreign_copies``: keys with several rows."""

    done: TableOutcome
    current_rows: Mapping[Key, Current]
    foreign_copies: Sequence[Key]


def _folded(files: _Files, run_changes: RunChanges) -> _Folded:
    """Fold what the run brings onto gold's rows, or everything from the first change on."""
    fold, new = Fold.of(files.gold.table), run_changes.run.new
    if run_changes.full_rebuild:
        return _Folded(
            TableOutcome(states=folded_from_history(fold, new, run_changes.silver)), {}, []
        )
    asked = {*new.changes, *new.placed}
    # A new scoped change is for all rows, and of linked keys it is not known yet which come along.
    brings_scopes = any(not scoped.change.is_past for scoped in new.scoped)
    current_rows = files.gold.current(None if brings_scopes or new.moves else asked)
    done = apply_changes(fold, new, current_rows, run_changes.silver)
    foreign = files.gold.foreign_copies(current_rows.keys() if brings_scopes else asked)
    return _Folded(done, current_rows, foreign)


def _written(
    gold: GoldTable, files: _Files, run_changes: RunChanges, folded: _Folded, *, rebuilt: bool
) -> Applied:
    """Write what has changed, versions first, and say what was done."""
    done, current_rows, full_rebuild = folded.done, folded.current_rows, run_changes.full_rebuild
    if files.history is not None and full_rebuild:
        local_history.put_all(files.history, run_changes.run.new, run_changes.silver)
    elif files.history is not None:
        local_history.put_changed(
            files.history, run_changes.run.new, run_changes.silver, done, current_rows
        )
    counted = done.states.keys() if full_rebuild else done.asked
    of_deliveries = _delivery_counts(counted, run_changes.silver, current_rows)
    repeats = done.known + done.repeats + sum(one.repeats() for one in of_deliveries.values())
    superseded = sum(
        one.superseded(came_late=key in done.late) for key, one in of_deliveries.items()
    )
    properties = declared_with(gold.feed, gold.table)
    sizes = (
        files.gold.create(done.states, properties) if full_rebuild else files.gold.put(done.states)
    )
    run = run_changes.run
    effects = scoped_delete_effects.effects_of_states(
        run.scopes, run.places, done.states, current_rows, full_rebuild=full_rebuild
    )
    return Applied(
        tables=(AppliedTable(gold.name, *sizes, repeats, effects),),
        changes=run_changes.changes,
        repeats=repeats,
        superseded=done.superseded + superseded,
        keys=len(done.states),
        refolded=len(done.refolded),
        keys_with_late_events=len(done.late),
        ties=len(done.tied),
        foreign_copies=len(folded.foreign_copies),
        late_keys=shown_keys(gold.name, sorted(done.late, key=str)),
        tied_keys=shown_keys(gold.name, done.tied),
        copied_keys=shown_keys(gold.name, folded.foreign_copies),
        rows=sizes[0],
        tombstones=sizes[1],
        rebuilt=rebuilt,
    )


def _delivery_counts(
    keys: Collection[Key], silver: SilverFiles, current_rows: Mapping[Key, Current]
) -> dict[Key, DeliveryCounts]:
    """The run's events of each of these keys, and which of them are known to have come before."""
    found = {
        key: DeliveryCounts(current_rows[key].state.last if key in current_rows else None)
        for key in keys
    }
    if found:
        for one in silver.everything:
            if one.key in found:
                found[one.key].add(one.change, is_new=one.is_new)
    return found
