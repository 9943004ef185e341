"""One small gold table and its tombstones, read and rewritten whole in this process.

Rewriting a table of some thousand rows takes delta-rs some hundredths of a second, and leaves one file; Spark's MERGE
into it takes seconds. Not here: which rows (``transforms/gold``), and larger tables (``gold_tables``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from assets.arrow import typed_values
from assets.columns.gold import COPY, EVENT_AT, EVENT_ID, KEY, POSITION, RESET
from assets.delta.local_table import LocalTable, may_be_rewritten
from assets.gold.gold_tables import WHOLE_KEY, has_whole_key
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.state import Last, State

_PLACE = pa.list_(pa.field("element", pa.int64()))
_OWN = {
    KEY: pa.string(),
    COPY: pa.int64(),
    POSITION: _PLACE,
    EVENT_ID: pa.string(),
    EVENT_AT: pa.timestamp("us", "UTC"),
    RESET: _PLACE,
}
_LAST = (POSITION, EVENT_ID, EVENT_AT, RESET)


# Without slots: what is read is kept.
@dataclass(frozen=True)
class GoldFiles:
    """One gold table with its tombstones."""

    table: Table
    gold: LocalTable
    tombstones: LocalTable

    @classmethod
    def of(cls, lake: Lake, feed: Feed, table: Table, name: str) -> GoldFiles:
        """The tables as they are now."""
        tables = (lake.local_table(Layer.GOLD, feed.name, one) for one in (name, name + TOMBSTONES))
        return cls(table, *tables)

    @property
    def exists(self) -> bool:
        """Whether both are there."""
        return self.gold.table is not None and self.tombstones.table is not None

    @property
    def is_small(self) -> bool:
        """Whether both may be rewritten whole."""
        return may_be_rewritten(self.gold, self.tombstones)

    @cached_property
    def _columns(self) -> pa.Schema:
        kinds = {name: typed_values.arrow_type(kind) for name, kind in self.table.columns.items()}
        own = (*self._own_key, *_LAST)
        return pa.schema([*kinds.items(), *((name, _OWN[name]) for name in own)])

    @property
    def _own_key(self) -> tuple[str, ...]:
        return () if self.table.key else (KEY, COPY)

    @cached_property
    def _tombstone_columns(self) -> pa.Schema:
        own = self.table.key or (KEY,)
        return pa.schema([self._columns.field(name) for name in (*own, *_LAST)])

    @cached_property
    def rows(self) -> pa.Table:
        """Gold's rows."""
        return self.gold.read(self._columns)

    @cached_property
    def keys(self) -> list[Key]:
        """The key of each of them."""
        return self._keys_of(self.rows)

    @cached_property
    def tombstone_rows(self) -> pa.Table:
        """The tombstones, the newest of each key."""
        rows = self.tombstones.read(self._tombstone_columns)
        newest: dict[Key, tuple[tuple[list[int], str], int]] = {}
        places = zip(rows[POSITION].to_pylist(), rows[EVENT_ID].to_pylist(), strict=True)
        for at, (key, place) in enumerate(zip(self._keys_of(rows), places, strict=True)):
            known = newest.get(key)
            if known is None or known[0] < place:
                newest[key] = (place, at)
        return typed_values.rows_at(rows, [at for _, at in newest.values()])

    @cached_property
    def tombstone_keys(self) -> list[Key]:
        """The key of each of them."""
        return self._keys_of(self.tombstone_rows)

    def _keys_of(self, rows: pa.Table) -> list[Key]:
        if not self.table.key:
            return [tuple(json.loads(text)) for text in rows[KEY].to_pylist()]
        kinds = self.table.columns
        parts = [typed_values.texts(rows[name], kinds[name]) for name in self.table.key]
        return [*zip(*parts, strict=True)]

    def current(self, keys: Collection[Key] | None) -> dict[Key, Current]:
        """What the tables have of these keys, or of all: the newer of row and tombstone, with the row's values."""
        places: dict[Key, list[int]] = {}
        for at, key in enumerate(self.keys):
            if keys is None or key in keys:
                places.setdefault(key, []).append(at)
        found = self._current_rows(places)
        buried = [at for at, key in enumerate(self.tombstone_keys) if keys is None or key in keys]
        places_of = _places(typed_values.rows_at(self.tombstone_rows, buried))
        for at, (last, reset) in zip(buried, places_of, strict=True):
            key = self.tombstone_keys[at]
            row = found[key].state.last if key in found else None
            if row is None or row.position < last.position:
                state = State("remove", {}, 0, last, reset)
                found[key] = Current(state, is_torn=row is not None)
        return found

    def foreign_copies(self, keys: Collection[Key]) -> int:
        """How many of these keys have several rows, which somebody else has put there."""
        if not self.table.key:
            return 0
        copies = Counter(key for key in self.keys if key in keys)
        return sum(count > 1 for count in copies.values())

    def _current_rows(self, places: Mapping[Key, Sequence[int]]) -> dict[Key, Current]:
        """The rows at the first of each key's places; of a table without a key there are as many as it has copies."""
        rows = typed_values.rows_at(self.rows, [some[0] for some in places.values()])
        images: list[dict[str, str | None]] = [{} for _ in places]
        if self.table.key:
            for name, kind in self.table.columns.items():
                for image, text in zip(images, typed_values.texts(rows[name], kind), strict=True):
                    image[name] = text
        cells = zip(places.items(), images, _places(rows), strict=True)
        return {
            key: Current(State("put", image, len(some), last, reset))
            for (key, some), image, (last, reset) in cells
        }

    def put(self, states: Mapping[Key, State]) -> tuple[int, int]:
        """Put what these keys are now in place of what they were, tombstones first; how many rows each table has.

        A crash between the two leaves a row that its tombstone is newer than: the same run, once more, removes it.
        """
        absent = {key: one for key, one in states.items() if one.effect == "remove"}
        stones, rows = self.tombstone_rows, self.rows
        if absent:
            kept = [at for at, key in enumerate(self.tombstone_keys) if key not in absent]
            new = self._tombstones_of(absent)
            stones = pa.concat_tables([typed_values.rows_at(stones, kept), new])
            self.tombstones.write(stones)
        kept = [at for at, key in enumerate(self.keys) if key not in states]
        present = {key: one for key, one in states.items() if one.effect != "remove"}
        if present or len(kept) < rows.num_rows:
            rows = pa.concat_tables([typed_values.rows_at(rows, kept), self._rows_of(present)])
            self.gold.write(rows)
        if above := self._above(present):
            # Only now: a tombstone that goes before its row is there would leave nothing that says what came before.
            left = [at for at, key in enumerate(self._keys_of(stones)) if key not in above]
            stones = typed_values.rows_at(stones, left)
            self.tombstones.write(stones)
        return rows.num_rows, stones.num_rows

    def _above(self, present: Mapping[Key, State]) -> set[Key]:
        """The keys of which a tombstone stands behind the last change of the row that they have now."""
        places = zip(self.tombstone_keys, self.tombstone_rows[POSITION].to_pylist(), strict=True)
        lasts = {key: one.last.position for key, one in present.items() if one.last is not None}
        return {key for key, position in places if key in lasts and tuple(position) > lasts[key]}

    def create(self, states: Mapping[Key, State], properties: Mapping[str, str]) -> tuple[int, int]:
        """Write both tables anew; how many rows each has."""
        present = {key: one for key, one in states.items() if one.effect != "remove"}
        absent = {key: one for key, one in states.items() if one.effect == "remove"}
        stones, rows = self._tombstones_of(absent), self._rows_of(present)
        self.tombstones.write(stones, {})
        self.gold.write(rows, properties, (WHOLE_KEY, has_whole_key(self.table)))
        return rows.num_rows, stones.num_rows

    def _rows_of(self, states: Mapping[Key, State]) -> pa.Table:
        if not self.table.key:
            copies = [(key, at) for key, one in states.items() for at in range(1, one.copies + 1)]
        else:
            copies = [(key, 1) for key in states]
        at = {name: number for number, name in enumerate(self.table.identity)}
        arrays = {
            name: typed_values.typed(
                [
                    key[at[name]] if name in at else states[key].columns.get(name)
                    for key, _ in copies
                ],
                kind,
            )
            for name, kind in self.table.columns.items()
        }
        arrays |= _last([states[key] for key, _ in copies])
        if not self.table.key:
            arrays[KEY] = pa.array([typed_values.key_text(key) for key, _ in copies], pa.string())
            arrays[COPY] = pa.array([number for _, number in copies], pa.int64())
        return pa.table([arrays[one.name] for one in self._columns], schema=self._columns)

    def _tombstones_of(self, states: Mapping[Key, State]) -> pa.Table:
        arrays = _last([*states.values()])
        if self.table.key:
            for at, name in enumerate(self.table.key):
                parts = [key[at] for key in states]
                arrays[name] = typed_values.typed(parts, self.table.columns[name])
        else:
            arrays[KEY] = pa.array([typed_values.key_text(key) for key in states], pa.string())
        columns = self._tombstone_columns
        return pa.table([arrays[one.name] for one in columns], schema=columns)


def _places(rows: pa.Table) -> Iterator[tuple[Last, tuple[int, ...] | None]]:
    """Of each row the last change that counted, and the reset position."""
    moments = rows[EVENT_AT].cast(pa.int64()).to_pylist()
    cells = zip(*(rows[name].to_pylist() for name in (POSITION, EVENT_ID, RESET)), strict=True)
    for (position, event_id, reset), at in zip(cells, moments, strict=True):
        last = Last(tuple(position), event_id, at, is_scoped=False)
        yield last, None if reset is None else tuple(reset)


def _last(states: Sequence[State]) -> dict[str, pa.Array]:
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
