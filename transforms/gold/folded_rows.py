"""What the stages of gold make, in batches: changed keys, keys whose history is needed, versions, and counts."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from transforms.change import Key, text_of_key
from transforms.column_types.map_columns import NUMBERS, TEXTS
from transforms.column_types.registry import column_type
from transforms.feed.feed import Table
from transforms.gold.columns import (
    BEGAN_BY,
    BLOB,
    COPY,
    DELETED_AT,
    EFFECT,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    FROM_AT,
    IS_DELETED,
    KEY,
    KIND,
    LAST_CHANGE,
    LOG_POSITION,
    MENTIONS,
    PARTS,
    RESET,
    TO_AT,
    VALID_FROM,
    VALID_TO,
)
from transforms.gold.fold import State, Version
from transforms.gold.key_groups import KeyGroup

MOST_KEYS_SHOWN = 10
"""Maximum number of keys that are named of those that break a rule."""


@dataclass(slots=True)
class FoldMetrics:
    """What one task has counted.

    ``deliveries``: new events. ``repeats``, ``superseded``: those that had come before, and those that change nothing.
    ``keys``: keys that changed; ``updated``: those of which columns keep their old values. ``marked``: those that are
    marked as deleted now. ``absent``: keys that have no row now; ``needs_tombstone_merge``: those of them whose last
    change is no later than the one that gold had: their tombstone has to replace the old one, because appended it would
    not be the newest. ``drops_tombstone``: keys that are present although their tombstone is at a later position: that
    tombstone has to be deleted. ``needing_history``: keys that have to be folded from all their changes. ``refolded``:
    keys that were folded so, and ``keys_with_late_events`` those of them of which an event came late. ``ties``: keys
    with two events at one position. ``never_inserted``: keys whose row began with an update, or of which only some
    columns are known. ``not_truncated``: rows that a truncate of other streams may have removed, too.
    ``foreign_copies``: keys with several rows in gold. ``removed``, ``changed``: how many rows range deletes removed,
    or changed otherwise, by event; ``in_doubt``: how many rows there are that range deletes of other streams may be
    for, by event. ``late_keys``, ``tied_keys``, ``copied_keys``, ``partial_keys``, ``left_keys``: some of the keys that
    were counted so, at most ``MOST_KEYS_SHOWN`` of each.
    """

    deliveries: int = 0
    repeats: int = 0
    superseded: int = 0
    keys: int = 0
    marked: int = 0
    absent: int = 0
    needs_tombstone_merge: int = 0
    drops_tombstone: int = 0
    updated: int = 0
    needing_history: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    never_inserted: int = 0
    not_truncated: int = 0
    foreign_copies: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    in_doubt: Counter[str] = field(default_factory=Counter)
    late_keys: list[Key] = field(default_factory=list)
    tied_keys: list[Key] = field(default_factory=list)
    copied_keys: list[Key] = field(default_factory=list)
    partial_keys: list[Key] = field(default_factory=list)
    left_keys: list[Key] = field(default_factory=list)

    def add(self, other: FoldMetrics) -> None:
        """Add another task's counts."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            elif isinstance(mine, list):
                mine += theirs[: MOST_KEYS_SHOWN - len(mine)]
            else:
                setattr(self, name, mine + theirs)

    def count_never_inserted(self, keys: Sequence[Key], others: int = 0) -> None:
        """Keys whose rows began with an update, or are known in part; ``others``: how many more there are of them."""
        self.never_inserted += len(keys) + others
        for key in keys:
            show(key, self.partial_keys)

    def count_not_truncated(self, key: Key) -> None:
        """A row that a truncate of other streams may have removed, too."""
        self.not_truncated += 1
        show(key, self.left_keys)


def show(key: Key, shown: list[Key]) -> None:
    """Name a key among those that were counted, where there is room."""
    if len(shown) < MOST_KEYS_SHOWN:
        shown.append(key)


CHANGED, NEEDS_HISTORY, COUNTED, VERSION = "changed", "needs_history", "counted", "version"
"""What a row is: a row that gold has to take, a key whose history has to be read, a task's counts (``FoldMetrics``), or
a version of a key's row."""

