"""The fold of one gold table, by whichever executor: new changes meet what is stored; what it did, in numbers.

In the first stage, new changes meet what gold has of their keys; the few keys that this does not decide are folded
from all their changes in the second.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, Protocol, Self

import pyarrow as pa

from assets.executors.executor import Executor, Frame, Stage
from assets.gold import range_deletes
from assets.gold.plan import TablePlan
from assets.gold.range_deletes import RangeDeleteEffect, RangeDeletes
from transforms.change import Change, Key
from transforms.gold.columns import BLOB, KIND, PARTS
from transforms.gold.fold import ABSENT, Fold, State
from transforms.gold.fold_rows import CARRIED, GOLD, TOMBSTONE
from transforms.gold.folded_rows import (
    CHANGED,
    COUNTED,
    MOST_KEYS_SHOWN,
    NEEDS_HISTORY,
    VERSION,
    FoldMetrics,
)
from transforms.gold.key_groups import FoldInput, linked_key_groups, ordered_changes
from transforms.gold.range_deletes import RangeDeletesByKey
from transforms.gold.stages import FromHistory, OntoGold, ToBase
from transforms.silver.discovered_tables import Stopped


class Silver(Protocol[Frame]):
    """What a fold reads of one gold table's changes, as ``FOLD_ROWS``."""

    def new_changes(self) -> Frame:
        """The changes of single keys that the run brings or releases."""

    def changes(self, few: Frame | None, count: int) -> Frame:
        """All changes of single keys; ``few``: those of other keys than these (``key``) may be missing.

        ``count``: how many these keys are at most.
        """

    def base(self) -> Frame | None:
        """The table's base rows; None where nothing is compacted."""

    def roots(self) -> Frame:
        """One row per key that key changes link: ``key``, and ``root``, the same key for all that are linked."""

    def range_deletes(self) -> pa.Table:
        """The range deletes that count (``range_deletes.READ``)."""


class Stored(Protocol[Frame]):
    """What a fold reads of one gold table as it is, as ``FOLD_ROWS``."""

    def last_changes(self, what: int, keys: Frame | None, *, with_values: bool) -> Frame:
        """The rows of gold, or its tombstones (``what``), of these keys or of all."""

    def versions(self, keys: Frame) -> Frame:
        """The versions of these keys that can still be derived from silver."""


@dataclass(frozen=True, slots=True)
class Folded(Generic[Frame]):
    """What a run makes of one table.

    ``rows``: one row per key that has changed, in a table without a key one per copy (``folded_schema``).
    ``versions``: one row per version of these keys, where the table keeps them. ``metrics``: the counts.
    """

    rows: Frame
    versions: Frame
    metrics: FoldMetrics


