"""The stages of gold: from the rows of keys, sorted so that a key's are together, to what each key is now.

A key's row, and its tombstone, say where its last change stands, and where the newest one stands after which nothing
older can matter: the **reset position**. A change that is newer than the last one is folded onto the row. One below
the reset position changes nothing, whatever it is and however often it comes: it is superseded, and silver is not
looked at. Only a change between the two needs the key's history (docs/architecture.md). The history also tells
whether an event came late. Only gold itself can tell what gold had, since silver of the run's windows may have been in
gold before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, tee
from typing import NamedTuple, Self

import pyarrow as pa

from transforms.change import Change, Key
from transforms.column_types.map_columns import IMAGE, NUMBERS, TEXTS
from transforms.gold.fold import (
    ABSENT,
    Beginning,
    Fold,
    Last,
    State,
    Version,
    are_same_versions,
    has_late_version,
    versions_of,
)
from transforms.gold.fold_rows import MARKED
from transforms.gold.folded_rows import FoldedRows, FoldMetrics, folded_schema, show
from transforms.gold.key_groups import (
    FoldInput,
    KeyGroup,
    OrderedChanges,
    StoredRow,
    linked_key_groups,
    ordered_changes,
)
from transforms.gold.newest import Deletes, Newest, whole_keys
from transforms.gold.ordering import Counts, distinct, merge_sorted
from transforms.gold.range_deletes import RangeDelete, RangeDeletesByKey, misses_truncate


@dataclass(slots=True)
class Outcome:
    """What becomes of a key.

    ``state``: what the key is now; None where nothing changed. ``needs_history``: only all of the key's changes can say
    what it is. ``superseded``: how many events stand below the reset position and change nothing. ``known``: how often
    the key's last event came again. ``counts``: what was met while the changes were put in order. ``begins_by_update``:
    the key's row is new, and began with an update.
    """

    state: State | None = None
    needs_history: bool = False
    superseded: int = 0
    known: int = 0
    counts: Counts = field(default_factory=Counts)
    begins_by_update: bool = False


def apply_new_changes(
    fold: Fold, stored: StoredRow | None, deliveries: Iterable[Change], *, keeps_history: bool
) -> Outcome:
    """What new changes do to a key; they are sorted (``ordering.sort_key``).

    ``keeps_history``: older events matter in this table even below the reset position, since every version of a row is
    kept, or other keys' rows take values from it.
    """
    found = Outcome()
    before = state = ABSENT if stored is None else stored.state
    last = before.last
    beginning = Beginning(before.is_live)
    for change in distinct(deliveries, found.counts):
        if last is not None:
            if change.log_position == last.log_position and change.event_id != last.event_id:
                found.counts.has_ties |= not change.is_range_delete
            if _is_known(last, change):
                # A range delete is of many keys, and no event of this one.
                found.known += not change.is_derived
                if _is_earlier(last, change):
                    # Of the deliveries of an event the earliest counts, whichever of them came first.
                    found.needs_history |= keeps_history
                    last = last._replace(event_at=change.event_at)
                    state = replace(state, last=last)
                continue
            if change.stable <= last.log_position[: change.dedup_prefix]:
                if change.is_past:
                    continue
                reset = None if keeps_history else before.reset
                if reset is None or change.stable >= reset[: change.dedup_prefix]:
                    found.needs_history = True
                else:
                    found.superseded += not change.is_derived
                continue
        if change.effect == "move":
            found.needs_history = True
        beginning.see(change)
        state = fold.step(state, change)
    found.begins_by_update = beginning.is_by_update
    if not found.needs_history and (state is not before or (stored is not None and stored.is_torn)):
        found.state = state
    return found


def refold(
    fold: Fold, stored: StoredRow | None, changes: Iterable[Change], before: State = ABSENT
) -> tuple[State, bool]:
    """What a key is by all its changes, in their order, and whether an event came late: one that gold did not have.

    One came late where the changes up to gold's last one, and then that last one, make another row than gold has. A
    change that ties with the last one may be in gold or not: that counts as a tie, and not as late.
    """
    last = None if stored is None else stored.state.last
    if stored is None or last is None:
        return fold.after(changes, before), False
    state, up_to_last, expected = before, None, list[State]()
    for change in changes:
        if up_to_last is None and change.log_position >= last.log_position:
            up_to_last = state
        after = fold.step(state, change)
        if up_to_last is not None and change.event_id == last.event_id:
            expected = [after, fold.step(up_to_last, change)]
        state = after
    # Gold's last change may be missing from these changes: it is in the base row, or an earlier delivery has given it a
    # smaller position.
    expected = expected or [state if up_to_last is None else up_to_last]
    return state, not any(stored.has_row_of(fold, one) for one in expected)


def _is_known(last: Last, change: Change) -> bool:
    """Whether the change is a repeat of the last one.

    At a smaller position it is not treated as one: the smallest position counts, so the row has to be moved there.
    """
    return change.event_id == last.event_id and change.log_position >= last.log_position


def _is_earlier(last: Last, change: Change) -> bool:
    """Whether a repeat of the last change was made earlier by what it says; the same comparison as in ``sort_key``."""
    own, known = ((at is not None, at or 0) for at in (change.event_at, last.event_at))
    return own < known


_LAST = pa.struct(
    [
        *[("log_position", NUMBERS), ("event_id", pa.string())],
        *[("event_at", pa.timestamp("us", "UTC")), ("is_range_delete", pa.bool_())],
    ]
)
_STATE = pa.struct(
    [("effect", pa.string()), ("columns", IMAGE), ("copies", pa.int64()), ("last", _LAST)]
)
BASE_ROWS = pa.schema([("key", TEXTS), ("streams", TEXTS), ("state", _STATE)])
"""One row per key that has a row, which ``effect`` may mark as deleted: the columns of ``assets.columns.layers.Base``
that are about the key."""

_BATCH_ROWS = 10_000


class Task(NamedTuple):
    """What a task holds for all keys of one table; ``out`` and ``metrics`` fill up as it goes on."""

    fold: Fold
    by_key: RangeDeletesByKey
    out: FoldedRows
    metrics: FoldMetrics

    @classmethod
    def of(cls, given: FoldInput) -> Self:
        """What a task begins with, for one table."""
        fold = Fold.of(given.table)
        by_key = RangeDeletesByKey(given.range_deletes, fold.identity)
        return cls(fold, by_key, FoldedRows(given.table), FoldMetrics())


def _undecided(
    given: FoldInput, task: Task, batches: Iterable[pa.RecordBatch]
) -> Iterator[Iterable[pa.RecordBatch]]:
    """The rows of the keys that their newest changes alone do not decide, all of a key together."""
    if not given.by_newest:
        yield batches
        return
    newest = Newest(given, task.metrics, Deletes.of(given.range_deletes))
    for some in whole_keys(batches, len(given.table.key)):
        if not isinstance(some, pa.RecordBatch):
            yield some
            continue
        made, rest = newest(some)
        if made is not None:
            task.out.decide(made)
        yield [rest]


@dataclass(frozen=True, slots=True)
class _Folding(ABC):
    """A stage that folds the keys that their newest changes alone do not decide."""

    given: FoldInput

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return folded_schema(self.given.table)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``folded_schema`` from batches that are sorted by key (or group) and position."""
        task = Task.of(self.given)
        for rest in _undecided(self.given, task, batches):
            for key_groups in linked_key_groups(self.given, rest):
                self._fold_each(task, key_groups)
                yield from task.out.full()
            yield from task.out.decided()
        yield from task.out.rest(task.metrics)

    @abstractmethod
    def _fold_each(self, task: Task, key_groups: Iterable[KeyGroup]) -> None:
        """Put what becomes of keys that are linked with one another into the task."""