_MOMENT: Final = pa.timestamp("us", "UTC")
_FIRST: Final = {KIND: pa.string(), PARTS: TEXTS, BLOB: pa.binary()}
_OF_COPY: Final = {KEY: pa.string(), COPY: pa.int64()}
_OF_LAST: Final = {LOG_POSITION: NUMBERS, EVENT_ID: pa.string(), EVENT_AT: _MOMENT, RESET: NUMBERS}
_OF_DELETE: Final = {IS_DELETED: pa.bool_(), DELETED_AT: _MOMENT}
_HOW: Final = {EFFECT: pa.string(), MENTIONS: TEXTS}
_OF_VERSION: Final = {
    **{VALID_FROM: NUMBERS, VALID_TO: NUMBERS, FROM_AT: _MOMENT, TO_AT: _MOMENT},
    **{BEGAN_BY: pa.string(), ENDED_BY: pa.string()},
}
_BATCH_ROWS = 10_000


def folded_schema(table: Table) -> pa.Schema:
    """The columns of what comes out: Weir's own around the declared ones."""
    own = {} if table.key else _OF_COPY
    of_version = _OF_VERSION if table.history else {}
    found = {**_FIRST, **_declared(table), **own, **_of_row(table), **_HOW, **of_version}
    return pa.schema([*found.items()])


def rows_schema(table: Table) -> pa.Schema:
    """The columns of a gold table: those that are declared, then Weir's own."""
    own = {} if table.key else _OF_COPY
    return pa.schema([*{**_declared(table), **own, **_of_row(table)}.items()])


def _of_row(table: Table) -> dict[str, pa.DataType]:
    return {**_OF_LAST, **_OF_DELETE} if table.marks_deletes else _OF_LAST


def tombstones_schema(table: Table) -> pa.Schema:
    """The columns of its tombstones: the key, or what stands for it, and which change was the last."""
    columns = rows_schema(table)
    return pa.schema([columns.field(name) for name in (*(table.key or (KEY,)), *LAST_CHANGE)])


def versions_schema(table: Table) -> pa.Schema:
    """The columns of its table of versions: the declared ones, then Weir's own."""
    return pa.schema([*{**_declared(table), **_OF_VERSION}.items()])


def _declared(table: Table) -> dict[str, pa.DataType]:
    return {name: column_type(kind).arrow for name, kind in table.columns.items()}


