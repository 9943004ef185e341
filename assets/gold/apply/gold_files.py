"""One small gold table and its tombstones, read and rewritten whole in this process.

Rewriting a table of some thousand rows takes delta-rs some hundredths of a second, and leaves one file; Spark's MERGE
into it takes seconds. Put here how the two files are read and written. Not here: what becomes of a key
(``transforms/gold``), how its state becomes a row (``gold_file_rows``), and larger tables (``spark_commits``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from assets.arrow import canonical_texts, typed_values
from assets.columns.gold import EVENT_ID, POSITION
from assets.delta.local_table import LocalTable, may_be_rewritten
from assets.gold.apply import gold_file_rows
from assets.gold.apply.gold_file_rows import gold_rows_of, keys_of, lasts_of, tombstones_of
from assets.gold.table_properties import WHOLE_KEY, has_whole_key
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed, Table
from transforms.feed.table_names import TOMBSTONES
from transforms.gold.change import Key
from transforms.gold.current import Current
from transforms.gold.state import State


# Without slots: what is read is kept in the instance.
@dataclass(frozen=True)
class GoldFiles:
    """The files of one gold table and of its tombstones."""

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
        """Whether both tables have been written."""
        return self.gold.table is not None and self.tombstones.table is not None

    @property
    def is_small(self) -> bool:
        """Whether both tables are small enough to be rewritten whole."""
        return may_be_rewritten(self.gold, self.tombstones)

    @cached_property
    def rows(self) -> pa.Table:
        """The rows of gold (``gold_file_rows.schema``)."""
        return self.gold.read(gold_file_rows.schema(self.table))

    @cached_property
    def keys(self) -> list[Key]:
        """The key of each row."""
        return keys_of(self.table, self.rows)

    @cached_property
    def tombstone_rows(self) -> pa.Table:
        """The newest tombstone of each key (``gold_file_rows.tombstone_schema``)."""
        rows = self.tombstones.read(gold_file_rows.tombstone_schema(self.table))
        newest: dict[Key, tuple[tuple[list[int], str], int]] = {}
        places = zip(rows[POSITION].to_pylist(), rows[EVENT_ID].to_pylist(), strict=True)
        for at, (key, place) in enumerate(zip(keys_of(self.table, rows), places, strict=True)):
            known = newest.get(key)
            if known is None or known[0] < place:
                newest[key] = (place, at)
        return typed_values.rows_at(rows, [at for _, at in newest.values()])

    @cached_property
    def tombstone_keys(self) -> list[Key]:
        """The key of each tombstone."""
        return keys_of(self.table, self.tombstone_rows)

    def current(self, keys: Collection[Key] | None) -> dict[Key, Current]:
        """What the tables have of these keys, or of all: the newer of row and tombstone, with the row's values."""
        places: dict[Key, list[int]] = {}
        for at, key in enumerate(self.keys):
            if keys is None or key in keys:
                places.setdefault(key, []).append(at)
        found = self._current_rows(places)
        deleted = [at for at, key in enumerate(self.tombstone_keys) if keys is None or key in keys]
        lasts = lasts_of(typed_values.rows_at(self.tombstone_rows, deleted))
        for at, (last, reset) in zip(deleted, lasts, strict=True):
            key = self.tombstone_keys[at]
            row = found[key].state.last if key in found else None
            if row is None or row.position < last.position:
                state = State("remove", {}, 0, last, reset)
                found[key] = Current(state, is_torn=row is not None)
        return found

    def foreign_copies(self, keys: Collection[Key]) -> list[Key]:
        """Those of these keys that have several rows: Weir writes one, so somebody else has written into the table."""
        if not self.table.key:
            return []
        copies = Counter(key for key in self.keys if key in keys)
        return [key for key, count in copies.items() if count > 1]

    def _current_rows(self, places: Mapping[Key, Sequence[int]]) -> dict[Key, Current]:
        """What gold has of each key, read at the first of its row numbers; without a key, each copy is a row."""
        rows = typed_values.rows_at(self.rows, [some[0] for some in places.values()])
        images: list[dict[str, str | None]] = [{} for _ in places]
        if self.table.key:
            for name, kind in self.table.columns.items():
                for image, text in zip(
                    images, canonical_texts.texts(rows[name], kind), strict=True
                ):
                    image[name] = text
        cells = zip(places.items(), images, lasts_of(rows), strict=True)
        return {
            key: Current(State("put", image, len(some), last, reset))
            for (key, some), image, (last, reset) in cells
        }

    def put(self, states: Mapping[Key, State]) -> tuple[int, int]:
        """Put what these keys are now in place of what they were; returns how many rows and tombstones there are then.

        Tombstones are written first: a crash in between leaves a row beside a newer tombstone, and the same run removes
        it when it is repeated.
        """
        absent = {key: one for key, one in states.items() if one.effect == "remove"}
        stones, rows = self.tombstone_rows, self.rows
        if absent:
            kept = [at for at, key in enumerate(self.tombstone_keys) if key not in absent]
            new = tombstones_of(self.table, absent)
            stones = pa.concat_tables([typed_values.rows_at(stones, kept), new])
            self.tombstones.write(stones)
        kept = [at for at, key in enumerate(self.keys) if key not in states]
        present = {key: one for key, one in states.items() if one.effect != "remove"}
        if present or len(kept) < rows.num_rows:
            rows = pa.concat_tables(
                [typed_values.rows_at(rows, kept), gold_rows_of(self.table, present)]
            )
            self.gold.write(rows)
        if above := self._above(present):
            # Only now: were the tombstone deleted first, a crash would leave neither it nor the row.
            left = [at for at, key in enumerate(keys_of(self.table, stones)) if key not in above]
            stones = typed_values.rows_at(stones, left)
            self.tombstones.write(stones)
        return rows.num_rows, stones.num_rows

    def _above(self, present: Mapping[Key, State]) -> set[Key]:
        """The keys whose tombstone is at a later position than the last change of the row that they have now."""
        places = zip(self.tombstone_keys, self.tombstone_rows[POSITION].to_pylist(), strict=True)
        lasts = {key: one.last.position for key, one in present.items() if one.last is not None}
        return {key for key, position in places if key in lasts and tuple(position) > lasts[key]}

    def create(self, states: Mapping[Key, State], properties: Mapping[str, str]) -> tuple[int, int]:
        """Write both tables in place of what there was; returns how many rows and tombstones they have."""
        present = {key: one for key, one in states.items() if one.effect != "remove"}
        absent = {key: one for key, one in states.items() if one.effect == "remove"}
        stones, rows = tombstones_of(self.table, absent), gold_rows_of(self.table, present)
        self.tombstones.write(stones, {})
        self.gold.write(rows, properties, (WHOLE_KEY, has_whole_key(self.table)))
        return rows.num_rows, stones.num_rows
