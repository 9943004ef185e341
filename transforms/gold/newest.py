"""Keys whose newest change alone decides what they are, picked out by comparing columns, a batch at a time.

Most sources send whole rows. Where all new changes of a key are newer than what gold has of it, and the newest gives
the whole row, the others do not matter, and neither do range deletes that are older than that newest change. Where all
of them are older than gold's reset position, or the newest is gold's own last change, the row stays as it is. So
does a base row without a change, where a table is made from its base and all changes behind it. All other keys go to
the fold (``stages``). The result is the same as if all went there, only sooner: a law holds the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.change import LogPosition
from transforms.column_types.registry import column_type
from transforms.feed.feed import Table
from transforms.gold.columns import (
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    IS_DELETED,
    KIND,
    LOG_POSITION,
    PARTS,
    RESET,
)
from transforms.gold.fold_rows import BASE, CHANGE, GOLD, MARKED, TOMBSTONE, position_matrix
from transforms.gold.folded_rows import CHANGED, MOST_KEYS_SHOWN, FoldMetrics, folded_schema
from transforms.gold.key_groups import FoldInput
from transforms.gold.range_deletes import RangeDelete

HOT = 50_000
"""A key with more rows is not held whole: the fold takes them as they come."""

_NO_TIME = -(2**63)
"""In place of the time of an event that has none: before all others, as in ``ordering.sort_key``."""

Numbers = np.ndarray[Any, Any]
"""Numbers or truths, one per row or per key."""


def whole_keys(
    batches: Iterable[pa.RecordBatch], parts: int
) -> Iterator[pa.RecordBatch | Iterator[pa.RecordBatch]]:
    """The rows in batches that part no key; a key with very many rows comes as an iterator, to be taken at once.

    ``parts``: how many parts a key has. The rows of a key come one after the other.
    """
    rest = iter(batches)
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in rest:
        if not batch.num_rows:
            continue
        ends = _keys_end(batch, parts)
        begin = 0 if len(ends) == 1 else int(ends[-2]) + 1
        continues = bool(held) and _is_one_key(held[-1], batch, parts)
        if begin == 0 and (continues or not held):
            held.append(batch)
            count += batch.num_rows
            if count > HOT:
                left: list[pa.RecordBatch] = []
                yield _of_one_key(held, rest, parts, left)
                held, count = left, sum(one.num_rows for one in left)
            continue
        yield _together([*held, batch.slice(0, begin)])
        held, count = [batch.slice(begin)], batch.num_rows - begin
    if held:
        yield _together(held)


def _of_one_key(
    held: list[pa.RecordBatch],
    rest: Iterator[pa.RecordBatch],
    parts: int,
    left: list[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """All rows of the key that is ``held``; what comes behind them in the last batch is ``left``."""
    yield from held
    for batch in rest:
        if not batch.num_rows:
            continue
        ends = _keys_end(batch, parts)
        if not _is_one_key(held[-1], batch, parts):
            left.append(batch)
            return
        first = int(ends[0]) + 1
        yield batch.slice(0, first)
        if first < batch.num_rows:
            left.append(batch.slice(first))
            return


def _together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    (whole,) = pa.Table.from_batches(batches).combine_chunks().to_batches() or [batches[0]]
    return whole


def _parts_of(batch: pa.RecordBatch, parts: int) -> list[pa.Array] | None:
    """The key's parts, an array each; None where a part is null, or the keys have not as many."""
    values = batch.column("key").flatten()
    if values.null_count or len(values) != parts * batch.num_rows:
        return None
    if parts == 1:
        return [values]
    return [values.take(pa.array(np.arange(at, len(values), parts))) for at in range(parts)]


def _keys_end(batch: pa.RecordBatch, parts: int) -> Numbers:
    """The number of the last row of each key."""
    count = batch.num_rows
    columns = _parts_of(batch, parts)
    if columns is None:
        keys = batch.column("key").to_pylist()
        differs = np.array([one != two for one, two in pairwise(keys)], bool)
    else:
        differs = np.zeros(count - 1, bool)
        for one in columns:
            differs |= pc.not_equal(one[1:], one[:-1]).to_numpy(zero_copy_only=False)
    return np.append(np.flatnonzero(differs), count - 1)


def _is_one_key(before: pa.RecordBatch, after: pa.RecordBatch, parts: int) -> bool:
    """Whether the last row of one batch and the first of the other are of one key."""
    one, other = before.column("key")[-1].as_py(), after.column("key")[0].as_py()
    return bool(one == other)


