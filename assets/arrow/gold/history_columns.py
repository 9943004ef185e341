"""Versions of a table's rows as Arrow columns, and back.

Put here how a version becomes a row. Not here: which versions there are (``transforms/gold/history.py``), and how they
get into the table (``assets/gold/apply``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from assets.arrow import canonical_texts, typed_values
from assets.columns.history import BEGAN_BY, ENDED_BY, FROM_AT, TO_AT, VALID_FROM, VALID_TO
from transforms.feed.feed import Table
from transforms.gold.change import Key
from transforms.gold.history import Version
from transforms.gold.state import Last

_PLACE = pa.list_(pa.field("element", pa.int64()))
OWN = {
    VALID_FROM: _PLACE,
    VALID_TO: _PLACE,
    FROM_AT: pa.timestamp("us", "UTC"),
    TO_AT: pa.timestamp("us", "UTC"),
    BEGAN_BY: pa.string(),
    ENDED_BY: pa.string(),
}
"""Weir's own columns of a version."""


def schema(table: Table) -> pa.Schema:
    """The columns of a table of versions: the declared ones, then Weir's own."""
    declared = {name: typed_values.arrow_type(kind) for name, kind in table.columns.items()}
    return pa.schema([*declared.items(), *OWN.items()])


def cells(
    table: Table, versions: Sequence[tuple[Key, Version]]
) -> dict[str, Sequence[Any] | pa.Array]:
    """The values of each column, one per version; times are in microseconds since 1970 (UTC)."""
    found: dict[str, Sequence[Any] | pa.Array] = {
        VALID_FROM: [one.began.position for _, one in versions],
        VALID_TO: [one.ended and one.ended.position for _, one in versions],
        FROM_AT: [one.began.event_at for _, one in versions],
        TO_AT: [one.ended and one.ended.event_at for _, one in versions],
        BEGAN_BY: [one.began.event_id for _, one in versions],
        ENDED_BY: [one.ended and one.ended.event_id for _, one in versions],
    }
    places = {name: number for number, name in enumerate(table.identity)}
    for name, kind in table.columns.items():
        at = places.get(name)
        of_column = [one.columns.get(name) if at is None else key[at] for key, one in versions]
        found[name] = typed_values.typed(of_column, kind)
    return found


def read(table: Table, rows: pa.Table) -> Iterator[Version]:
    """The version that each row is; its ``columns`` without those of the key."""
    values = [name for name in table.columns if name not in table.identity]
    texts = [canonical_texts.texts(rows[name], table.columns[name]) for name in values]
    images = [dict(zip(values, cells, strict=True)) for cells in zip(*texts, strict=True)]
    began = _lasts(rows, VALID_FROM, BEGAN_BY, FROM_AT)
    ended = _lasts(rows, VALID_TO, ENDED_BY, TO_AT)
    for image, one, end in zip(images or [{}] * rows.num_rows, began, ended, strict=True):
        assert one is not None  # every version begins with some change
        yield Version(image, one, end)


def _lasts(rows: pa.Table, position: str, event_id: str, at: str) -> Iterator[Last | None]:
    moments = rows[at].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    cells = zip(rows[position].to_pylist(), rows[event_id].to_pylist(), moments, strict=True)
    for place, name, moment in cells:
        yield None if place is None else Last(tuple(place), name, moment, is_scoped=False)


def array(values: Sequence[Any] | pa.Array, kind: pa.DataType) -> pa.Array:
    """One column's values as an array; times come in microseconds since 1970."""
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)
