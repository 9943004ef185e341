"""One small gold table, its tombstones and versions, read and rewritten in this process; digests of its rows.

Rewriting a table of some thousand rows takes delta-rs some hundredths of a second, and leaves one file; Spark's MERGE
into it takes seconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from assets.executors.in_process import values_of
from assets.gold.fold import Folded
from assets.gold.tables import WHOLE_KEY, declared_with, has_whole_key
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.change import Key
from transforms.column_types.map_columns import rows_at
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.gold import fold_rows, folded_rows
from transforms.gold.columns import (
    COPY,
    EFFECT,
    EVENT_AT,
    EVENT_ID,
    LOG_POSITION,
    PARTS,
    VALID_TO,
    key_columns,
)
from transforms.gold.fold_rows import GOLD, keys_of


# Without slots: what is read is kept in the instance.
@dataclass(frozen=True)
class StoredInProcess:
    """The tables of one gold table; see ``fold.Stored``.

    ``history``: its versions; None where it keeps none. ``compaction_watermark``: versions that ended at or below it
    can no longer be derived from silver, and stay.
    """

    table: Table
    gold: InProcessTable
    tombstones: InProcessTable
    history: InProcessTable | None = None
    compaction_watermark: CompactionWatermark | None = None

    @classmethod
    def of(
        cls,
        lake: Lake,
        feed: Feed,
        table: Table,
        name: str,
        compaction_watermark: CompactionWatermark | None = None,
    ) -> StoredInProcess:
        """The tables as they are now."""
        names = (name, name + TOMBSTONES, *([name + HISTORY] if table.history else []))
        rows, tombstones, *history = (
            lake.in_process_table(Layer.GOLD, feed.name, one) for one in names
        )
        return cls(table, rows, tombstones, history[0] if history else None, compaction_watermark)

    @property
    def exists(self) -> bool:
        """Whether both tables have been written."""
        return self.gold.exists and self.tombstones.exists

    @property
    def _tables(self) -> list[InProcessTable]:
        return [one for one in (self.gold, self.tombstones, self.history) if one is not None]

    @property
    def size(self) -> int:
        """How many bytes their files have."""
        return sum(one.size for one in self._tables)

    @property
    def count(self) -> int:
        """How many rows they have, as far as their statistics say."""
        return sum(one.stored_rows for one in self._tables)

    @property
    def has_rows(self) -> bool:
        """Whether they may have rows: a table whose every row is marked as deleted had some."""
        return self.exists and self.count > 0

    @property
    def may_be_written(self) -> bool:
        """Whether the tables have nothing that only Spark can write.

        Of versions Spark has to cast values of other types than declared.
        """
        return all(one.may_be_written for one in self._tables) and (
            self.history is None or self.history.has_types(folded_rows.versions_schema(self.table))
        )

    @cached_property
    def rows(self) -> pa.Table:
        """The rows of gold (``folded_rows.rows_schema``)."""
        return self.gold.read(folded_rows.rows_schema(self.table))

    @cached_property
    def keys(self) -> list[Key]:
        """The key of each row."""
        return keys_of(self.table, self.rows)

    @cached_property
    def tombstone_rows(self) -> pa.Table:
        """The newest tombstone of each key (``folded_rows.tombstones_schema``)."""
        rows = self.tombstones.read(folded_rows.tombstones_schema(self.table))
        newest: dict[Key, tuple[tuple[list[int], str], int]] = {}
        positions = zip(rows[LOG_POSITION].to_pylist(), rows[EVENT_ID].to_pylist(), strict=True)
        for at, (key, position) in enumerate(
            zip(keys_of(self.table, rows), positions, strict=True)
        ):
            known = newest.get(key)
            if known is None or known[0] < position:
                newest[key] = (position, at)
        return rows_at(rows, [at for _, at in newest.values()])

    @cached_property
    def tombstone_keys(self) -> list[Key]:
        """The key of each tombstone."""
        return keys_of(self.table, self.tombstone_rows)

    @cached_property
    def version_rows(self) -> pa.Table:
        """The table of versions (``folded_rows.versions_schema``)."""
        schema = folded_rows.versions_schema(self.table)
        return schema.empty_table() if self.history is None else self.history.read(schema)

    def last_changes(self, what: int, keys: pa.Table | None, *, with_values: bool) -> pa.Table:
        """See ``fold.Stored``."""
        rows, of_rows = (
            (self.rows, self.keys) if what == GOLD else (self.tombstone_rows, self.tombstone_keys)
        )
        if keys is not None:
            wanted = {*values_of(keys, "key")}
            rows = rows.filter(pa.array([key in wanted for key in of_rows], pa.bool_()))
        return fold_rows.rows_of_stored(self.table, rows, what, with_values=with_values)

    def versions(self, keys: pa.Table) -> pa.Table:
        """See ``fold.Stored``."""
        wanted, rows = {*values_of(keys, "key")}, self.version_rows
        mine = [
            key in wanted and not has_ended
            for key, has_ended in zip(
                keys_of(self.table, rows), self._have_ended(rows), strict=True
            )
        ]
        return fold_rows.rows_of_versions(self.table, rows.filter(pa.array(mine, pa.bool_())))

    def _have_ended(self, versions: pa.Table) -> list[bool]:
        """Of each version whether it ended at or below the compaction watermark."""
        end = None if self.compaction_watermark is None else self.compaction_watermark.log_position
        ends = versions[VALID_TO].to_pylist()
        return [end is not None and one is not None and tuple(one) <= end for one in ends]

    def versions_above(self) -> pa.Table:
        """The versions that can still be derived from silver."""
        rows = self.version_rows
        return rows.filter(pa.array([not one for one in self._have_ended(rows)], pa.bool_()))

    def put(self, folded: Folded[pa.Table]) -> tuple[int, int]:
        """Put what keys are now in place of what they were; returns how many rows and tombstones there are then.

        Versions are written first, then tombstones: a crash in between leaves a row beside a newer tombstone, and the
        same run removes it when it is repeated.
        """
        changed = {*values_of(folded.rows, PARTS)}
        present, absent = self._split(folded.rows)
        if self.history is not None and changed:
            self._put_versions(folded.versions, changed)
        stones, rows = self.tombstone_rows, self.rows
        if absent.num_rows:
            gone = {*keys_of(self.table, absent)}
            left = [key not in gone for key in self.tombstone_keys]
            stones = pa.concat_tables([stones.filter(pa.array(left, pa.bool_())), absent])
            self.tombstones.rewrite(stones)
        kept = rows.filter(pa.array([key not in changed for key in self.keys], pa.bool_()))
        if present.num_rows or kept.num_rows < rows.num_rows:
            rows = pa.concat_tables([kept, present])
            self.gold.rewrite(rows)
        if above := self._above(present):
            # Only now: were the tombstone deleted first, a crash would leave neither it nor the row.
            left = [key not in above for key in keys_of(self.table, stones)]
            stones = stones.filter(pa.array(left, pa.bool_()))
            self.tombstones.rewrite(stones)
        return rows.num_rows, stones.num_rows

    def create(self, folded: Folded[pa.Table], feed: Feed) -> tuple[int, int]:
        """Write the tables in place of what there was; returns how many rows and tombstones they have."""
        rows, stones = self._split(folded.rows)
        if any(rows[name].null_count for name in key_columns(self.table)):
            # From the next commit on Delta itself refuses such a row.
            raise ValueError(f"{self.gold.name}: a row without its whole key")
        if self.history is not None:
            self._put_versions(folded.versions, None)
        self.tombstones.rewrite(stones, {})
        properties = declared_with(feed, self.table)
        self.gold.rewrite(rows, properties, (WHOLE_KEY, has_whole_key(self.table)))
        return rows.num_rows, stones.num_rows

    def _split(self, changed: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Rows of gold, and tombstones, from what keys are now."""
        is_absent = pc.equal(changed[EFFECT], "remove")
        rows = changed.filter(pc.invert(is_absent)).select(
            folded_rows.rows_schema(self.table).names
        )
        absent = changed.filter(is_absent)
        if not self.table.key:
            # Where only some copies of a row are gone, the first is still there.
            absent = absent.filter(pc.equal(absent[COPY], 1))
        return rows, absent.select(folded_rows.tombstones_schema(self.table).names)

    def _above(self, present: pa.Table) -> set[Key]:
        """The keys whose tombstone is at a later position than the last change of the row that they have now."""
        keys = keys_of(self.table, present)
        lasts = dict(zip(keys, present[LOG_POSITION].to_pylist(), strict=True))
        positions = zip(
            self.tombstone_keys, self.tombstone_rows[LOG_POSITION].to_pylist(), strict=True
        )
        return {
            key for key, log_position in positions if key in lasts and log_position > lasts[key]
        }

    def _put_versions(self, versions: pa.Table, keys: Collection[Key] | None) -> None:
        """Put the versions of these keys, or of all, in place of those before, in one commit.

        Versions that ended at or below the compaction watermark stay: they can no longer be derived from silver.
        """
        assert self.history is not None
        before = self.version_rows
        left = [
            (keys is not None and key not in keys) or has_ended
            for key, has_ended in zip(
                keys_of(self.table, before), self._have_ended(before), strict=True
            )
        ]
        new = versions.select(before.schema.names).cast(before.schema)
        whole = pa.concat_tables([before.filter(pa.array(left, pa.bool_())), new])
        self.history.rewrite(whole, {} if keys is None else None)


