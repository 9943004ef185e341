"""Keys as numbers: which rows of one table have the key of some row of another, found by columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.change import text_of_key
from transforms.column_types.registry import column_type
from transforms.feed.feed import Table
from transforms.gold.columns import KEY

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Column: TypeAlias = pa.Array | pa.ChunkedArray

_COMPARED: Sequence[Callable[[pa.DataType], bool]] = (
    *(pa.types.is_integer, pa.types.is_string, pa.types.is_boolean, pa.types.is_date),
    *(pa.types.is_decimal, pa.types.is_timestamp, pa.types.is_binary),
)
"""Types of which two values are the same key where Arrow calls them equal; of others their texts are compared."""


class KeyIndex:
    """The distinct keys of some rows, each with a number from 0 on; ``parts``: a column for each part of the key.

    Arrow makes a table of hashes of them each time that it is asked: ask for many rows at a time.
    """

    def __init__(self, parts: Sequence[Column]) -> None:
        encoded = [_encoded(part) for part in parts]
        self._values = [values for values, _ in encoded]
        self._known: list[Numbers] = []
        found = encoded[0][1]
        for values, places in encoded[1:]:
            both = found * len(values) + places
            self._known.append(np.unique(both))
            found = np.searchsorted(self._known[-1], both)
        self.own: Numbers = found
        """The number of each of the rows' keys."""
        self.count = len(self._known[-1]) if self._known else len(self._values[0])

    def numbers(self, parts: Sequence[Column]) -> Numbers:
        """The number of each row's key; -1 where it is none of these."""
        found = _places(parts[0], self._values[0])
        for part, values, known in zip(parts[1:], self._values[1:], self._known, strict=True):
            at = _places(part, values)
            both = np.where((found < 0) | (at < 0), -1, found * len(values) + at)
            place = np.minimum(np.searchsorted(known, both), len(known) - 1)
            found = np.where(known[place] == both, place, -1) if len(known) else both * 0 - 1
        return found

    @property
    def first_parts(self) -> pa.Array:
        """The distinct values of the first part."""
        return self._values[0]


def _encoded(part: Column) -> tuple[pa.Array, Numbers]:
    """The distinct values, and of each value its place among them."""
    whole = part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part
    found = whole.dictionary_encode()
    return found.dictionary, found.indices.to_numpy().astype(np.int64, copy=False)


def _places(part: Column, values: pa.Array) -> Numbers:
    """Of each value its place among others; -1 where it is not there."""
    found: Numbers = (
        pc.fill_null(pc.index_in(part, values), -1).to_numpy().astype(np.int64, copy=False)
    )
    return found


def parts_of_rows(table: Table, rows: pa.Table) -> list[Column]:
    """The parts of the keys of rows that have gold's columns, as they are compared."""
    if not table.key:
        return [rows[KEY]]
    return [_compared(table.columns[name], rows[name]) for name in table.key]


def by_key(table: Table, rows: pa.Table) -> pa.Table:
    """The rows in the order of their keys, so that of the files with them few may have a key of some others."""
    parts = {f"{at}": part for at, part in enumerate(parts_of_rows(table, rows))}
    order = pc.sort_indices(pa.table(parts), sort_keys=[(name, "ascending") for name in parts])
    return rows.take(order)


def parts_of_texts(table: Table, keys: pa.ChunkedArray) -> list[Column]:
    """The parts of keys (lists of texts), as those of gold's rows are compared."""
    if not table.key:
        return [pa.array(map(text_of_key, keys.to_pylist()), pa.string())]
    texts = keys.combine_chunks().flatten()
    count = len(table.key)
    found = []
    for at, name in enumerate(table.key):
        part = texts if count == 1 else texts.take(pa.array(np.arange(at, len(texts), count)))
        kind = column_type(table.columns[name])
        found.append(kind.typed_array(part) if _is_compared(kind.arrow) else part)
    return found


def _compared(kind: str, values: Column) -> Column:
    known = column_type(kind)
    if not _is_compared(known.arrow):
        return pa.array(known.texts(values), pa.string())
    return values if values.type == known.arrow else values.cast(known.arrow)


def _is_compared(kind: pa.DataType) -> bool:
    return any(is_one(kind) for is_one in _COMPARED)
