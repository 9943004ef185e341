"""Coordinates of records as Arrow columns, and tables met with them: hundreds of thousands take little memory so.

Put here what compares the coordinates of many records. Not here: what is known of each record (``records``).
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.silver import REFUSALS_ARROW
from transforms.feed.decisions import Coordinates
from transforms.record import COORDINATES

PLACES = pa.schema([pa.field(name, REFUSALS_ARROW.field(name).type) for name in COORDINATES])

_ROW = "row"


def places_of(known: Collection[Coordinates]) -> pa.Table:
    """One row per record, with its coordinates."""
    if not known:
        return PLACES.empty_table()
    columns = [pa.array(some) for some in zip(*sorted(known), strict=True)]
    return pa.table(columns, names=COORDINATES).cast(PLACES)


def are_among(rows: pa.Table, places: pa.Table) -> pa.Array:
    """Of each row whether it is of one of these records; both have coordinates as columns."""
    if not rows.num_rows or not places.num_rows:
        return pa.repeat(False, rows.num_rows)
    numbers = pa.arange(0, rows.num_rows)
    asked = rows.select(COORDINATES).append_column(_ROW, numbers)
    met = asked.join(places.select(COORDINATES), list(COORDINATES), join_type="left semi")
    return pc.is_in(numbers, met[_ROW].combine_chunks())


def among(rows: pa.Table, places: pa.Table) -> pa.Table:
    """Those rows that are of one of these records, in their order."""
    return rows.filter(are_among(rows, places))


def without(rows: pa.Table, places: pa.Table) -> pa.Table:
    """Those rows that are of none of these records, in their order."""
    return rows.filter(pc.invert(are_among(rows, places))) if places.num_rows else rows


def firsts(rows: pa.Table) -> tuple[pa.Table, pa.Array]:
    """The first row of each record, in their order, and how many rows each record has."""
    numbered = rows.select(COORDINATES).append_column(_ROW, pa.arange(0, rows.num_rows))
    groups = numbered.group_by(list(COORDINATES)).aggregate([(_ROW, "min"), (_ROW, "count")])
    groups = groups.select([f"{_ROW}_min", f"{_ROW}_count"]).sort_by(f"{_ROW}_min")
    return rows.take(groups[f"{_ROW}_min"]), groups[f"{_ROW}_count"]