class Deletes(NamedTuple):
    """Where range deletes of a table stand, whichever keys they are for.

    ``last``: the last of all. ``first_new``: the first of those that the run brings; None where it brings none.
    """

    last: LogPosition
    first_new: LogPosition | None

    @classmethod
    def of(cls, range_deletes: Iterable[RangeDelete]) -> Self | None:
        """None where there are none."""
        changes = [one.change for one in range_deletes]
        if not changes:
            return None
        new = [change.log_position for change in changes if not change.is_past]
        return cls(max(change.log_position for change in changes), min(new, default=None))


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of a batch: their first and last rows, and the first row of each that is a change."""

    first: Numbers
    last: Numbers
    change: Numbers

    @property
    def sizes(self) -> Numbers:
        """How many rows each key has."""
        found: Numbers = self.last - self.first + 1
        return found


@dataclass(frozen=True, slots=True)
class Newest:
    """Decides keys by their newest changes.

    ``given``: what is known of the table. ``metrics``: where decided keys are counted. ``deletes``: where range deletes
    stand; None where there are none.
    """

    given: FoldInput
    metrics: FoldMetrics
    deletes: Deletes | None

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch | None, pa.RecordBatch]:
        """The keys that changed (``schema_of``), and the rows of those that the fold has to decide.

        The batch holds all rows of its keys, each key's in the order of ``what`` and ``log_position``.
        """
        looked_at = self._looked_at(batch)
        if looked_at is None:
            return None, batch
        keys, outcome = looked_at
        self._count(batch, keys, outcome)
        is_unsure = ~(outcome.newer | outcome.older | outcome.same)
        if not self.given.full_rebuild:
            # A row of gold without a change stays; a base row is a row of the table that is made.
            is_unsure &= (keys.change <= keys.last) | outcome.deleted
        rest = np.repeat(is_unsure, keys.sizes)
        made = self._changed(batch, keys.last[outcome.newer]) if outcome.newer.any() else None
        return made, batch.filter(pa.array(rest))

    def bases(self, batch: pa.RecordBatch) -> tuple[list[pa.Table], pa.RecordBatch]:
        """What ``stages.BASE_ROWS`` has of some keys, and the rows of those that the fold has to decide.

        The table is made from all changes. Decided are the keys that have nothing but a base row, and those without one
        whose newest change is a whole row, or a delete, and whose changes are of one stream.
        """
        looked_at = self._looked_at(batch)
        if looked_at is None or self.given.table.before_added:
            return [], batch
        keys, outcome = looked_at
        has_changes = keys.change <= keys.last
        is_alone = (keys.first == keys.last) & ~has_changes
        streams = pc.fill_null(batch.column("stream").dictionary_encode().indices, -1).to_numpy()
        is_one = np.minimum.reduceat(streams, keys.first) == np.maximum.reduceat(
            streams, keys.first
        )
        is_one &= ~_any(_truths(batch, "is_range_delete"), keys)
        is_whole = _has_effect(batch, "replace")[keys.last] | outcome.removes
        begins = (batch.column("what").to_numpy() == CHANGE)[keys.first]
        decided = outcome.newer & (is_alone | (begins & is_one & is_whole))
        rest = batch.filter(pa.array(np.repeat(~decided, keys.sizes)))
        there = decided & ~outcome.removes
        made = []
        for some, are_changes in ((there & is_alone, False), (there & ~is_alone, True)):
            if some.any():
                rows = batch.take(pa.array(keys.last[some]))
                made.append(_base_rows(rows, has_changes=are_changes))
        return made, rest

    def _looked_at(self, batch: pa.RecordBatch) -> tuple[_Keys, _Outcome] | None:
        """The keys of a batch, and what becomes of them; None where their rows cannot be compared by columns."""
        positions = position_matrix(batch.column("log_position"))
        table = self.given.table
        if positions is None or _parts_of(batch, len(table.key)) is None:
            return None
        what = batch.column("what").to_numpy()
        last = _keys_end(batch, len(table.key))
        first = np.append(0, last[:-1] + 1)
        is_change = (what == CHANGE).astype(np.int64)
        # Changes come last among the rows of a key.
        changes = np.add.reduceat(is_change, first)
        keys = _Keys(first, last, last - changes + 1)
        stands = _Standing.of(batch, positions, self.deletes)
        full_rebuild = self.given.full_rebuild
        return keys, _Outcome.of(table, batch, stands, keys, full_rebuild=full_rebuild)

    def _count(self, batch: pa.RecordBatch, keys: _Keys, outcome: _Outcome) -> None:
        """Count as the fold would."""
        is_event = _truths(batch, "is_new") & ~_truths(batch, "is_derived")
        is_event &= batch.column("what").to_numpy() == CHANGE
        events = np.add.reduceat(is_event.astype(np.int64), keys.first)
        metrics, decided = self.metrics, outcome.newer | outcome.older | outcome.same
        metrics.deliveries += int(events[decided].sum())
        metrics.keys += int(outcome.newer.sum())
        metrics.absent += int((outcome.newer & outcome.removes).sum())
        newest = is_event[keys.last][outcome.same]
        # The newest is a repeat of what gold has, and the ones before it are superseded by it.
        metrics.repeats += int(newest.sum())
        metrics.superseded += int(events[outcome.older].sum())
        metrics.superseded += int(events[outcome.same].sum() - newest.sum())
        if self.given.updates_find_rows:
            self._count_not_inserted(batch, keys, outcome)

    def _count_not_inserted(self, batch: pa.RecordBatch, keys: _Keys, outcome: _Outcome) -> None:
        """Count new rows that began with an update: the first change, or the first behind the last delete."""
        is_update = _truths(batch, "is_update")
        if not is_update.any():
            return
        rows = np.arange(batch.num_rows)
        is_change = batch.column("what").to_numpy() == CHANGE
        last_delete = np.maximum.reduceat(
            np.where(_has_effect(batch, "remove") & is_change, rows, -1), keys.first
        )
        begins = np.minimum(np.maximum(last_delete + 1, keys.change), keys.last)
        is_new = (last_delete >= keys.change) | ~outcome.is_present
        found = np.flatnonzero(outcome.newer & ~outcome.removes & is_new & is_update[begins])
        shown = batch.column("key").take(pa.array(keys.last[found[:MOST_KEYS_SHOWN]])).to_pylist()
        self.metrics.count_never_inserted([tuple(key) for key in shown], len(found) - len(shown))

    def _changed(self, batch: pa.RecordBatch, rows: Numbers) -> pa.RecordBatch:
        """One row per key that has changed, from its newest change."""
        whole = batch.take(pa.array(rows))
        table, count = self.given.table, len(rows)
        effect = pc.if_else(pc.equal(whole.column("effect"), "remove"), "remove", "replace")
        images = _images_of(table, whole, effect)
        parts = _parts_of(whole, len(table.key))
        assert parts is not None  # looked at before
        keys = dict(zip(table.key, parts, strict=True))
        found: dict[str, pa.Array] = {
            KIND: pa.repeat(CHANGED, count),
            PARTS: whole.column("key"),
            LOG_POSITION: whole.column("log_position"),
            EVENT_ID: whole.column("event_id"),
            EVENT_AT: whole.column("event_at").cast(pa.timestamp("us", "UTC")),
            # The change gives the whole row: nothing older can matter.
            RESET: whole.column("log_position"),
            EFFECT: effect,
            IS_DELETED: pa.repeat(False, count),
        }
        for name, kind in table.columns.items():
            found[name] = column_type(kind).typed_array(keys.get(name, images.get(name)))
        schema = folded_schema(table)
        cells = [
            found[one.name] if one.name in found else pa.nulls(count, one.type) for one in schema
        ]
        return pa.RecordBatch.from_arrays(
            [cell.cast(one.type) for cell, one in zip(cells, schema, strict=True)], schema=schema
        )


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where each row of a batch stands.

    ``whole``: its position, filled up to the longest (``position_matrix``); ``lengths``: how long each is.
    ``stable``: how many of its numbers are the same in every delivery; all of them where it is no change. ``deletes``:
    where the table's range deletes stand; None where there are none.
    """

    whole: Numbers
    lengths: Numbers
    stable: Numbers
    deletes: Deletes | None

    @classmethod
    def of(cls, batch: pa.RecordBatch, whole: Numbers, deletes: Deletes | None) -> Self:
        """Where the rows of this batch stand."""
        lengths = np.diff(batch.column("log_position").offsets.to_numpy())
        is_change = batch.column("what").to_numpy() == CHANGE
        prefixes = batch.column("dedup_prefix").to_numpy()
        return cls(whole, lengths, np.where(is_change, prefixes, whole.shape[1]), deletes)

    def is_behind(self, rows: Numbers) -> Numbers:
        """Of some rows whether all range deletes stand before them."""
        if self.deletes is None:
            return np.ones(len(rows), bool)
        is_greater, begins_alike = _compared(self.whole[rows], self.deletes.last)
        is_longer = self.lengths[rows] > len(self.deletes.last)
        found: Numbers = is_greater | (begins_alike & is_longer)
        return found

    def is_reset_behind(self, resets: Numbers) -> Numbers:
        """The same of reset positions, of which only as much is compared as the delete's position has."""
        if self.deletes is None:
            return np.ones(len(resets), bool)
        return _compared(resets, self.deletes.last)[0]

    def is_before_new(self, rows: Numbers) -> Numbers:
        """Of some rows whether all range deletes that the run brings certainly stand behind them."""
        if self.deletes is None or self.deletes.first_new is None:
            return np.ones(len(rows), bool)
        is_greater, begins_alike = _compared(self.whole[rows], self.deletes.first_new)
        found: Numbers = ~(is_greater | begins_alike)
        return found

    @property
    def brings_deletes(self) -> bool:
        """Whether the run brings range deletes, which may be for rows without a change."""
        return self.deletes is not None and self.deletes.first_new is not None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of each key; at most one of the first three is true, and none where the fold has to decide.

    ``newer``: all changes are newer than what gold has; ``older``: all are older; ``same``: the newest is what gold
    has. ``removes``: the newest change is a delete. ``deleted``: a range delete may be for what gold has.
    ``is_present``: gold has a row that is not marked as deleted.
    """

    newer: Numbers
    older: Numbers
    same: Numbers
    removes: Numbers
    deleted: Numbers
    is_present: Numbers

    @classmethod
    def of(
        cls,
        table: Table,
        batch: pa.RecordBatch,
        stands: _Standing,
        keys: _Keys,
        *,
        full_rebuild: bool,
    ) -> _Outcome:
        positions = stands.whole
        what = batch.column("what").to_numpy()
        has_changes = keys.change <= keys.last
        change = np.minimum(keys.change, keys.last)
        is_change = what == CHANGE
        mixed = _any(_needs_order(batch, stands, keys), keys)
        removes = _has_effect(batch, "remove") & is_change
        newest_is_whole = _is_whole(table, batch, removes)[keys.last] & stands.is_behind(keys.last)
        if full_rebuild:
            newest_counts = has_changes & newest_is_whole & ~mixed
            return cls.from_base(batch, stands, keys, newest_counts, removes[keys.last])
        rows, stones = (
            np.add.reduceat((what == one).astype(np.int64), keys.first) for one in (GOLD, TOMBSTONE)
        )
        strange = _any(~is_change & (what != GOLD) & (what != TOMBSTONE), keys)
        # Rows come before tombstones, and each kind in the order of its positions.
        stone = np.where(has_changes, np.maximum(change - 1, keys.first), keys.last)
        has_stored = (rows + stones) > 0
        row_is_newer = (stones == 0) | _less(positions[stone], positions[keys.first])
        # Whether a change is newer than what is stored is asked of as many numbers as are stable in it.
        stable = stands.stable[change]
        mixed |= has_stored & _any(np.repeat(stable, keys.sizes) != stands.stable, keys, is_change)
        # Several rows were written by somebody else, and a row beside a newer tombstone is left by a crash.
        clean = has_changes & ~mixed & ~strange & ((rows == 0) | ((rows == 1) & row_is_newer))
        stored = np.where(rows > 0, keys.first, stone)
        resets, has_reset = _resets_of(batch, positions.shape[1])
        # New range deletes stand behind what gold has, or before its reset position; else the fold has to look.
        stays = has_reset[stored] & stands.is_reset_behind(resets[stored])
        is_before = stands.is_before_new(stored)
        follows = _less(positions[stored], positions[change], stable)
        newer = newest_is_whole & (~has_stored | ((stays | is_before) & follows))
        reset, has_reset = resets[stored], stays & has_stored
        older = has_reset & _less(positions[keys.last], reset, stable)
        same = _is_same(batch, stands, (keys.last, stored), reset, has_reset)
        # What is absent stays so; what somebody else wrote, or a crash left, is not as it should be.
        is_odd = (rows > 1) | ((rows == 1) & ~row_is_newer)
        deleted = stands.brings_deletes & ((~stays & ~((rows == 0) & is_before)) | is_odd)
        clear = (clean & newer, clean & ~newer & older, clean & ~newer & same)
        is_live = (rows > 0) & ~(_has_effect(batch, MARKED) & ~is_change)[keys.first]
        return cls(*clear, removes[keys.last], deleted, is_live)

    @classmethod
    def from_base(
        cls,
        batch: pa.RecordBatch,
        stands: _Standing,
        keys: _Keys,
        newest_counts: Numbers,
        removes: Numbers,
    ) -> _Outcome:
        """What becomes of keys in a table that is made from its base rows and all changes.

        ``newest_counts``: whether the newest change alone says what the key is; ``removes``: that it is a delete.
        """
        what = batch.column("what").to_numpy()
        is_base = what == BASE
        is_strange = _any((what != CHANGE) & ~is_base, keys)
        # A change never stands before the base row of its key. One that is marked is a matter for the fold.
        has_base = is_base[keys.first]
        is_live = has_base & ~_has_effect(batch, MARKED)[keys.first]
        stays = (keys.change > keys.last) & is_live & (stands.deletes is None)
        nothing = is_strange & False
        newer = (newest_counts | stays) & ~is_strange
        return cls(newer, nothing, nothing, removes, nothing, is_live)


def _is_whole(table: Table, batch: pa.RecordBatch, removes: Numbers) -> Numbers:
    """Whether what a key is after each change is said by that change alone."""
    is_whole: Numbers = _has_effect(batch, "replace") | _updates_all(table, batch)
    # A row that stays, marked, has values that older changes gave it.
    return is_whole if table.marks_deletes else is_whole | removes


def _is_same(
    batch: pa.RecordBatch,
    stands: _Standing,
    rows: tuple[Numbers, Numbers],
    reset: Numbers,
    has_reset: Numbers,
) -> Numbers:
    """Of each key whether its newest change is the one that gold has; ``rows``: of the one, and of the other."""
    changes, stored = rows
    newest, last = stands.whole[changes], stands.whole[stored]
    beyond = np.arange(last.shape[1]) >= stands.stable[changes][:, None]
    is_event = _are_equal(batch.column("event_id"), changes, stored)
    same = has_reset & is_event & ((newest == last) | beyond).all(axis=1)
    same &= ((reset == last) | beyond).all(axis=1)
    # Of several deliveries the smallest position counts, and the earliest time: the row would have to be given these.
    same &= ~_less(newest, last)
    at = pc.fill_null(batch.column("event_at").cast(pa.int64()), _NO_TIME).to_numpy()
    found: Numbers = same & (at[changes] >= at[stored])
    return found


def _has_effect(batch: pa.RecordBatch, effect: str) -> Numbers:
    """Of each row whether its change has an effect; rows that are no changes have none."""
    has = pc.fill_null(pc.equal(batch.column("effect"), effect), False)
    found: Numbers = has.to_numpy(zero_copy_only=False)
    return found


def _compared(positions: Numbers, other: LogPosition) -> tuple[Numbers, Numbers]:
    """Of each position whether it is greater than another, and whether one of the two begins the other."""
    is_greater = np.zeros(len(positions), bool)
    is_equal = np.ones(len(positions), bool)
    for at, number in enumerate(other[: positions.shape[1]]):
        is_greater |= is_equal & (positions[:, at] > number)
        is_equal &= positions[:, at] == number
    return is_greater, is_equal


def _are_equal(column: pa.Array, ones: Numbers, others: Numbers) -> Numbers:
    """Of each pair of rows whether both have the same value."""
    pairs = (column.take(pa.array(rows)) for rows in (ones, others))
    found: Numbers = pc.equal(*pairs).to_numpy(zero_copy_only=False)
    return found


def _base_rows(rows: pa.RecordBatch, *, has_changes: bool) -> pa.Table:
    """What the base has of each of these keys, by its newest change (``has_changes``), or by its base row."""
    count, streams = rows.num_rows, rows.column("streams")
    if has_changes:
        of_each = rows.column("stream")
        ends = np.append(0, np.cumsum(of_each.is_valid().to_numpy(zero_copy_only=False)))
        offsets = pa.array(ends, pa.int32())
        streams = pa.ListArray.from_arrays(offsets, of_each.drop_null(), type=streams.type)
    last = {
        "log_position": rows.column("log_position"),
        "event_id": rows.column("event_id"),
        "event_at": rows.column("event_at").cast(pa.timestamp("us", "UTC")),
        "is_range_delete": pa.repeat(False, count),
    }
    state = {
        "effect": pa.repeat("replace", count),
        "columns": rows.column("after"),
        "copies": pa.repeat(pa.scalar(1, pa.int64()), count),
        "last": pa.StructArray.from_arrays([*last.values()], [*last]),
    }
    cells = {
        "key": rows.column("key"),
        "streams": streams,
        "state": pa.StructArray.from_arrays([*state.values()], [*state]),
    }
    return pa.table(cells)


def _needs_order(batch: pa.RecordBatch, stands: _Standing, keys: _Keys) -> Numbers:
    """Of each row whether comparing what is stable of its position does not tell how it stands among the key's rows."""
    what, positions = batch.column("what").to_numpy(), stands.whole
    # Two rows of a kind with one position, as far as it is the same in every delivery: the order within it is the
    # fold's.
    is_tied = np.zeros(len(what), bool)
    common = np.minimum(stands.stable[1:], stands.stable[:-1])
    beyond = np.arange(positions.shape[1]) >= common[:, None]
    is_tied[1:] = ((positions[1:] == positions[:-1]) | beyond).all(axis=1) & (what[1:] == what[:-1])
    is_tied[keys.first] = False
    found: Numbers = (stands.lengths == 0) | is_tied
    return found


