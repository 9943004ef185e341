"""One small gold table, its tombstones and versions, read and rewritten in this process; digests of its rows.

Rewriting a table of some thousand rows takes delta-rs some hundredths of a second, and leaves one file; Spark's MERGE
into it takes seconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.executors.in_process import values_of
from assets.gold.fold import Folded
from assets.gold.tables import CONSTRAINT, WHOLE_KEY, declared_with, has_whole_key
from assets.storage.in_process_table import DataFile, InProcessTable, groups_of, groups_with
from assets.storage.lake import Lake, Layer
from assets.storage.row_commits import Numbers
from transforms.change import Key
from transforms.column_types.map_columns import rows_at
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table
from transforms.feed.names import HISTORY, TOMBSTONES
from transforms.gold import fold_rows, folded_rows
from transforms.gold.columns import (
    COPY,
    EFFECT,
    EVENT_ID,
    KEY,
    LOG_POSITION,
    MENTIONS,
    PARTS,
    RESET,
    VALID_TO,
    key_columns,
    row_columns,
)
from transforms.gold.fold_rows import GOLD, TOMBSTONE, keys_of
from transforms.gold.key_index import KeyIndex, by_key, parts_of_rows, parts_of_texts


@dataclass(frozen=True, slots=True)
class _Found:
    """Rows of one file: its path, their numbers in it, and their columns."""

    path: str
    numbers: Numbers
    rows: pa.Table


MOST_ROWS_AT_A_TIME = 2_000_000
"""Of so many rows the keys are looked at together, in some threads side by side."""


def _some_at_a_time(files: Iterable[DataFile]) -> Iterator[list[DataFile]]:
    some, rows = list[DataFile](), 0
    for file in files:
        if some and rows + file.rows > MOST_ROWS_AT_A_TIME:
            yield some
            some, rows = [], 0
        some.append(file)
        rows += file.rows
    if some:
        yield some


def _numbers(found: Iterable[_Found]) -> dict[str, Numbers]:
    return {one.path: one.numbers for one in found}


def _schema(table: Table, what: int, *, with_values: bool) -> pa.Schema:
    """What is read of rows of gold, or of tombstones."""
    if what == TOMBSTONE:
        return folded_rows.tombstones_schema(table)
    whole = folded_rows.rows_schema(table)
    if with_values:
        return whole
    return pa.schema([whole.field(name) for name in (*key_columns(table), *row_columns(table))])


def _require_keys(name: str, table: Table, rows: pa.Table) -> None:
    """Refuse rows without a whole key, as the table's constraint does where Spark writes it."""
    if any(rows[one].null_count for one in key_columns(table)):
        raise ValueError(f"{name}: a row without its whole key")


