"""The rows that Spark brings together by key, read from Arrow batches one by one.

Put here how a row of ``fold_row_columns`` is read. Not here: what all rows of a key say together (``key_groups``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import pyarrow as pa

from assets.arrow import map_columns
from assets.arrow.gold.fold_row_columns import COLUMNS, GOLD, VERSION
from transforms.gold.change import Change, Image, Key, Position
from transforms.gold.history import Version
from transforms.gold.state import Last


class FoldRow(NamedTuple):
    """One row of a key, read from ``fold_row_columns.COLUMNS``.

    ``what`` says which kind of row it is. ``change``: the change that it is; for a row of gold, a tombstone, a version
    or a base row, one at the position of the change that made it.
    """

    key: Key
    what: int
    is_new: bool
    stream: str | None
    change: Change
    reset: Position | None
    copies: int
    streams: Sequence[str]
    carried: bytes | None
    ended_by: str | None
    ended_at: int | None


def fold_rows(
    batches: Iterable[pa.RecordBatch], respelled: Callable[[Image], Image] | None, *, grouped: bool
) -> Iterator[tuple[Key, FoldRow]]:
    """Each row with its group, or with its key where keys are not ``grouped``."""
    for batch in batches:
        cells = {name: _cells(batch.column(name)) for name in COLUMNS if name != "group"}
        groups = _cells(batch.column("group")) if grouped else repeat(None)
        # The columns in their order; a column that no row of the batch fills repeats one value, and costs nothing.
        for group, row in zip(groups, zip(*cells.values(), strict=False), strict=False):
            what, key, is_new, effect, position, stable, event_id, at, *rest = row
            old, new, of_columns, moved_from, is_scoped, is_derived, stream, reset, *others = rest
            if respelled is not None and what in (GOLD, VERSION):
                new = respelled(new)
            change = Change(
                *(effect, position, stable, event_id, at, old, new, of_columns),
                moved_from or None,
                is_scoped,
                is_derived,
                stream=stream,
            )
            row_of_key = FoldRow(key, what, is_new, stream, change, reset or None, *others)
            yield (key if group is None else group), row_of_key


def _cells(column: pa.Array) -> Iterable[Any]:
    """A column's values: dicts for maps, tuples for lists, neither of them ever null."""
    if pa.types.is_map(column.type):
        return map_columns.maps(column) if len(column.keys) else repeat(_NOTHING)
    if pa.types.is_list(column.type):
        return map_columns.tuples(column) if len(column.values) else repeat(())
    if column.null_count == len(column):
        return repeat(None)
    values: list[Any] = column.to_pylist()
    return values


_NOTHING: Final[Mapping[str, str | None]] = {}


def last_of(row: FoldRow) -> Last:
    """The change that made a row of gold, a tombstone, a base row, or that began a version."""
    change = row.change
    return Last(change.position, change.event_id, change.event_at, is_scoped=False)


def version_of(row: FoldRow) -> Version:
    """The version that a row of kind ``VERSION`` is."""
    by, at = row.ended_by or "", row.ended_at
    ended = None if row.reset is None else Last(row.reset, by, at, is_scoped=False)
    return Version(row.change.after, last_of(row), ended)
