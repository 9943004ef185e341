"""The fold of keys from all their changes, as Spark's tasks call it: where new changes alone do not decide.

Put here what follows from a key's whole history. Not here: new changes onto gold (``gold_fold``), and base rows
(``base_fold``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee

import pyarrow as pa

from assets.arrow.gold.gold_fold import TaskState
from assets.arrow.gold.key_groups import Folding, KeyGroup, linked_key_groups
from assets.arrow.gold.ordered_changes import OrderedChanges, ordered_changes
from assets.arrow.record_batches import with_clear_errors
from transforms.gold.fold import Fold
from transforms.gold.history import Version, are_same, has_late_version, versions
from transforms.gold.onto_gold import refold
from transforms.gold.state import State


@dataclass(frozen=True, slots=True)
class FromHistory:
    """The stage that folds keys from all their changes, from the first on or from their base row."""

    folding: Folding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``out_schema`` from batches that are sorted by group and position."""
        folding, work = self.folding, TaskState.of(self.folding)
        with with_clear_errors(folding.feed):
            for key_groups in linked_key_groups(folding, batches):
                # All changes are folded, new or not: that silver has an event does not show that gold has it.
                for one in ordered_changes(folding, work.fold, work.scopes, list(key_groups)):
                    self._fold(work, one)
                yield from work.out.full()
            yield from work.out.rest(work.tally)

    def _fold(self, work: TaskState, one: OrderedChanges) -> None:
        tally, changes, key_group = work.tally, one.changes, one.key
        of_key: list[Version] = []
        if self.folding.table.history:
            changes, again = tee(changes)
        state, came_late = refold(work.fold, key_group.current, changes, key_group.base)
        if self.folding.table.history:
            of_key = versions(work.fold, again, key_group.base)
            last = key_group.current and key_group.current.state.last
            came_late = came_late or bool(
                last and has_late_version(key_group.versions, of_key, last.position)
            )
        if self.folding.full_rebuild:
            tally.deliveries += one.deliveries.deliveries
            tally.ties += one.counts.has_ties
        else:
            tally.refolded += 1
            tally.keys_with_late_events += came_late and state.last is not None
        if self.folding.full_rebuild or key_group.is_asked:
            # Of keys that came along because they are linked, the first stage has counted the new changes.
            tally.repeats += one.deliveries.repeats()
            tally.superseded += one.deliveries.superseded(came_late=came_late)
        if state.last is None or self._is_known(work.fold, key_group, state, of_key):
            return
        work.out.put(key_group.key, state, key_group, tally, full_rebuild=self.folding.full_rebuild)
        for version in of_key:
            work.out.version(key_group.key, version)

    def _is_known(
        self, fold: Fold, key_group: KeyGroup, state: State, of_key: Sequence[Version]
    ) -> bool:
        """Whether there is nothing to write: gold has this state, and the table of versions these versions."""
        current = key_group.current
        return (
            current is not None
            and current.says(fold, state, self.folding.horizon)
            and (not self.folding.table.history or are_same(fold, key_group.versions, of_key))
        )
