"""Gold as one of two copies: its rows' hashes in the order of their keys, and what it says of single keys."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.control.live_rows import only_live
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.change import Key
from transforms.feed.names import TOMBSTONES
from transforms.gold.columns import EVENT_ID, IS_DELETED, LOG_POSITION
from transforms.reconcile.judgement import GoldState
from transforms.reconcile.ranges import MODULUS, Bound, Bounds, Digest, Range
from transforms.reconcile.row_texts import Columns, Compared
from transforms.reconcile.source_sql import GoldSql, in_plain_types, row_text

SQL: Final = GoldSql()
YEAR_DIGITS: Final = 4
"""A year of gold's has so many digits."""

_SETTINGS: Final[Mapping[str, str | bool]] = {
    "enable_external_access": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}


@dataclass(frozen=True)
class GoldCopy:
    """The rows of one gold table as it was at one commit: see ``ranges.Copy``.

    ``keys``: the texts of the key, a column for each of its parts; ``hashes`` are those of the rows. Both stand in the
    order of the keys.
    """

    columns: Columns
    keys: Sequence[pa.Array]
    hashes_in_order: NDArray[np.uint64]

    @classmethod
    def read(cls, table: InProcessTable, columns: Columns) -> GoldCopy:
        """The table as it was when it was opened."""
        rows = _live(table, columns)
        parts = ", ".join(SQL.text(one) for one in columns.key)
        whole = row_text(SQL, columns.all)
        made = _asked(
            _plain(rows, columns.all), f"SELECT md5_number_upper({whole}), {parts} FROM gold"
        )
        order = _order(rows, made, columns.key)
        hashes, *keys = (column.combine_chunks().take(order) for column in made.columns)
        # The first bytes of the digest are its highest.
        return cls(columns, keys, np.array(hashes.to_numpy(), np.uint64).byteswap())

    @property
    def rows(self) -> int:
        """How many rows there are, without those that are marked as deleted."""
        return len(self.hashes_in_order)

    @cached_property
    def _sums(self) -> NDArray[np.uint64]:
        """Behind each row, the sum of all hashes up to it, modulo 2**64."""
        return np.concatenate([np.zeros(1, np.uint64), np.cumsum(self.hashes_in_order)])

    def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
        """Of each stretch the digests of its ranges."""
        return [self._of_stretch(bounds) for bounds in stretches]

    def _of_stretch(self, bounds: Bounds) -> list[Digest]:
        *inner, high = bounds
        places = [*(self._place(bound) for bound in inner), self._end(high)]
        return [
            Digest(end - begin, (int(self._sums[end]) - int(self._sums[begin])) % MODULUS)
            for begin, end in pairwise(places)
        ]

    def hashes(self, ranges: Sequence[Range]) -> dict[Key, int]:
        """The keys of these ranges, with the hashes of their rows."""
        return {
            self._key(at): int(self.hashes_in_order[at])
            for one in ranges
            for at in range(self._place(one.low), self._end(one.high))
        }

    def cuts(self, one: Range, parts: int) -> list[Key]:
        """Keys within a range that cut it into about so many parts."""
        begin, end = self._place(one.low), self._end(one.high)
        places = {begin + (end - begin) * part // parts for part in range(1, parts)}
        found = {at: self._key(at) for at in sorted(places - {begin})}
        self._known.update({key: at for at, key in found.items()})
        return [*found.values()]

    def _key(self, at: int) -> Key:
        return tuple([part[at].as_py() for part in self.keys])

    @cached_property
    def _known(self) -> dict[Key, int]:
        """Where keys stand that have cut a range."""
        return {}

    def _place(self, bound: Bound) -> int:
        """Where the first key stands that is not below a bound."""
        if bound is None:
            return 0
        if bound in self._known:
            return self._known[bound]
        wanted = sortable(bound, self.columns)
        at = bisect_left(
            range(self.rows), wanted, key=lambda at: sortable(self._key(at), self.columns)
        )
        self._known[bound] = at
        return at

    def _end(self, bound: Bound) -> int:
        return self.rows if bound is None else self._place(bound)


def sortable(key: Key, columns: Columns) -> tuple[Any, ...]:
    """What a key is sorted by, in gold's order: numbers by their size, texts by their signs."""
    return tuple([_in_order(text, one) for text, one in zip(key, columns.key, strict=True)])


_ABOVE_ALL: Final = "~"
"""Behind each date or time that gold could have."""


def _in_order(text: str | None, column: Compared) -> Any:
    """A part of a key, as it compares with those of gold: a source has values that gold has none of."""
    if column.form.name == "number":
        number = Decimal(text or 0)
        # Postgres puts what is no number above all that are.
        return Decimal("Infinity") if number.is_nan() else number
    if text is None or column.form.name not in ("day", "moment", "clock"):
        return text
    if text == "-infinity" or text.endswith(" BC"):
        return ""
    return _ABOVE_ALL if text == "infinity" or text.index("-") > YEAR_DIGITS else text


def _mark_of(table: InProcessTable) -> list[str]:
    """The column that says of a row whether it is deleted, where deleted rows stay."""
    return [IS_DELETED] if IS_DELETED in table.schema.names else []


def _live(table: InProcessTable, columns: Columns) -> pa.Table:
    """The rows that the source has by what gold knows: none that is marked as deleted."""
    return only_live(table.read([*(one.name for one in columns.all), *_mark_of(table)]))


def _order(rows: pa.Table, made: pa.Table, key: Sequence[Compared]) -> pa.Array:
    """The numbers of the rows in the order of their keys: numbers by what they are, all else by its text."""
    columns = {
        f"key{at}": rows[one.name] if one.form.name == "number" else made.column(at + 1)
        for at, one in enumerate(key)
    }
    sorting = [(name, "ascending") for name in columns]
    return pc.sort_indices(pa.table(columns), sort_keys=sorting)


def _plain(rows: pa.Table, columns: Iterable[Compared]) -> pa.Table:
    return pa.table({one.name: in_plain_types(rows[one.name], one.form) for one in columns})


def _asked(rows: pa.Table, sql: str) -> pa.Table:
    with duckdb.connect(config={**_SETTINGS}) as connection:
        connection.register("gold", rows)
        return connection.sql(sql).to_arrow_table()


@dataclass(frozen=True, slots=True)
class GoldTables:
    """A gold table and its tombstones, as often as they are asked."""

    lake: Lake
    feed: str
    name: str
    columns: Columns

    def copy(self) -> GoldCopy:
        """All of its rows as they are now."""
        return GoldCopy.read(
            self.lake.in_process_table(Layer.GOLD, self.feed, self.name), self.columns
        )

    def states(self, keys: Sequence[Key]) -> dict[Key, GoldState]:
        """What gold says now of each of these keys."""
        found = dict.fromkeys(keys, GoldState())
        # The tombstones first: what a run writes into both in the meantime is looked at again.
        for key, change in self._removed(keys):
            found[key] = GoldState(None, change)
        found.update(self._rows_of(keys))
        return found

    def _rows_of(self, keys: Sequence[Key]) -> dict[Key, GoldState]:
        table = self.lake.in_process_table(Layer.GOLD, self.feed, self.name)
        names = [one.name for one in self.columns.all]
        rows = self._of_keys(table, [*names, LOG_POSITION, EVENT_ID, *_mark_of(table)], keys)
        is_deleted = rows[IS_DELETED].to_pylist() if _mark_of(table) else [False] * rows.num_rows
        texts = ", ".join(f"{SQL.text(one)} AS {SQL.name(one)}" for one in self.columns.all)
        shown = _asked(_plain(rows, self.columns.all), f"SELECT {texts} FROM gold").to_pylist()
        changes = zip(rows[LOG_POSITION].to_pylist(), rows[EVENT_ID].to_pylist(), strict=True)
        return {
            tuple([row[one.name] for one in self.columns.key]): GoldState(
                None if is_gone else row, (tuple(at), event)
            )
            for row, is_gone, (at, event) in zip(shown, is_deleted, changes, strict=True)
        }

    def _removed(self, keys: Sequence[Key]) -> list[tuple[Key, tuple[tuple[int, ...], str]]]:
        """The deletes of these keys that there are, each with its change, the oldest first."""
        table = self.lake.in_process_table(Layer.GOLD, self.feed, self.name + TOMBSTONES)
        if not table.exists:
            return []
        rows = self._of_keys(
            table, [*[one.name for one in self.columns.key], LOG_POSITION, EVENT_ID], keys
        )
        changes = zip(rows[LOG_POSITION].to_pylist(), rows[EVENT_ID].to_pylist(), strict=True)
        pairs = zip(self._keys_of(rows), changes, strict=True)
        return sorted(
            ((key, (tuple(at), event)) for key, (at, event) in pairs), key=lambda one: one[1]
        )

    def _keys_of(self, rows: pa.Table) -> list[Key]:
        parts = ", ".join(SQL.text(one) for one in self.columns.key)
        made = _asked(_plain(rows, self.columns.key), f"SELECT {parts} FROM gold")
        return list(zip(*(column.to_pylist() for column in made.columns), strict=True))

    def _of_keys(self, table: InProcessTable, names: list[str], keys: Sequence[Key]) -> pa.Table:
        """The rows of a table that have one of these keys; a file at a time, so that few are in memory."""
        wanted = pa.array(map(_as_one, keys), pa.string())
        found = []
        for rows in table.each(names):
            there = pa.array(map(_as_one, self._keys_of(rows)), pa.string())
            found.append(rows.filter(pc.is_in(there, wanted)))
        return pa.concat_tables(found) if found else table.read(names)


def _as_one(key: Key) -> str:
    return "\x00".join(f"{len(part or '')}:{part}" for part in key)
