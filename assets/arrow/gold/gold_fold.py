"""The fold of new changes onto a gold table, as Spark's tasks call it: rows come sorted, so that a key's are together.

Put here what a task does with a key that meets new changes. Not here: what becomes of a key (``transforms/gold``), keys
whose whole history is needed (``history_fold``), which rows are brought together, and what is done with those that come
out (``assets/gold/fold``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, tee
from typing import NamedTuple, Self

import pyarrow as pa

from assets.arrow.gold.gold_rows import Rows
from assets.arrow.gold.key_groups import Folding, KeyGroup, linked_key_groups
from assets.arrow.gold.tally import Tally
from assets.arrow.record_batches import with_clear_errors
from transforms.gold.change import Change
from transforms.gold.fold import Fold
from transforms.gold.onto_gold import apply_new_changes
from transforms.gold.ordering import merge_sorted
from transforms.gold.scopes import Scoped, Scopes


class TaskState(NamedTuple):
    """What a task holds for all keys of one table; ``out`` and ``tally`` fill up as it goes on."""

    fold: Fold
    scopes: Scopes
    out: Rows
    tally: Tally

    @classmethod
    def of(cls, folding: Folding) -> Self:
        """What a task begins with, for one table."""
        fold = Fold.of(folding.table)
        return cls(fold, Scopes(folding.scoped, fold.identity), Rows(folding.table), Tally())


@dataclass(frozen=True, slots=True)
class OntoGold:
    """The stage that folds new changes onto what gold has; keys that this leaves open are ``NEEDS_HISTORY``."""

    folding: Folding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``out_schema`` from batches that are sorted by key and position."""
        folding, work = self.folding, TaskState.of(self.folding)
        with with_clear_errors(folding.feed):
            for key_groups in linked_key_groups(folding, batches):
                for one in key_groups:
                    self._fold(work, one)
                yield from work.out.full()
            yield from work.out.rest(work.tally)

    def _fold(self, work: TaskState, one: KeyGroup) -> None:
        folding, tally = self.folding, work.tally
        own, matching, streams = one.changes, [*work.scopes.matching(one.key)], set[str | None]()
        if any(scoped.stream is not None for scoped in matching):
            own, again = tee(own)
            streams.update(stream for _, stream, _ in again)
        first = next(own, None)
        scoped, is_sure = _scoped(folding, one, matching, streams)
        if first is None and not one.is_placed and all(change.is_past for change in scoped):
            # A row of gold that a new scoped change might have been for, but is not.
            return
        tally.foreign_copies += bool(folding.table.key) and one.copies > 1
        changes = (change for change, _, _ in chain([] if first is None else [first], own))
        deliveries = merge_sorted(changes, scoped)
        outcome = apply_new_changes(
            work.fold, one.current, deliveries, keeps_history=folding.keeps_history
        )
        tally.deliveries += outcome.counts.deliveries
        tally.ties += outcome.counts.has_ties
        # Where every version is kept, versions need all of a key's changes.
        asks = folding.table.history and outcome.state is not None
        if asks or outcome.needs_history or not is_sure:
            work.out.ask(one, tally)
            return
        tally.superseded += outcome.superseded
        tally.repeats += outcome.known + outcome.counts.repeats
        if outcome.state is not None:
            work.out.put(one.key, outcome.state, one, tally, full_rebuild=False)


def _scoped(
    folding: Folding, one: KeyGroup, matching: Sequence[Scoped], streams: Collection[str | None]
) -> tuple[list[Change], bool]:
    """The scoped changes that may be for a key, and whether they certainly are.

    That is unsure of a change for the keys of one stream: gold does not record which streams a key's changes came from.
    A key that gold does not know has the streams of its new changes (``streams``). Where scoped changes reach other
    streams, only all of the key's changes say where they are among them.
    """
    found, is_sure = [], True
    last = None if one.current is None else one.current.state.last
    for scoped in matching:
        change = scoped.change
        if folding.crossing is not None and scoped.stream is not None:
            found.append(change)
            is_sure = False
        elif scoped.stream is None or (last is None and scoped.stream in streams):
            found.append(change)
        elif last is not None and not (
            change.is_past and change.stable <= last.position[: change.stable_prefix]
        ):
            found.append(change)
            is_sure = False
    return found, is_sure
