"""A small gold table's rows and tombstones as Arrow tables: from what its keys are, and back to keys.

Put here how a key's state becomes a row of gold, in this process. Not here: which rows are kept and written
(``gold_files``), versions (``assets/arrow/gold/history_columns.py``), and what comes out of Spark's tasks
(``assets/arrow/gold/gold_rows.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from assets.arrow import canonical_texts, typed_values
from assets.columns.gold import COPY, EVENT_AT, EVENT_ID, KEY, POSITION, RESET
from transforms.feed.feed import Table
from transforms.gold.change import Key
from transforms.gold.state import Last, State

_POSITION = pa.list_(pa.field("element", pa.int64()))
_OWN = {
    KEY: pa.string(),
    COPY: pa.int64(),
    POSITION: _POSITION,
    EVENT_ID: pa.string(),
    EVENT_AT: pa.timestamp("us", "UTC"),
    RESET: _POSITION,
}
_LAST = (POSITION, EVENT_ID, EVENT_AT, RESET)


def schema(table: Table) -> pa.Schema:
    """The columns of gold: those that are declared, then Weir's own."""
    declared = {name: typed_values.arrow_type(kind) for name, kind in table.columns.items()}
    own = _LAST if table.key else (KEY, COPY, *_LAST)
    return pa.schema([*declared.items(), *((name, _OWN[name]) for name in own)])


def tombstone_schema(table: Table) -> pa.Schema:
    """The columns of tombstones: the key, or what stands for it, and which change was the last."""
    columns = schema(table)
    return pa.schema([columns.field(name) for name in (*(table.key or (KEY,)), *_LAST)])


def keys_of(table: Table, rows: pa.Table) -> list[Key]:
    """The key of each row of gold, or of each tombstone, as canonical texts."""
    if not table.key:
        return [tuple(json.loads(text)) for text in rows[KEY].to_pylist()]
    kinds = table.columns
    parts = [canonical_texts.texts(rows[name], kinds[name]) for name in table.key]
    return [*zip(*parts, strict=True)]


def lasts_of(rows: pa.Table) -> Iterator[tuple[Last, tuple[int, ...] | None]]:
    """Of each row the last change that counted, and the reset position, below which nothing can matter."""
    moments = rows[EVENT_AT].cast(pa.int64()).to_pylist()
    cells = zip(*(rows[name].to_pylist() for name in (POSITION, EVENT_ID, RESET)), strict=True)
    for (position, event_id, reset), at in zip(cells, moments, strict=True):
        last = Last(tuple(position), event_id, at, is_scoped=False)
        yield last, None if reset is None else tuple(reset)


def gold_rows_of(table: Table, states: Mapping[Key, State]) -> pa.Table:
    """One row per key that is present; in a table without a key, one per copy of it."""
    if not table.key:
        copies = [(key, at) for key, one in states.items() for at in range(1, one.copies + 1)]
    else:
        copies = [(key, 1) for key in states]
    at = {name: number for number, name in enumerate(table.identity)}
    arrays = {
        name: typed_values.typed(
            [key[at[name]] if name in at else states[key].columns.get(name) for key, _ in copies],
            kind,
        )
        for name, kind in table.columns.items()
    }
    arrays |= _last_columns([states[key] for key, _ in copies])
    if not table.key:
        arrays[KEY] = pa.array([canonical_texts.key_text(key) for key, _ in copies], pa.string())
        arrays[COPY] = pa.array([number for _, number in copies], pa.int64())
    columns = schema(table)
    return pa.table([arrays[one.name] for one in columns], schema=columns)


def tombstones_of(table: Table, states: Mapping[Key, State]) -> pa.Table:
    """One row per key, each of which is absent now."""
    arrays = _last_columns([*states.values()])
    if table.key:
        for at, name in enumerate(table.key):
            parts = [key[at] for key in states]
            arrays[name] = typed_values.typed(parts, table.columns[name])
    else:
        arrays[KEY] = pa.array([canonical_texts.key_text(key) for key in states], pa.string())
    columns = tombstone_schema(table)
    return pa.table([arrays[one.name] for one in columns], schema=columns)


def _last_columns(states: Sequence[State]) -> dict[str, pa.Array]:
    """The columns that say which change was the last."""
    lasts = [one.last for one in states]
    return {
        POSITION: pa.array([one and one.position for one in lasts], _OWN[POSITION]),
        EVENT_ID: pa.array([one and one.event_id for one in lasts], _OWN[EVENT_ID]),
        EVENT_AT: pa.array([one and one.event_at for one in lasts], pa.int64()).cast(
            _OWN[EVENT_AT]
        ),
        RESET: pa.array([one.reset for one in states], _OWN[RESET]),
    }