class OntoGold(_Folding):
    """The stage that folds new changes onto what gold has; keys that this leaves open are ``NEEDS_HISTORY``."""

    __slots__ = ()

    def _fold_each(self, task: Task, key_groups: Iterable[KeyGroup]) -> None:
        for one in key_groups:
            self._fold(task, one)

    def _fold(self, task: Task, one: KeyGroup) -> None:
        given, metrics = self.given, task.metrics
        own, matching, streams = one.changes, [*task.by_key.matching(one.key)], set[str | None]()
        if any(range_delete.stream is not None for range_delete in matching):
            own, again = tee(own)
            streams.update(stream for _, stream, _ in again)
        first = next(own, None)
        range_deletes, is_sure = _range_deletes(given, one, matching, streams)
        if first is None and all(change.is_past for change in range_deletes):
            # A row of gold that a new range delete might have been for, but is not.
            return
        if given.table.key and one.copies > 1:
            metrics.foreign_copies += 1
            show(one.key, metrics.copied_keys)
        changes = (change for change, _, _ in chain([] if first is None else [first], own))
        deliveries = merge_sorted(changes, range_deletes)
        outcome = apply_new_changes(
            task.fold, one.stored, deliveries, keeps_history=given.keeps_history
        )
        metrics.deliveries += outcome.counts.deliveries
        if outcome.counts.has_ties:
            metrics.ties += 1
            show(one.key, metrics.tied_keys)
        # Where every version is kept, versions need all of a key's changes.
        asks = given.table.history and outcome.state is not None
        if asks or outcome.needs_history or not is_sure:
            task.out.ask(one, metrics)
            return
        metrics.superseded += outcome.superseded
        metrics.repeats += outcome.known + outcome.counts.repeats
        if outcome.state is not None:
            task.out.put(one.key, outcome.state, one, metrics, full_rebuild=False)
            if _misses_truncate(given, outcome.state, matching, streams):
                metrics.count_not_truncated(one.key)
            is_by_update = outcome.begins_by_update
            _count_not_inserted(given, one.key, outcome.state, metrics, is_by_update=is_by_update)


