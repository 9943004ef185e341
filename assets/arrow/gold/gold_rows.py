"""What comes out of a task that folds a gold table, in batches: changed keys, keys whose history is needed, counts.

Put here how a result becomes a row of ``gold_columns``. Not here: what becomes of a key (``gold_fold``,
``history_fold``), and what is done with the rows (``assets/gold/fold``).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from assets.arrow import canonical_texts, typed_values
from assets.arrow.gold import history_columns
from assets.arrow.gold.gold_columns import CHANGED, COUNTED, NEEDS_HISTORY, VERSION, out_schema
from assets.arrow.gold.key_groups import KeyGroup
from assets.arrow.gold.tally import Tally
from assets.columns.gold import (
    BLOB,
    COPY,
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    KEY,
    KIND,
    MENTIONS,
    PARTS,
    POSITION,
    RESET,
)
from transforms.feed.feed import Table
from transforms.gold.change import Key
from transforms.gold.history import Version
from transforms.gold.state import State

_BATCH_ROWS = 10_000


class Rows:
    """What comes out of one task; batches are taken out when there is much, and at the end."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._schema = out_schema(table)
        self._at = {name: number for number, name in enumerate(table.identity)}
        self._values = frozenset(table.columns).difference(table.identity)
        self._states: list[tuple[Key, int, str, State]] = []
        self._others: list[tuple[str, Key | None, bytes]] = []
        self._versions: list[tuple[Key, Version]] = []

    def put(
        self, key: Key, state: State, one: KeyGroup, tally: Tally, *, full_rebuild: bool
    ) -> None:
        """A key has changed; in a table without a key, each copy is a row, and so is each copy that is gone.

        Args:
            key: The key.
            state: What it is now.
            one: What is known of it.
            tally: The counts that the row goes into.
            full_rebuild: Whether the table is made from all changes.
        """
        tally.keys += 1
        tally.absent += state.effect == "remove"
        effect = state.effect
        if effect == "merge" and self._values <= state.columns.keys():
            # A merge of every column keeps no old value: the commit need not read the row.
            effect = "put"
        tally.merged += effect == "merge"
        last, known = state.last, None if one.current is None else one.current.state.last
        assert last is not None  # some change counted
        if known is not None and last[:2] <= known[:2]:
            tally.needs_tombstone_merge += state.effect == "remove"
            tally.drops_tombstone += state.effect != "remove" and last[:2] < known[:2]
        if last.is_scoped and (full_rebuild or one.copies):
            counts = tally.removed if state.effect == "remove" else tally.changed
            counts[last.event_id] += 1
        if self._table.key:
            self._states.append((key, 1, effect, state))
            return
        for copy in range(1, max(state.copies, one.copies, 1) + 1):
            self._states.append((key, copy, "put" if copy <= state.copies else "remove", state))

    def version(self, key: Key, version: Version) -> None:
        """One version of a key's row, in a table that keeps them."""
        self._versions.append((key, version))

    def ask(self, one: KeyGroup, tally: Tally) -> None:
        """A key's whole history has to be read; what gold has of it is passed on."""
        tally.needing_history += 1
        self._others.append((NEEDS_HISTORY, one.key, pickle.dumps((one.current, one.copies))))

    def full(self) -> Iterator[pa.RecordBatch]:
        """The rows there are, if there are enough for a batch."""
        if len(self._states) + len(self._others) + len(self._versions) >= _BATCH_ROWS:
            yield from self._batches()

    def rest(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        """The rows that are left, and the counts."""
        self._others.append((COUNTED, None, pickle.dumps(tally)))
        yield from self._batches()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self._versions:
            yield self._of_versions()
        yield self._batch()

    def _of_versions(self) -> pa.RecordBatch:
        some, table = self._versions, self._table
        self._versions = []
        arrays = {
            **history_columns.cells(table, some),
            KIND: [VERSION] * len(some),
            PARTS: [key for key, _ in some],
        }
        none = [None] * len(some)
        return pa.RecordBatch.from_arrays(
            [history_columns.array(arrays.get(one.name, none), one.type) for one in self._schema],
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
            POSITION: [state.last and state.last.position for _, _, _, state in states] + none,
            EVENT_ID: [state.last and state.last.event_id for _, _, _, state in states] + none,
            EVENT_AT: [state.last and state.last.event_at for _, _, _, state in states] + none,
            RESET: [state.reset for _, _, _, state in states] + none,
        }
        if not table.key:
            texts = {key: canonical_texts.key_text(key) for key, _, _, _ in states}
            arrays[KEY] = [texts[key] for key, _, _, _ in states] + none
            arrays[COPY] = [copy for _, copy, _, _ in states] + none
        for name, kind in table.columns.items():
            at = self._at.get(name)
            cells = [
                state.columns.get(name) if at is None else key[at] for key, _, _, state in states
            ]
            arrays[name] = typed_values.typed([*cells, *none], kind)
        return pa.RecordBatch.from_arrays(
            [
                history_columns.array(arrays.get(one.name, no_version), one.type)
                for one in self._schema
            ],
            schema=self._schema,
        )