@dataclass(frozen=True)
class TableFold(Generic[Frame]):
    """One gold table that is to be folded; ``stored``: what it has now, None where it is made from all changes."""

    executor: Executor[Frame]
    plan: TablePlan
    silver: Silver[Frame]
    stored: Stored[Frame] | None
    deletes: RangeDeletes

    @classmethod
    def of(
        cls,
        executor: Executor[Frame],
        plan: TablePlan,
        silver: Silver[Frame],
        stored: Stored[Frame] | None = None,
    ) -> Self:
        """The fold of a table, whose range deletes are read first: they are few, so that they fit into this process."""
        deletes = RangeDeletes()
        if plan.kinds.scopes or plan.complete_snapshots:
            deletes = range_deletes.of_rows(silver.range_deletes())
        held = plan.feed.decisions.held(plan.name)
        deletes = deletes.without({one.event_id for one in held if one.acts_nowhere})
        return cls(executor, plan, silver, stored, deletes)

    @property
    def brings_deletes(self) -> bool:
        """Whether the run brings range deletes."""
        return not all(one.change.is_past for one in self.deletes.every)

    def given(self, *, full_rebuild: bool) -> FoldInput:
        """What the stages have to know; ``full_rebuild``: the table is made from all changes."""
        plan, kinds, table = self.plan, self.plan.kinds, self.plan.table
        return FoldInput(
            *(plan.table, self.deletes.every),
            depends=plan.kinds.depends,
            keeps_history=plan.kinds.moves or plan.table.history,
            moves=plan.kinds.moves,
            full_rebuild=full_rebuild,
            crosses=plan.crosses,
            released=frozenset(one.event_id for one in plan.feed.decisions.releases),
            compaction_watermark=plan.compaction_watermark,
            by_newest=plan.by_newest,
            updates_find_rows=bool(table.key) and not (kinds.moves or kinds.upserts),
        )

    def onto_gold(self) -> Folded[Frame]:
        """Fold the run's changes onto the gold table as it is."""
        run = self.executor
        given = self.given(full_rebuild=False)
        rows, metrics = self._staged(*self.met(given), OntoGold(given))
        if metrics.needing_history:
            asked = run.select(
                run.where(rows, KIND, NEEDS_HISTORY), {PARTS: "key", BLOB: "carried"}
            )
            others, counts = self._from_history(given, asked, metrics.needing_history)
            metrics.add(counts)
            if given.moves:
                # Linked keys are all decided there, also those that their new changes alone had decided.
                decided = run.select(self._with_linked(asked), {"key": PARTS})
                rows = run.without(rows, decided, PARTS)
            rows = run.union([rows, others])
        return self._split(rows, metrics)

    def from_history(self) -> Folded[Frame]:
        """Fold all changes of the table, whatever gold has."""
        return self._split(*self._from_history(self.given(full_rebuild=True), None, 0))

    def of_keys(self, asked: Frame, count: int) -> Folded[Frame]:
        """Fold all changes of some keys (``key``, at most ``count`` of them), and of those linked with them."""
        return self._split(*self._from_history(self.given(full_rebuild=True), asked, count))

    def _split(self, rows: Frame, metrics: FoldMetrics) -> Folded[Frame]:
        changed, versions = (self.executor.where(rows, KIND, one) for one in (CHANGED, VERSION))
        return Folded(changed, versions, metrics)

    def met(self, given: FoldInput) -> tuple[Frame, int | None]:
        """New changes and what gold has of their keys, and how many changes there are at most."""
        run, stored = self.executor, self.stored
        assert stored is not None  # changes are folded onto it
        new = self.silver.new_changes()
        rows, keys = [new], run.distinct(run.select(new, {"key": "key"}))
        # A new range delete may be for any row.
        mine = None if self.brings_deletes else keys
        rows.append(stored.last_changes(GOLD, mine, with_values=given.depends))
        rows.append(stored.last_changes(TOMBSTONE, mine, with_values=False))
        most = None if self.brings_deletes else self.plan.most_new
        return run.grouped(run.union(rows), None), most

    def _from_history(
        self, given: FoldInput, asked: Frame | None, count: int
    ) -> tuple[Frame, FoldMetrics]:
        """What all keys are, or those ``asked`` for (``key``, ``carried``), by all their changes in silver."""
        # Gold's rows of these keys are read with their values.
        by_newest = given.by_newest and given.full_rebuild
        stage = FromHistory(replace(given, depends=True, by_newest=by_newest))
        return self._staged(self.whole(given, asked, count), None, stage)

    def whole(self, given: FoldInput, asked: Frame | None, count: int) -> Frame:
        """One row per change, base row, version and gold row of all keys, or of some and those linked with them.

        ``asked``: one row per key that is asked for (``key``, and ``carried`` from an earlier stage), at most ``count``
        of them; None for all.
        """
        run, silver, stored = self.executor, self.silver, self.stored
        # Of linked keys it is not known yet which others they bring along.
        rows = [silver.changes(None if given.moves else asked, count)]
        base = silver.base()
        if base is not None:
            rows.append(base)
        roots = silver.roots() if given.moves else None
        whole = run.grouped(run.union(rows), roots)
        if asked is None:
            return whole
        asked = run.grouped(asked, roots)
        groups = run.select(asked, {"group": "group"})
        found = [run.among(whole, run.distinct(groups) if given.moves else groups, "group", count)]
        keys = self._with_linked(asked)
        passes_on = not given.moves and (given.depends or not self.plan.table.key)
        if stored is not None and not passes_on:
            for what in (GOLD, TOMBSTONE):
                before = stored.last_changes(what, keys, with_values=what == GOLD)
                found.append(run.grouped(before, roots))
        if stored is not None and self.plan.table.history:
            found.append(run.grouped(stored.versions(keys), roots))
        if stored is not None:
            # What the first stage has read of gold is passed on where it read all of it, so that it is read once.
            names = ("key", "group", *(("carried",) if passes_on else ()))
            found.append(run.shaped(run.select(asked, {name: name for name in names}), CARRIED))
        return run.union(found)

    def _with_linked(self, asked: Frame) -> Frame:
        """One row per key that is ``asked`` for, and per key that is linked with one of these: ``key``."""
        run = self.executor
        keys = run.select(asked, {"key": "key"})
        if not self.plan.kinds.moves:
            return keys
        roots = self.silver.roots()
        groups = run.distinct(run.select(run.grouped(asked, roots), {"group": "root"}))
        linked = run.among(roots, groups, "root", None)
        return run.distinct(run.union([keys, run.select(linked, {"key": "key"})]))

    def _staged(self, rows: Frame, most: int | None, stage: Stage) -> tuple[Frame, FoldMetrics]:
        """What comes out of a stage, and the sum of what its tasks counted.

        Computed once, and before anything is written: Spark would read the tables again after a commit.
        """
        run = self.executor
        found = run.kept(run.staged_together(rows, most, stage))
        counted = run.collected(run.select(run.where(found, KIND, COUNTED), {BLOB: BLOB}))
        metrics = FoldMetrics()
        for blob in counted[BLOB].to_pylist():
            metrics.add(pickle.loads(blob))
        return found, metrics

    def to_base(self) -> Frame:
        """One row per key that is present after all changes of the source (``stages.BASE_ROWS``), computed once."""
        given, run = self.given(full_rebuild=True), self.executor
        whole = self.whole(given, None, 0)
        return run.kept(run.staged_together(whole, None, ToBase(given)))

    def story_of(self, key: Key) -> tuple[State, Sequence[Change]]:
        """Everything that happened to one key: what it was at the table's watermark, and its changes in their order."""
        given, run = self.given(full_rebuild=True), self.executor
        rows = run.together(self.whole(given, run.frame_of([key]), 1), 1)
        by_key = RangeDeletesByKey(given.range_deletes, (fold := Fold.of(self.plan.table)).identity)
        for groups in linked_key_groups(given, run.collected(rows).combine_chunks().to_batches()):
            for one in ordered_changes(given, fold, by_key, [*groups]):
                if one.key.key == key:
                    return one.key.base, [*one.changes]
        return ABSENT, []