def _count_not_inserted(
    given: FoldInput, key: Key, state: State, metrics: FoldMetrics, *, is_by_update: bool
) -> None:
    """Count a key whose row began with an update, or is known in part: it has no reset position then."""
    if given.updates_find_rows and state.is_live and (is_by_update or not state.reset):
        metrics.count_never_inserted([key])


def _misses_truncate(
    given: FoldInput, state: State, matching: Iterable[RangeDelete], streams: Collection[str | None]
) -> bool:
    """Whether a row is there that a truncate of other streams may have removed, too."""
    if given.crosses or not state.is_live or state.last is None:
        return False
    return misses_truncate(matching, streams, state.last.event_at)


def _range_deletes(
    given: FoldInput,
    one: KeyGroup,
    matching: Sequence[RangeDelete],
    streams: Collection[str | None],
) -> tuple[list[Change], bool]:
    """The range deletes that may be for a key, and whether they certainly are.

    That is unsure of a change for the keys of one stream: gold does not record which streams a key's changes came from.
    A key that gold does not know has the streams of its new changes (``streams``). Where range deletes reach other
    streams, only all of the key's changes say where they are among them.
    """
    found, is_sure = [], True
    last = None if one.stored is None else one.stored.state.last
    for range_delete in matching:
        change = range_delete.change
        if given.crosses and range_delete.stream is not None:
            found.append(change)
            is_sure = False
        elif range_delete.stream is None or (last is None and range_delete.stream in streams):
            found.append(change)
        elif last is not None and not (
            change.is_past and change.stable <= last.log_position[: change.dedup_prefix]
        ):
            found.append(change)
            is_sure = False
    return found, is_sure