class FoldedRows:
    """What comes out of one task; batches are taken out when there is much, and at the end."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._schema = folded_schema(table)
        self._at = {name: number for number, name in enumerate(table.identity)}
        self._values = frozenset(table.columns).difference(table.identity)
        self._states: list[tuple[Key, int, str, State]] = []
        self._others: list[tuple[str, Key | None, bytes]] = []
        self._versions: list[tuple[Key, Version]] = []
        self._decided: list[pa.RecordBatch] = []

    def put(
        self, key: Key, state: State, one: KeyGroup, metrics: FoldMetrics, *, full_rebuild: bool
    ) -> None:
        """A key has changed; in a table without a key, each copy is a row, and so is each copy that is gone."""
        metrics.keys += 1
        metrics.absent += state.effect == "remove"
        metrics.marked += state.is_deleted
        effect = state.effect
        if effect == "update" and self._values <= state.columns.keys():
            # An update of every column keeps no old value: the commit need not read the row.
            effect = "replace"
        metrics.updated += effect == "update"
        last, known = state.last, None if one.stored is None else one.stored.state.last
        assert last is not None  # some change counted
        if known is not None and last[:2] <= known[:2]:
            metrics.needs_tombstone_merge += state.effect == "remove"
            metrics.drops_tombstone += state.effect != "remove" and last[:2] < known[:2]
        was_marked = one.stored is not None and one.stored.state.is_deleted
        if last.is_range_delete and (full_rebuild or (one.copies and not was_marked)):
            counts = metrics.changed if state.is_live else metrics.removed
            counts[last.event_id] += 1
        if self._table.key:
            self._states.append((key, 1, effect, state))
            return
        for copy in range(1, max(state.copies, one.copies, 1) + 1):
            self._states.append((key, copy, "replace" if copy <= state.copies else "remove", state))

    def version(self, key: Key, version: Version) -> None:
        """One version of a key's row, in a table that keeps them."""
        self._versions.append((key, version))

    def ask(self, one: KeyGroup, metrics: FoldMetrics) -> None:
        """A key's whole history has to be read; what gold has of it is passed on."""
        metrics.needing_history += 1
        self._others.append((NEEDS_HISTORY, one.key, pickle.dumps((one.stored, one.copies))))

    def decide(self, batch: pa.RecordBatch) -> None:
        """Rows of keys that changed, whole and counted already."""
        self._decided.append(batch)

    def decided(self) -> Iterator[pa.RecordBatch]:
        """Those rows."""
        found, self._decided = self._decided, []
        yield from found

    def full(self) -> Iterator[pa.RecordBatch]:
        """The rows there are, if there are enough for a batch."""
        if len(self._states) + len(self._others) + len(self._versions) >= _BATCH_ROWS:
            yield from self._batches()

    def rest(self, metrics: FoldMetrics) -> Iterator[pa.RecordBatch]:
        """The rows that are left, and the counts."""
        self._others.append((COUNTED, None, pickle.dumps(metrics)))
        yield from self._batches()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self._versions:
            yield self._of_versions()
        yield self._batch()

    def _of_versions(self) -> pa.RecordBatch:
        some, table = self._versions, self._table
        self._versions = []
        arrays = {
            **_cells_of_versions(table, some),
            KIND: [VERSION] * len(some),
            PARTS: [key for key, _ in some],
        }
        none = [None] * len(some)
        return pa.RecordBatch.from_arrays(
            [_array(arrays.get(one.name, none), one.type) for one in self._schema],
            schema=self._schema,
        )

    def _batch(self) -> pa.RecordBatch:
        states, others, table = self._states, self._others, self._table
        self._states, self._others = [], []
        none = [None] * len(others)
        no_version = [None] * (len(states) + len(others))
        arrays: dict[str, Sequence[Any] | pa.Array] = {
            KIND: [CHANGED] * len(states) + [kind for kind, _, _ in others],
            PARTS: [key for key, _, _, _ in states] + [key for _, key, _ in others],
            BLOB: [None] * len(states) + [blob for _, _, blob in others],
            EFFECT: [effect for _, _, effect, _ in states] + none,
            MENTIONS: [
                None if effect == "remove" else [*state.columns] for _, _, effect, state in states
            ]
            + none,
            LOG_POSITION: [state.last and state.last.log_position for _, _, _, state in states]
            + none,
            EVENT_ID: [state.last and state.last.event_id for _, _, _, state in states] + none,
            EVENT_AT: [state.last and state.last.event_at for _, _, _, state in states] + none,
            RESET: [state.reset for _, _, _, state in states] + none,
            IS_DELETED: [state.is_deleted for _, _, _, state in states] + none,
            DELETED_AT: [
                state.last.event_at if state.is_deleted and state.last else None
                for _, _, _, state in states
            ]
            + none,
        }
        if not table.key:
            texts = {key: text_of_key(key) for key, _, _, _ in states}
            arrays[KEY] = [texts[key] for key, _, _, _ in states] + none
            arrays[COPY] = [copy for _, copy, _, _ in states] + none
        for name, kind in table.columns.items():
            at = self._at.get(name)
            cells = [
                state.columns.get(name) if at is None else key[at] for key, _, _, state in states
            ]
            arrays[name] = column_type(kind).typed([*cells, *none])
        return pa.RecordBatch.from_arrays(
            [_array(arrays.get(one.name, no_version), one.type) for one in self._schema],
            schema=self._schema,
        )


def _cells_of_versions(
    table: Table, versions: Sequence[tuple[Key, Version]]
) -> dict[str, Sequence[Any] | pa.Array]:
    """The values of each column, one per version; times are in microseconds since 1970 (UTC)."""
    found: dict[str, Sequence[Any] | pa.Array] = {
        VALID_FROM: [one.began.log_position for _, one in versions],
        VALID_TO: [one.ended and one.ended.log_position for _, one in versions],
        FROM_AT: [one.began.event_at for _, one in versions],
        TO_AT: [one.ended and one.ended.event_at for _, one in versions],
        BEGAN_BY: [one.began.event_id for _, one in versions],
        ENDED_BY: [one.ended and one.ended.event_id for _, one in versions],
    }
    places = {name: number for number, name in enumerate(table.identity)}
    for name, kind in table.columns.items():
        at = places.get(name)
        of_column = [one.columns.get(name) if at is None else key[at] for key, one in versions]
        found[name] = column_type(kind).typed(of_column)
    return found


def _array(values: Sequence[Any] | pa.Array, kind: pa.DataType) -> pa.Array:
    """One column's values as an array; times come in microseconds since 1970."""
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)