def _any(rows: Numbers, keys: _Keys, among: Numbers | None = None) -> Numbers:
    """Of each key whether it is true of any of its rows; ``among``: of those for which this is true."""
    found: Numbers = np.logical_or.reduceat(rows if among is None else rows & among, keys.first)
    return found


def _less(ones: Numbers, others: Numbers, widths: Numbers | None = None) -> Numbers:
    """Of each pair of positions whether the one is smaller, number by number; ``widths``: of so many numbers."""
    less = np.zeros(len(ones), bool)
    equal = np.ones(len(ones), bool)
    for at in range(ones.shape[1]):
        if widths is not None:
            equal &= widths > at
        less |= equal & (ones[:, at] < others[:, at])
        equal &= ones[:, at] == others[:, at]
    return less


def _resets_of(batch: pa.RecordBatch, width: int) -> tuple[Numbers, Numbers]:
    """The reset positions as rows of numbers, and of each row whether it has one, of no more numbers than these."""
    column = batch.column("reset")
    sizes = np.diff(column.offsets.to_numpy())
    found = position_matrix(column, width)
    assert found is not None
    return found, (sizes > 0) & (sizes <= width)


def _truths(batch: pa.RecordBatch, name: str) -> Numbers:
    found: Numbers = batch.column(name).to_numpy(zero_copy_only=False)
    return found