Digests: TypeAlias = Counter[tuple[str, str]]
"""How many rows there are of each key, as JSON, and digest."""


def row_digests_of(table: Table, rows: pa.Table) -> Digests:
    """The digests of rows of gold, over all columns but the reset position."""
    own = key_columns(table)
    names = dict.fromkeys((*own, *table.columns, LOG_POSITION, EVENT_ID, EVENT_AT))
    return row_digests(rows.select([*names]), own)


def row_digests(rows: pa.Table, own: Sequence[str]) -> Digests:
    """The digests of rows over all their columns; ``own``: the columns that tell a row from all others."""
    found: Digests = Counter()
    for row in rows.to_pylist():
        key = json.dumps(
            {name: row[name] for name in own},
            default=str,
            ensure_ascii=False,
            separators=(",", ":"),
        )
        values = [_ordered(row[one.name], one.type) for one in rows.schema]
        found[key, sha256(repr(values).encode()).hexdigest()] += 1
    return found


def _ordered(value: Any, kind: pa.DataType) -> Any:
    """The value, a map's entries sorted: their order means nothing."""
    return sorted(value, key=repr) if pa.types.is_map(kind) and value is not None else value


def whole_digest(digests: Digests) -> str:
    """One digest for all rows, which does not depend on their order."""
    return sha256(repr(sorted(digests.elements())).encode()).hexdigest()