def _chosen(
    is_new: NDArray[np.bool_], new: pa.ChunkedArray, old: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Of each row the new value, or the old one."""
    both = pa.chunked_array([*new.chunks, *old.cast(new.type).chunks], new.type)
    at = np.arange(len(new))
    return both.take(pa.array(np.where(is_new, at, at + len(new))))


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

    @property
    def takes_marks(self) -> bool:
        """Whether rows of gold can be marked as deleted where they stand."""
        return self.gold.takes_marks((CONSTRAINT,)) and self.tombstones.takes_marks(())

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
        index = None if keys is None else KeyIndex(parts_of_texts(self.table, keys["key"]))
        found = self._look(what, index, with_values=with_values)
        # A key may be asked for again, with its values.
        known = self._places.setdefault(what, {})
        for one in found:
            known.setdefault(one.path, []).append(one)
        schema = _schema(self.table, what, with_values=with_values)
        rows = pa.concat_tables([schema.empty_table(), *(one.rows for one in found)])
        return fold_rows.rows_of_stored(self.table, rows, what, with_values=with_values)

    @cached_property
    def _places(self) -> dict[int, dict[str, list[_Found]]]:
        """Where the rows are that were looked for, by ``what`` they are and the path of their file."""
        return {}

    def _look(self, what: int, index: KeyIndex | None, *, with_values: bool) -> list[_Found]:
        """The rows of gold, or tombstones, of the keys of an index or of all, file by file."""
        stored = self.gold if what == GOLD else self.tombstones
        schema = _schema(self.table, what, with_values=with_values)
        if index is None:
            every = ((file.path, *stored.numbered(file, schema)) for file in stored.files())
            return [_Found(*one) for one in every if len(one[1])]

        def look(files: Sequence[DataFile]) -> list[_Found]:
            return [*self._found(stored, files, index, schema)]

        parts = stored.at_once(look, _some_at_a_time(self._files(stored, index)))
        return [one for some in parts for one in some]

    def _found(
        self, stored: InProcessTable, files: Sequence[DataFile], index: KeyIndex, schema: pa.Schema
    ) -> Iterator[_Found]:
        """The rows of these files that have a key of the index."""
        keys = pa.schema([schema.field(name) for name in self.table.key or (KEY,)])
        among = groups_with(keys.names[0], index.first_parts)
        of_files = [stored.numbered(file, keys, among) for file in files]
        every = pa.concat_tables([rows for _, rows in of_files])
        is_wanted = index.numbers(parts_of_rows(self.table, every)) >= 0
        ends = np.cumsum([rows.num_rows for _, rows in of_files])[:-1]
        for file, (there, _), mine in zip(files, of_files, np.split(is_wanted, ends), strict=True):
            if mine.any():
                wanted = there[mine]
                numbers, rows = stored.numbered(file, schema, groups_of(wanted))
                found = pa.array(np.isin(numbers, wanted, assume_unique=True))
                yield _Found(file.path, wanted, rows.filter(found))

    def _files(self, stored: InProcessTable, index: KeyIndex | None) -> list[DataFile]:
        if index is None:
            return stored.files()
        return stored.files_with((self.table.key or (KEY,))[0], index.first_parts)

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
        rows, stones = self.gold.count(), self.tombstones.count()
        if not folded.rows.num_rows:
            return rows, stones
        present, absent = self._split(folded.rows)
        _require_keys(self.gold.name, self.table, present)
        if self.history is not None:
            self._put_versions(folded.versions, {*values_of(folded.rows, PARTS)})
        if absent.num_rows:
            mine = self._placed(TOMBSTONE, absent)
            self.tombstones.put_rows(_numbers(mine), self._of_tombstones(absent))
            stones += absent.num_rows - sum(len(one.numbers) for one in mine)
        mine = self._placed(GOLD, folded.rows)
        if folded.metrics.updated:
            present = self._with_kept_values(present, mine)
        new = by_key(self.table, present.select(folded_rows.rows_schema(self.table).names))
        self.gold.put_rows(_numbers(mine), new, (CONSTRAINT,))
        rows += new.num_rows - sum(len(one.numbers) for one in mine)
        if folded.metrics.drops_tombstone:
            # Only now: were the tombstone deleted first, a crash would leave neither it nor the row.
            above = self._above(present)
            self.tombstones.put_rows(_numbers(above), self._of_tombstones(absent.slice(0, 0)))
            stones -= sum(len(one.numbers) for one in above)
        return rows, stones

    def _placed(self, what: int, changed: pa.Table) -> list[_Found]:
        """Where the rows of gold, or the tombstones, of these keys are."""
        index = KeyIndex(parts_of_rows(self.table, changed))
        if what not in self._places:
            return self._look(what, index, with_values=False)
        known = [one for some in self._places[what].values() for one in some]
        if not known:
            return []
        names = [*(self.table.key or (KEY,))]
        rows = pa.concat_tables([one.rows.select(names) for one in known])
        is_mine = index.numbers(parts_of_rows(self.table, rows)) >= 0
        found, start = [], 0
        for path, some in self._places[what].items():
            numbers = np.concatenate([one.numbers for one in some])
            mine = is_mine[start : start + len(numbers)]
            own, at = np.unique(numbers[mine], return_index=True)
            if len(own):
                places = start + np.flatnonzero(mine)[at]
                found.append(_Found(path, own, rows.take(pa.array(places))))
            start += len(numbers)
        return found

    def _with_kept_values(self, present: pa.Table, places: Sequence[_Found]) -> pa.Table:
        """The rows, each with the values that its change does not mention as they were."""
        is_update = pc.equal(present[EFFECT], "update")
        updates = present.filter(is_update)
        index = KeyIndex(parts_of_rows(self.table, updates))
        schema = folded_rows.rows_schema(self.table)
        old, owners = [schema.empty_table()], [np.array([], np.int64)]
        for one in places:
            mine = index.numbers(parts_of_rows(self.table, one.rows))
            old.append(self.gold.rows_at(one.path, one.numbers[mine >= 0], schema))
            owners.append(mine[mine >= 0])
        before = np.full(index.count, -1)
        numbers = np.concatenate(owners)
        before[numbers] = np.arange(len(numbers))
        at = before[index.own]
        kept = pa.concat_tables(old).take(pa.array(at, mask=at < 0))
        mentions = updates[MENTIONS].combine_chunks()
        of_row = pc.list_parent_indices(mentions).to_numpy()
        said = mentions.flatten()
        for name in self.table.columns:
            if name in self.table.identity:
                continue
            is_said = np.zeros(updates.num_rows, bool)
            is_said[of_row[pc.equal(said, name).to_numpy(zero_copy_only=False)]] = True
            values = _chosen(is_said, updates[name], kept[name])
            updates = updates.set_column(updates.column_names.index(name), name, values)
        return pa.concat_tables([present.filter(pc.invert(is_update)), updates])

    def _of_tombstones(self, absent: pa.Table) -> pa.Table:
        return absent.select(folded_rows.tombstones_schema(self.table).names)

    def create(self, folded: Folded[pa.Table], feed: Feed) -> tuple[int, int]:
        """Write the tables in place of what there was; returns how many rows and tombstones they have."""
        rows, absent = self._split(folded.rows)
        rows = by_key(self.table, rows.select(folded_rows.rows_schema(self.table).names))
        stones = self._of_tombstones(absent)
        # From the next commit on Delta itself refuses such a row.
        _require_keys(self.gold.name, self.table, rows)
        if self.history is not None:
            self._put_versions(folded.versions, None)
        self.tombstones.rewrite(stones, {})
        properties = declared_with(feed, self.table)
        self.gold.rewrite(rows, properties, (WHOLE_KEY, has_whole_key(self.table)))
        return rows.num_rows, stones.num_rows

    def _split(self, changed: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The rows of keys that are present, and of those that are absent."""
        is_absent = pc.equal(changed[EFFECT], "remove")
        rows = changed.filter(pc.invert(is_absent))
        absent = changed.filter(is_absent)
        if not self.table.key:
            # Where only some copies of a row are gone, the first is still there.
            absent = absent.filter(pc.equal(absent[COPY], 1))
        return rows, absent

    def _above(self, present: pa.Table) -> list[_Found]:
        """The tombstones at a later position than the last change of the row that their key has now."""
        index = KeyIndex(parts_of_rows(self.table, present))
        lasts = dict(zip(index.own.tolist(), present[LOG_POSITION].to_pylist(), strict=True))
        found = []
        for one in self._look(TOMBSTONE, index, with_values=False):
            numbers = index.numbers(parts_of_rows(self.table, one.rows)).tolist()
            positions = one.rows[LOG_POSITION].to_pylist()
            is_above = [
                log_position > lasts[number]
                for number, log_position in zip(numbers, positions, strict=True)
            ]
            found.append(replace(one, numbers=one.numbers[np.array(is_above, bool)]))
        return found

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
    standing = [name for name in row_columns(table) if name != RESET]
    names = dict.fromkeys((*own, *table.columns, *standing))
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
