"""What comes out of the tasks that fold a gold table: rows to put, keys whose history is asked for, and counts.

Not here: what becomes of a key (``gold_fold``), and what is done with the rows (``spark_apply``).
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from assets.arrow import history_columns, typed_values
from assets.arrow.meetings import Meeting
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
from assets.columns.history import (
    BEGAN_BY,
    ENDED_BY,
    FROM_AT,
    TO_AT,
    VALID_FROM,
    VALID_TO,
)
from transforms.feed.feed import Table
from transforms.gold.change import Key
from transforms.gold.history import Version
from transforms.gold.state import State
from transforms.types import stored

CHANGED, UNTOLD, COUNTED, VERSION = "changed", "untold", "counted", "version"
"""What comes out: a row that gold has to take, a key whose history has to be read, and a task's counts (``Tally``)."""

_TEXTS = pa.list_(pa.field("element", pa.string()))
_PLACE = pa.list_(pa.field("element", pa.int64()))
_FIRST = {
    f"{KIND} string": (KIND, pa.string()),
    f"{PARTS} array<string>": (PARTS, _TEXTS),
    f"{BLOB} binary": (BLOB, pa.binary()),
}
_LAST = {
    f"{POSITION} array<bigint>": (POSITION, _PLACE),
    f"{EVENT_ID} string": (EVENT_ID, pa.string()),
    f"{EVENT_AT} timestamp": (EVENT_AT, pa.timestamp("us", "UTC")),
    f"{RESET} array<bigint>": (RESET, _PLACE),
    f"{EFFECT} string": (EFFECT, pa.string()),
    f"{MENTIONS} array<string>": (MENTIONS, _TEXTS),
}
_VERSION = {
    f"{VALID_FROM} array<bigint>": VALID_FROM,
    f"{VALID_TO} array<bigint>": VALID_TO,
    f"{FROM_AT} timestamp": FROM_AT,
    f"{TO_AT} timestamp": TO_AT,
    f"{BEGAN_BY} string": BEGAN_BY,
    f"{ENDED_BY} string": ENDED_BY,
}

_BATCH_ROWS = 10_000


@dataclass(slots=True)
class Tally:
    """What one task has met.

    ``absent``: keys that are gone, ``receded``: those of them whose last change stands no later than the one that gold
    had, so that a tombstone beside the old one would not be the newest. ``risen``: keys that are there, by changes that
    stand before their tombstone. ``refolded``: keys that were folded from their history, and ``keys_with_late_events``
    those of them of which an event came late. ``removed``, ``changed``: rows that scoped changes removed, and others
    that they changed, by event.
    """

    deliveries: int = 0
    repeats: int = 0
    superseded: int = 0
    keys: int = 0
    absent: int = 0
    receded: int = 0
    risen: int = 0
    merged: int = 0
    untold: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    foreign_copies: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Take another task's counts."""
        for name in self.__slots__:
            if name in ("removed", "changed"):
                getattr(self, name).update(getattr(other, name))
            else:
                setattr(self, name, getattr(self, name) + getattr(other, name))


class Rows:
    """What comes out of a task, in batches."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._schema = out_schema(table)
        self._at = {name: number for number, name in enumerate(table.identity)}
        self._values = frozenset(table.columns).difference(table.identity)
        self._states: list[tuple[Key, int, str, State]] = []
        self._others: list[tuple[str, Key | None, bytes]] = []
        self._versions: list[tuple[Key, Version]] = []

    def put(
        self, key: Key, state: State, one: Meeting, tally: Tally, *, full_rebuild: bool
    ) -> None:
        """A key has changed; of one without a row's key each copy is a row, and those that are no more."""
        tally.keys += 1
        tally.absent += state.effect == "remove"
        effect = state.effect
        if effect == "merge" and self._values <= state.columns.keys():
            # What says every column takes nothing from the row: of that, the commit need not read the columns.
            effect = "put"
        tally.merged += effect == "merge"
        last, known = state.last, None if one.current is None else one.current.state.last
        assert last is not None  # some change counted
        if known is not None and last[:2] <= known[:2]:
            tally.receded += state.effect == "remove"
            tally.risen += state.effect != "remove" and last[:2] < known[:2]
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

    def ask(self, one: Meeting, tally: Tally) -> None:
        """A key's history has to be read; what gold has of it goes along."""
        tally.untold += 1
        self._others.append((UNTOLD, one.key, pickle.dumps((one.current, one.copies))))

    def full(self) -> Iterator[pa.RecordBatch]:
        """What there is, if it is much."""
        if len(self._states) + len(self._others) + len(self._versions) >= _BATCH_ROWS:
            yield from self._batches()

    def rest(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        """What there is, and the counts."""
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
            texts = {key: typed_values.key_text(key) for key, _, _, _ in states}
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


def out_columns(table: Table) -> str:
    """The columns of what comes out, in Spark's words."""
    own = [] if table.key else [f"{KEY} string", f"{COPY} bigint"]
    declared = [f"`{name}` {stored(kind)}" for name, kind in table.columns.items()]
    return ", ".join([*_FIRST, *declared, *own, *_LAST, *(_VERSION if table.history else ())])


def out_schema(table: Table) -> pa.Schema:
    """The same for Arrow."""
    own = [] if table.key else [(KEY, pa.string()), (COPY, pa.int64())]
    declared = [(name, typed_values.arrow_type(kind)) for name, kind in table.columns.items()]
    of_version = history_columns.OWN.items() if table.history else ()
    return pa.schema([*_FIRST.values(), *declared, *own, *_LAST.values(), *of_version])