class FromHistory(_Folding):
    """The stage that folds keys from all their changes, from the first on or from their base row."""

    __slots__ = ()

    def _fold_each(self, task: Task, key_groups: Iterable[KeyGroup]) -> None:
        # All changes are folded, new or not: that silver has an event does not show that gold has it.
        for one in ordered_changes(self.given, task.fold, task.by_key, list(key_groups)):
            self._fold(task, one)

    def _fold(self, task: Task, one: OrderedChanges) -> None:
        metrics, changes, key_group = task.metrics, one.changes, one.key
        of_key: list[Version] = []
        if self.given.table.history:
            changes, again = tee(changes)
        beginning = Beginning(key_group.base.is_live)
        changes = beginning.seeing(changes)
        state, came_late = refold(task.fold, key_group.stored, changes, key_group.base)
        if self.given.table.history:
            of_key = versions_of(task.fold, again, key_group.base)
            last = key_group.stored and key_group.stored.state.last
            came_late = came_late or bool(
                last and has_late_version(key_group.versions, of_key, last.log_position)
            )
        if self.given.full_rebuild:
            metrics.deliveries += one.deliveries.deliveries
            if one.counts.has_ties:
                metrics.ties += 1
                show(key_group.key, metrics.tied_keys)
        else:
            metrics.refolded += 1
            if came_late and state.last is not None:
                metrics.keys_with_late_events += 1
                show(key_group.key, metrics.late_keys)
        if self.given.full_rebuild or key_group.is_asked:
            # Of keys that came along because they are linked, the first stage has counted the new changes.
            metrics.repeats += one.deliveries.repeats()
            metrics.superseded += one.deliveries.superseded(came_late=came_late)
        if state.is_live:
            metrics.in_doubt.update(one.in_doubt)
        matching = task.by_key.matching(key_group.key)
        if _misses_truncate(self.given, state, matching, one.streams):
            metrics.count_not_truncated(key_group.key)
        if state.last is None or self._is_known(task.fold, key_group, state, of_key):
            return
        task.out.put(key_group.key, state, key_group, metrics, full_rebuild=self.given.full_rebuild)
        before = key_group.stored
        is_new = self.given.full_rebuild or before is None or not before.state.is_live
        is_by_update = is_new and beginning.is_by_update
        _count_not_inserted(self.given, key_group.key, state, metrics, is_by_update=is_by_update)
        for version in of_key:
            task.out.version(key_group.key, version)

    def _is_known(
        self, fold: Fold, key_group: KeyGroup, state: State, of_key: Sequence[Version]
    ) -> bool:
        """Whether there is nothing to write: gold has this state, and the table of versions these versions."""
        stored = key_group.stored
        return (
            stored is not None
            and stored.says(fold, state, self.given.compaction_watermark)
            and (
                not self.given.table.history or are_same_versions(fold, key_group.versions, of_key)
            )
        )


@dataclass(frozen=True, slots=True)
class ToBase:
    """The stage that folds keys from all their changes, and gives a base row for each that is present."""

    given: FoldInput

    @property
    def schema(self) -> pa.Schema:
        """The columns of what comes out."""
        return BASE_ROWS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``BASE_ROWS`` from batches that are sorted by group and position: of keys that are present."""
        given, fold = self.given, Fold.of(self.given.table)
        by_key = RangeDeletesByKey(given.range_deletes, fold.identity)
        decided: list[pa.Table] = []
        rows: list[dict[str, object]] = []
        for rest in self._undecided(batches, decided):
            for key_groups in linked_key_groups(given, rest):
                for one in ordered_changes(given, fold, by_key, list(key_groups)):
                    state = fold.after(one.changes, one.key.base)
                    if state.last is not None and state.effect != "remove":
                        rows.append(_base_row(one, state, state.last))
                if len(rows) >= _BATCH_ROWS:
                    yield pa.RecordBatch.from_pylist(rows, schema=BASE_ROWS)
                    rows = []
            for made in decided:
                yield from made.cast(BASE_ROWS).combine_chunks().to_batches()
            decided.clear()
        yield pa.RecordBatch.from_pylist(rows, schema=BASE_ROWS)

    def _undecided(
        self, batches: Iterable[pa.RecordBatch], decided: list[pa.Table]
    ) -> Iterator[Iterable[pa.RecordBatch]]:
        """The rows of keys that comparing columns does not decide, all of a key together; the others ``decided``."""
        if not self.given.by_newest:
            yield batches
            return
        newest = Newest(self.given, FoldMetrics(), Deletes.of(self.given.range_deletes))
        for some in whole_keys(batches, len(self.given.table.key)):
            if not isinstance(some, pa.RecordBatch):
                yield some
                continue
            made, rest = newest.bases(some)
            decided += made
            yield [rest]


def _base_row(one: OrderedChanges, state: State, last: Last) -> dict[str, object]:
    return {
        "key": one.key.key,
        "streams": sorted(stream for stream in one.streams if stream is not None),
        "state": {
            "effect": MARKED if state.is_deleted else state.effect,
            "columns": [*state.columns.items()],
            "copies": state.copies,
            "last": last._asdict(),
        },
    }
