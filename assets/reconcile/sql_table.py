"""One table of a source that speaks SQL: digests, hashes and rows of ranges of keys, computed by the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from transforms.change import Key
from transforms.reconcile.judgement import Row
from transforms.reconcile.ranges import MODULUS, Bound, Bounds, Digest, Range
from transforms.reconcile.row_texts import Columns
from transforms.reconcile.source_sql import SourceDialect, in_double_quotes, row_text
from transforms.reconcile.table_names import TableName

MOST_KEYS: Final = 500
"""Of so many keys the rows are asked for at once."""


def qualified(table: TableName) -> str:
    """The name of a table in SQL."""
    return ".".join(map(in_double_quotes, table)).replace("%", "%%")


@dataclass(frozen=True, slots=True)
class SqlTable:
    """One table within a snapshot: see ``ranges.Copy``."""

    cursor: Any
    name: str
    columns: Columns
    sql: SourceDialect

    @property
    def is_indexed(self) -> bool:
        """Whether the key's own order is that of gold, so that an index on it serves."""
        return all(self.sql.keeps_order(one) for one in self.columns.key)

    def can_hold(self, key: Key) -> bool:
        """Whether a row of it could have this key, by the types that its columns have."""
        pairs = zip(self.columns.key, key, strict=True)
        return all(part is not None and self.sql.can_hold(one, part) for one, part in pairs)

    def without_key(self, low: Bound, high: Bound) -> int | None:
        """How many rows have no key, for there is a null in it, so that they are in no range; None: nobody was asked.

        Of all such rows those whose key's first column stands in a stretch, which an index serves; where that is null,
        they are of the stretch that is open below. A table without an index is read once, with that stretch.
        """
        first, *others = self.columns.key
        values: list[str | None] = []
        wanted = []
        if low is None and first.source.is_nullable:
            wanted.append(f"{self.sql.name(first)} IS NULL")
        nulls = [f"{self.sql.name(one)} IS NULL" for one in others if one.source.is_nullable]
        if not self.is_indexed:
            wanted = [*wanted, *nulls] if low is None else []
        elif nulls and (low is None or high is None or low[0] != high[0]):
            wanted.append(f"({self._first_within(low, high, values)}) AND ({' OR '.join(nulls)})")
        if not wanted:
            return None
        parts = [f"({one})" for one in wanted]
        sql = f"SELECT count(*) FROM {self.name} WHERE {' OR '.join(parts)}"
        ((count,),) = self._rows(sql, values)
        return int(count)

    def _first_within(self, low: Bound, high: Bound, values: list[str | None]) -> str:
        """Whether the first column of the key stands in a stretch."""
        ours, theirs = self.sql.in_order(self.columns.key[0]), self.sql.literal(self.columns.key[0])
        bounds = [(">=", low), ("<", high)]
        values += [bound[0] for _, bound in bounds if bound is not None]
        told = [f"{ours} {sign} {theirs}" for sign, bound in bounds if bound is not None]
        return " AND ".join(told) or f"{self.sql.name(self.columns.key[0])} IS NOT NULL"

    def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
        """Of each stretch the digests of its ranges."""
        found = [[Digest(0, 0)] * (len(bounds) - 1) for bounds in stretches]
        values: list[str | None] = []
        if not self.is_indexed:
            cuts, places = _in_one(stretches)
            part = self._part(cuts, values)
            sql = (
                f"SELECT part, count(*), sum(hash) FROM (SELECT {part} AS part, {self._hash} AS hash"
                f" FROM {self.name} WHERE {self._has_key}) AS cut GROUP BY part"
            )
            for number, count, total in self._rows(sql, values):
                if (place := places[number]) is not None:
                    found[place[0]][place[1]] = Digest(count, int(total) % MODULUS)
            return found
        parts = [
            f"SELECT {at} AS stretch, part, count(*), sum(hash) FROM ("
            f" SELECT {self._part(bounds[1:-1], values)} AS part, {self._hash} AS hash"
            f" FROM {self.name} WHERE {self._within(bounds[0], bounds[-1], values)}) AS cut GROUP BY part"
            for at, bounds in enumerate(stretches)
        ]
        for at, part, count, total in self._rows(" UNION ALL ".join(parts), values):
            found[at][part] = Digest(count, int(total) % MODULUS)
        return found

    def hashes(self, ranges: Sequence[Range]) -> dict[Key, int]:
        """The keys of these ranges, with the hashes of their rows."""
        values: list[str | None] = []
        keys = ", ".join(self.sql.text(one) for one in self.columns.key)
        parts = [
            f"SELECT {keys}, {self._hash} FROM {self.name} WHERE {self._within(one.low, one.high, values)}"
            for one in ranges
        ]
        if not self.is_indexed:
            values.clear()
            cuts, places = _in_one([(one.low, one.high) for one in ranges])
            is_asked = self._part(cuts, values, [int(place is not None) for place in places])
            parts = [
                f"SELECT {keys}, {self._hash} FROM {self.name} WHERE {is_asked} = 1 AND {self._has_key}"
            ]
        rows = self._rows(" UNION ALL ".join(parts), values)
        return {tuple(key): hashed % MODULUS for *key, hashed in rows}

    def cuts(self, one: Range, parts: int) -> list[Key]:
        """Keys within a range that cut it into about so many parts."""
        step = max(-(-one.in_source // parts), 1)
        values: list[str | None] = []
        names = [f"key{at}" for at, _ in enumerate(self.columns.key)]
        texts = ", ".join(
            f"{self.sql.text(column)} AS {name}"
            for name, column in zip(names, self.columns.key, strict=True)
        )
        order = ", ".join(self.sql.in_order(one) for one in self.columns.key)
        rows = self._rows(
            f"SELECT {', '.join(names)} FROM (SELECT {texts}, row_number() OVER (ORDER BY {order}) AS at"
            f" FROM {self.name} WHERE {self._within(one.low, one.high, values)}) AS numbered"
            f" WHERE at > 1 AND (at - 1) %% {step} = 0 ORDER BY at",
            values,
        )
        # Equal keys are one, and none is the range's own bound. A date beyond gold's may be shown as null.
        return [
            *dict.fromkeys(key for key in map(tuple, rows) if key != one.low and None not in key)
        ]

    def rows_of(self, keys: Sequence[Key]) -> dict[Key, Row]:
        """The rows of these keys."""
        names = [one.name for one in self.columns.all]
        texts = ", ".join(self.sql.text(one) for one in self.columns.all)
        ours = ", ".join(self.sql.looked_up(one) for one in self.columns.key)
        theirs = ", ".join(self.sql.wanted(one) for one in self.columns.key)
        found: dict[Key, Row] = {}
        # None of the others is there, and the server would refuse them all for the sake of one.
        asked = [key for key in keys if self.can_hold(key)]
        for at in range(0, len(asked), MOST_KEYS):
            some = asked[at : at + MOST_KEYS]
            sql = f"SELECT {texts} FROM {self.name} WHERE ({ours}) IN ({', '.join([f'({theirs})'] * len(some))})"
            for row in self._rows(sql, [part for key in some for part in key]):
                found[tuple(row[: len(self.columns.key)])] = dict(zip(names, row, strict=True))
        # A collation may find more than was asked for.
        return {key: found[key] for key in keys if key in found}

    def _rows(self, sql: str, values: Sequence[str | None]) -> list[tuple[Any, ...]]:
        self.cursor.execute(sql, values)
        return [*self.cursor.fetchall()]

    @property
    def _has_key(self) -> str:
        """The rows that have a key at all: a null is neither below a bound nor above it."""
        names = [self.sql.name(one) for one in self.columns.key if one.source.is_nullable]
        return " AND ".join(f"{name} IS NOT NULL" for name in names) or "true"

    @property
    def _hash(self) -> str:
        return self.sql.hashed(row_text(self.sql, self.columns.all))

    def _compared(self, sign: str, bound: Key, values: list[str | None]) -> str:
        """A row's key beside a bound: ``<`` or ``>=``."""
        ours = [self.sql.in_order(one) for one in self.columns.key]
        theirs = [self.sql.literal(one) for one in self.columns.key]
        if self.sql.compares_rows or len(ours) == 1:
            values += bound
            return f"({', '.join(ours)}) {sign} ({', '.join(theirs)})"
        strict = sign[0]
        *earlier, last = zip(ours, theirs, bound, strict=True)
        # Column by column, each in a way that an index on the first serves: the places of values in this order.
        told = []
        for our, their, part in earlier:
            told.append(f"{our} {strict}= {their} AND ({our} {strict} {their} OR (")
            values += [part, part]
        values.append(last[2])
        return f"({''.join(told)}{last[0]} {sign} {last[1]}{'))' * len(earlier)})"

    def _within(self, low: Bound, high: Bound, values: list[str | None]) -> str:
        wanted = [
            *([] if self._has_key == "true" else [self._has_key]),
            *([] if low is None else [self._compared(">=", low, values)]),
            *([] if high is None else [self._compared("<", high, values)]),
        ]
        return " AND ".join(wanted) or "true"

    def _part(
        self,
        cuts: Sequence[Bound],
        values: list[str | None],
        numbers: Sequence[int] | None = None,
    ) -> str:
        """Which of the ranges between these cuts a row is in: a tree of questions, of which few are asked of a row.

        ``numbers``: what each of the ranges is called; by default by its place.
        """
        numbers = range(len(cuts) + 1) if numbers is None else numbers
        if not cuts:
            return str(numbers[0])
        middle = len(cuts) // 2
        cut = cuts[middle]
        assert cut is not None  # only a stretch's ends are open
        is_below = self._compared("<", cut, values)
        below = self._part(cuts[:middle], values, numbers[: middle + 1])
        above = self._part(cuts[middle + 1 :], values, numbers[middle + 1 :])
        return f"CASE WHEN {is_below} THEN {below} ELSE {above} END"


def _in_one(stretches: Sequence[Bounds]) -> tuple[list[Bound], list[tuple[int, int] | None]]:
    """All cuts of stretches that follow each other, and what lies between them: of which stretch which range.

    So the whole table is read once, where no index says where a stretch is. None: what is of no stretch.
    """
    bounds: list[Bound] = [None]
    places: list[tuple[int, int] | None] = []
    for at, (low, *others) in enumerate(stretches):
        if low != bounds[-1]:
            bounds.append(low)
            places.append(None)
        bounds += others
        places += [(at, part) for part in range(len(others))]
    if bounds[-1] is not None:
        return bounds[1:], [*places, None]
    return bounds[1:-1], places
