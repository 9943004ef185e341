"""Source locations of records as Arrow columns, and tables met with them: hundreds of thousands take little memory so.

Put here what compares the source locations of many records. Not here: what is known of each record (``records``).
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.silver import QUARANTINE_ARROW
from transforms.feed.decisions import SourceLocation
from transforms.record import SOURCE_LOCATION

SOURCE_LOCATIONS = pa.schema(
    [pa.field(name, QUARANTINE_ARROW.field(name).type) for name in SOURCE_LOCATION]
)

_ROW = "row"


def source_locations_of(known: Collection[SourceLocation]) -> pa.Table:
    """One row per record, with its source location."""
    if not known:
        return SOURCE_LOCATIONS.empty_table()
    columns = [pa.array(some) for some in zip(*sorted(known), strict=True)]
    return pa.table(columns, names=SOURCE_LOCATION).cast(SOURCE_LOCATIONS)


def are_among(rows: pa.Table, source_locations: pa.Table) -> pa.Array:
    """Of each row whether it is of one of these records; both have source locations as columns."""
    if not rows.num_rows or not source_locations.num_rows:
        return pa.repeat(False, rows.num_rows)
    numbers = pa.arange(0, rows.num_rows)
    asked = rows.select(SOURCE_LOCATION).append_column(_ROW, numbers)
    met = asked.join(
        source_locations.select(SOURCE_LOCATION), list(SOURCE_LOCATION), join_type="left semi"
    )
    return pc.is_in(numbers, met[_ROW].combine_chunks())


def among(rows: pa.Table, source_locations: pa.Table) -> pa.Table:
    """Those rows that are of one of these records, in their order."""
    return rows.filter(are_among(rows, source_locations))


def without(rows: pa.Table, source_locations: pa.Table) -> pa.Table:
    """Those rows that are of none of these records, in their order."""
    return (
        rows.filter(pc.invert(are_among(rows, source_locations)))
        if source_locations.num_rows
        else rows
    )


def firsts(rows: pa.Table) -> tuple[pa.Table, pa.Array]:
    """The first row of each record, in their order, and how many rows each record has."""
    numbered = rows.select(SOURCE_LOCATION).append_column(_ROW, pa.arange(0, rows.num_rows))
    groups = numbered.group_by(list(SOURCE_LOCATION)).aggregate([(_ROW, "min"), (_ROW, "count")])
    groups = groups.select([f"{_ROW}_min", f"{_ROW}_count"]).sort_by(f"{_ROW}_min")
    return rows.take(groups[f"{_ROW}_min"]), groups[f"{_ROW}_count"]
