"""The fold of one gold table over Arrow batches, as Spark's tasks call it: rows come sorted, so that keys come whole.

What becomes of a key is told by ``transforms/gold``. Not here: which rows are brought together, and what is done with
those that come out (``spark_apply``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, tee
from typing import NamedTuple, Self

import pyarrow as pa

from assets.arrow.gold_rows import Rows, Tally
from assets.arrow.meetings import Folding, Meeting, met
from assets.arrow.record_batches import told_clearly
from assets.arrow.stories import Story, stories
from assets.columns.base_rows import STATE
from transforms.gold.change import Change
from transforms.gold.fold import Fold
from transforms.gold.history import Version, are_same, is_woven_in, versions
from transforms.gold.onto_gold import by_history, onto
from transforms.gold.ordering import sorted_with
from transforms.gold.scopes import Scoped, Scopes
from transforms.gold.state import Last, State

BASE_COLUMNS = f"key array<string>, streams array<string>, state {STATE}"
"""What a base row says of its key (``base_rows.BASE``)."""
_TEXTS = pa.list_(pa.field("element", pa.string()))
_LAST = pa.struct(
    [
        *[("position", pa.list_(pa.field("element", pa.int64()))), ("event_id", pa.string())],
        *[("event_at", pa.timestamp("us", "UTC")), ("is_scoped", pa.bool_())],
    ]
)
_STATE = pa.struct(
    [
        *[("effect", pa.string()), ("columns", pa.map_(pa.string(), pa.string()))],
        *[("copies", pa.int64()), ("last", _LAST)],
    ]
)
BASE_ROWS = pa.schema([("key", _TEXTS), ("streams", _TEXTS), ("state", _STATE)])
"""The same for Arrow."""

_BATCH_ROWS = 10_000


class _Work(NamedTuple):
    """What a task has of one table for all of its keys; ``out`` and ``tally`` fill up."""

    fold: Fold
    scopes: Scopes
    out: Rows
    tally: Tally

    @classmethod
    def of(cls, folding: Folding) -> Self:
        fold = Fold.of(folding.table)
        return cls(fold, Scopes(folding.scoped, fold.identity), Rows(folding.table), Tally())


@dataclass(frozen=True, slots=True)
class OntoGold:
    """New changes onto what gold has of their keys; the keys that this cannot tell come out ``UNTOLD``."""

    folding: Folding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``out_schema`` from batches that are sorted by key and position."""
        folding, work = self.folding, _Work.of(self.folding)
        with told_clearly(folding.feed):
            for meetings in met(folding, batches):
                for one in meetings:
                    self._tell(work, one)
                yield from work.out.full()
            yield from work.out.rest(work.tally)

    def _tell(self, work: _Work, one: Meeting) -> None:
        folding, tally = self.folding, work.tally
        own, matching, streams = one.changes, [*work.scopes.matching(one.key)], set[str | None]()
        if any(scoped.stream is not None for scoped in matching):
            own, again = tee(own)
            streams.update(stream for _, stream, _ in again)
        first = next(own, None)
        scoped, is_sure = _scoped(folding, one, matching, streams)
        if first is None and not one.is_placed and all(change.is_past for change in scoped):
            # A row of gold that only a new scoped change might have been for.
            return
        tally.foreign_copies += bool(folding.table.key) and one.copies > 1
        changes = (change for change, _, _ in chain([] if first is None else [first], own))
        deliveries = sorted_with(changes, scoped)
        outcome = onto(work.fold, one.current, deliveries, keeps_history=folding.keeps_history)
        tally.deliveries += outcome.counts.deliveries
        tally.ties += outcome.counts.has_ties
        # Where every version is kept, it takes all of a key's changes to tell them.
        asks = folding.table.history and outcome.state is not None
        if asks or outcome.needs_history or not is_sure:
            work.out.ask(one, tally)
            return
        tally.superseded += outcome.superseded
        tally.repeats += outcome.known + outcome.counts.repeats
        if outcome.state is not None:
            work.out.put(one.key, outcome.state, one, tally, full_rebuild=False)