def _updates_all(table: Table, batch: pa.RecordBatch) -> Numbers:
    """Of each row whether it is an update that mentions every column that is no part of the key, and combines none."""
    wanted = [name for name in table.columns if name not in table.key]
    updates = pc.fill_null(pc.equal(batch.column("effect"), "update"), False)
    found: Numbers = updates.to_numpy(zero_copy_only=False)
    if not found.any():
        return found
    plain = np.diff(batch.column("attribute_ops").offsets.to_numpy()) == 0
    images = batch.column("after")
    offsets = images.offsets.to_numpy()
    names = images.keys[offsets[0] : offsets[-1]]
    is_wanted = pc.is_in(names, pa.array(wanted, pa.string())).to_numpy(zero_copy_only=False)
    so_far = np.append(0, np.cumsum(is_wanted))
    mentioned = so_far[offsets[1:] - offsets[0]] - so_far[offsets[:-1] - offsets[0]]
    whole: Numbers = found & plain & (mentioned == len(wanted))
    return whole


def _images_of(table: Table, rows: pa.RecordBatch, effect: pa.Array) -> dict[str, pa.Array]:
    """The texts of each column that is no part of the key; null where the row is removed."""
    images = rows.column("after")
    offsets = images.offsets.to_numpy()
    names = images.keys[offsets[0] : offsets[-1]]
    items = images.items[offsets[0] : offsets[-1]]
    is_there = pc.equal(effect, "replace")
    wanted = [name for name in table.columns if name not in table.key]
    owners = np.repeat(np.arange(rows.num_rows), np.diff(offsets))
    found = {}
    for name in wanted:
        at = np.flatnonzero(pc.equal(names, name).to_numpy(zero_copy_only=False))
        if len(at) == rows.num_rows:
            texts = items.take(pa.array(at))
        else:
            index = np.full(rows.num_rows, -1)
            index[owners[at]] = at
            mask = index < 0
            texts = items.take(pa.array(index, mask=mask))
            if name in table.before_added:
                texts = pc.if_else(pa.array(mask), table.before_added[name], texts)
        found[name] = pc.if_else(is_there, texts, pa.scalar(None, pa.string()))
    return found