def shown_keys(table: str, keys: Sequence[Key]) -> tuple[str, ...]:
    """Some of a gold table's keys as texts."""
    texts = (
        ", ".join("null" if part is None else part for part in key)
        for key in keys[:MOST_KEYS_SHOWN]
    )
    return tuple(f"{table}: key {text}" for text in texts)


@dataclass(frozen=True, slots=True)
class AppliedTable:
    """One gold table after an apply: how many live ``rows`` and ``tombstones`` it has, and what the fold has counted.

    ``range_deletes``: what its range deletes did. ``marked``: how many rows are marked as deleted.
    """

    name: str
    rows: int
    tombstones: int
    metrics: FoldMetrics
    range_deletes: tuple[RangeDeleteEffect, ...] = ()
    marked: int = 0


# Without slots: the sum is worked out once.
@dataclass(frozen=True)
class Applied:
    """What an apply did to the gold tables of one declared table.

    ``rebuilt``: a table was made from all of silver again. ``waits_for``: windows to be derived under a changed
    declaration before gold can follow it. ``stopped``: gold tables that stay as they were, each with the reason.
    ``executors``: which of them did the work. ``held``: a line for each delete that waits for a decision. ``unnamed``:
    one for each snapshot in chunks that does not name some rows. ``columns``: the columns that the gold tables have
    afterwards, with their types; empty where none is as it is declared now.
    """

    tables: tuple[AppliedTable, ...] = ()
    rebuilt: bool = False
    waits_for: tuple[str, ...] = ()
    stopped: Mapping[str, Stopped] = field(default_factory=dict)
    executors: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def metrics(self) -> FoldMetrics:
        """What the folds of all tables have counted."""
        total = FoldMetrics()
        for one in self.tables:
            total.add(one.metrics)
        return total

    @property
    def rows(self) -> int:
        """How many live rows the tables have together."""
        return sum(one.rows for one in self.tables)

    @property
    def marked(self) -> int:
        """How many rows are marked as deleted."""
        return sum(one.marked for one in self.tables)

    @property
    def tombstones(self) -> int:
        """How many tombstones they have."""
        return sum(one.tombstones for one in self.tables)

    @property
    def is_news(self) -> bool:
        """Whether the tables are other than before."""
        return bool(self.metrics.keys or self.rebuilt)

    def keys_shown(self, of: Callable[[FoldMetrics], Sequence[Key]]) -> list[str]:
        """Some of the keys that were counted so, as texts."""
        return [text for one in self.tables for text in shown_keys(one.name, of(one.metrics))]

    def plus(self, other: Applied) -> Applied:
        """Both together."""
        return Applied(
            tables=self.tables + other.tables,
            rebuilt=self.rebuilt or other.rebuilt,
            waits_for=tuple(sorted({*self.waits_for, *other.waits_for})),
            stopped={**self.stopped, **other.stopped},
            executors=tuple(sorted({*self.executors, *other.executors})),
            held=self.held + other.held,
            unnamed=self.unnamed + other.unnamed,
            columns={**self.columns, **other.columns},
        )