def _scoped(
    folding: Folding, one: Meeting, matching: Sequence[Scoped], streams: Collection[str | None]
) -> tuple[list[Change], bool]:
    """The scoped changes that a key may meet, and whether it does: gold does not say which streams a key has.

    A key that gold does not know has those of its new changes (``streams``). Where they reach other streams, only all
    of the key's changes say where they stand among them.
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


@dataclass(frozen=True, slots=True)
class FromHistory:
    """What keys are by all their changes, from the first on or from their base."""

    folding: Folding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``out_schema`` from batches that are sorted by group and position."""
        folding, work = self.folding, _Work.of(self.folding)
        with told_clearly(folding.feed):
            for meetings in met(folding, batches):
                # Whether gold has it already is not asked: silver that knows an event does not say that gold does.
                for one in stories(folding, work.fold, work.scopes, list(meetings)):
                    self._tell(work, one)
                yield from work.out.full()
            yield from work.out.rest(work.tally)

    def _tell(self, work: _Work, one: Story) -> None:
        tally, changes, meeting = work.tally, one.changes, one.key
        told: list[Version] = []
        if self.folding.table.history:
            changes, again = tee(changes)
        state, came_late = by_history(work.fold, meeting.current, changes, meeting.base)
        if self.folding.table.history:
            told = versions(work.fold, again, meeting.base)
            last = meeting.current and meeting.current.state.last
            came_late = came_late or bool(
                last and is_woven_in(meeting.versions, told, last.position)
            )
        if self.folding.full_rebuild:
            tally.deliveries += one.news.deliveries
            tally.ties += one.counts.has_ties
        else:
            tally.refolded += 1
            tally.keys_with_late_events += came_late and state.last is not None
        if self.folding.full_rebuild or meeting.is_asked:
            # Of keys that came along, for they are linked, their new changes alone have told it.
            tally.repeats += one.news.repeats()
            tally.superseded += one.news.superseded(came_late=came_late)
        if state.last is None or self._is_known(work.fold, meeting, state, told):
            return
        work.out.put(meeting.key, state, meeting, tally, full_rebuild=self.folding.full_rebuild)
        for version in told:
            work.out.version(meeting.key, version)

    def _is_known(
        self, fold: Fold, meeting: Meeting, state: State, told: Sequence[Version]
    ) -> bool:
        """Whether there is nothing to write: gold has it, and the table of versions has the same ones."""
        current = meeting.current
        return (
            current is not None
            and current.says(fold, state, self.folding.horizon)
            and (not self.folding.table.history or are_same(fold, meeting.versions, told))
        )


@dataclass(frozen=True, slots=True)
class ToBase:
    """What keys are by all their changes, as base rows keep it."""

    folding: Folding

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of ``BASE_ROWS`` from batches that are sorted by group and position: of keys that are there."""
        folding, work = self.folding, _Work.of(self.folding)
        rows: list[dict[str, object]] = []
        with told_clearly(folding.feed):
            for meetings in met(folding, batches):
                for one in stories(folding, work.fold, work.scopes, list(meetings)):
                    state = work.fold.after(one.changes, one.key.base)
                    if state.last is not None and state.effect != "remove":
                        rows.append(_base_row(one, state, state.last))
                if len(rows) >= _BATCH_ROWS:
                    yield pa.RecordBatch.from_pylist(rows, schema=BASE_ROWS)
                    rows = []
            yield pa.RecordBatch.from_pylist(rows, schema=BASE_ROWS)


def _base_row(one: Story, state: State, last: Last) -> dict[str, object]:
    return {
        "key": one.key.key,
        "streams": sorted(stream for stream in one.streams if stream is not None),
        "state": {
            "effect": state.effect,
            "columns": [*state.columns.items()],
            "copies": state.copies,
            "last": last._asdict(),
        },
    }
