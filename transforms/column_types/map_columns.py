"""Columns of maps and lists as dicts and tuples, and back: by flat lists, much faster than `to_pylist`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, repeat
from typing import Any, Final

import pyarrow as pa

TEXTS: Final = pa.list_(pa.field("element", pa.string()))
"""Texts in an order: the parts of a key, the names of columns or streams."""

NUMBERS: Final = pa.list_(pa.field("element", pa.int64()))
"""A log position."""

IMAGE: Final = pa.map_(pa.string(), pa.string())
"""An image: a canonical text, or null, by column."""


# Columns of maps and lists as dicts and tuples, and back: by flat lists, which is much faster than ``to_pylist``.


def map_array(values: Iterable[Mapping[str, str | None] | None], kind: pa.DataType) -> pa.Array:
    """Maps as one array: from flat lists, which is the fast way."""
    offsets: list[int | None] = []
    keys: list[str] = []
    items: list[str | None] = []
    for value in values:
        if value is None:
            offsets.append(None)
            continue
        offsets.append(len(keys))
        keys += value
        items += value.values()
    offsets.append(len(keys))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        pa.array(keys, pa.string()),
        pa.array(items, pa.string()),
        type=kind,
    )


def maps(
    column: pa.MapArray, spelled: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any] | None]:
    """Maps as dicts, or None for null; ``spelled``: new names for some keys."""
    offsets, keys = column.offsets.to_pylist(), column.keys.to_pylist()
    items = column.items.to_pylist()
    if spelled:
        keys = [spelled.get(key, key) for key in keys]
    is_valid = column.is_valid().to_pylist() if column.null_count else repeat(True)
    start = offsets[0] if offsets else 0
    for end, is_there in zip(offsets[1:], is_valid, strict=False):
        if not is_there:
            yield None
        elif end == start:
            yield {}
        else:
            yield dict(zip(keys[start:end], items[start:end], strict=True))
        start = end


def rows_at(table: pa.Table, places: Iterable[int]) -> pa.Table:
    """The rows with these numbers, counted from 0."""
    return table.take(pa.array([*places], pa.int64()))


def tuples(column: pa.ListArray) -> Iterator[tuple[Any, ...]]:
    """Lists, none of them null, as tuples: in the same way."""
    offsets, values = column.offsets.to_pylist(), column.values.to_pylist()
    if not values:
        yield from repeat((), len(column))
        return
    for start, end in pairwise(offsets):
        yield tuple(values[start:end])
