"""Records that are settled, repaired or dismissed, and tables met with the source locations of such records.

It is a history for people: no table is made of it, and losing it costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.columns.silver import QUARANTINE_ARROW
from assets.storage.in_process_table import InProcessTable
from assets.storage.lake import Lake, Layer
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION
from transforms.silver.faults import TOO_LATE

BY_PAYLOAD, BY_FEED_FILE = "payload", "window derived again"
"""How a record was repaired: a person gave another payload, or it became readable as it is, by another feed file."""

_FAULT = ("window", *SOURCE_LOCATION, "table", "reason", "detail")

REPAIRED = pa.schema(
    [
        *[QUARANTINE_ARROW.field(name) for name in _FAULT],
        pa.field("events", pa.int64()),
        pa.field("how", pa.string()),
        pa.field("repaired_at", pa.timestamp("us", "UTC")),
    ]
)
"""One row per record that left quarantine; one that left it several times has several.

``table``, ``reason`` and ``detail`` are those of the first of its ``events`` events that were there; ``how`` is
``payload`` where a person had given another payload, or else ``window derived again``.
"""

FAULTS = pa.schema([QUARANTINE_ARROW.field(name) for name in _FAULT])
"""The columns of quarantine that say which record a row is of, and what is wrong with it."""

RECORDS = FAULTS.append(REPAIRED.field("events"))
"""One row per record: the first of its faults, and how many of its ``events`` were quarantined."""

Cells = dict[str, Any]

SOURCE_ORDER = [(name, "ascending") for name in ("window", *SOURCE_LOCATION)]


def source_location_of(row: Cells) -> SourceLocation:
    """The source location of a row that has them as columns."""
    return row["object"], row["generation"], row["line"], row["byte_offset"]


def in_quarantine(quarantine: InProcessTable, windows: Collection[str] | None = None) -> pa.Table:
    """The records (``RECORDS``) that the table has, of all windows or of some, by window and source location."""
    return records_of_rows(
        quarantine.each(FAULTS, None if windows is None else {"window": windows})
    )


def records_of_rows(quarantined: Iterable[pa.Table]) -> pa.Table:
    """The records (``RECORDS``) that these rows of quarantine (``FAULTS``) are of, by window and source location."""
    rows = pa.concat_tables([FAULTS.empty_table(), *quarantined])
    # What came too late needs nobody; another event of the same record may.
    order = rows.append_column("is_late", pc.equal(rows["reason"], TOO_LATE))
    order = order.set_column(
        order.column_names.index("table"), "table", pc.fill_null(rows["table"], "")
    )
    keys = [
        *SOURCE_ORDER,
        *((name, "ascending") for name in ("is_late", "table", "reason", "detail")),
    ]
    found, events = first_rows(rows.take(pc.sort_indices(order, keys)))
    return found.append_column(RECORDS.field("events"), events)


def note_leaving(
    lake: Lake,
    feed: Feed,
    had: pa.Table,
    staying: Callable[[pa.Table], pa.Table],
) -> None:
    """Note which records will no longer be in quarantine; called before quarantine is written.

    So a run that dies in between has noted too much: for a record that is in quarantine, that counts.

    Args:
        lake: the warehouse.
        feed: the feed with its recorded decisions.
        had: the records (``RECORDS``) that quarantine has of the windows that are about to be replaced.
        staying: which of the records that are there will be there still: rows with their source locations.
    """
    had = had.filter(pc.not_equal(had["reason"], TOO_LATE))
    leaving = rows_without(had, staying(had.select(SOURCE_LOCATION))) if had.num_rows else had
    if not leaving.num_rows:
        return
    by_payload = are_among(leaving, source_locations_of(feed.decisions.replaced()))
    now = pa.scalar(datetime.now(UTC), REPAIRED.field("repaired_at").type)
    how = pc.if_else(by_payload, BY_PAYLOAD, BY_FEED_FILE)
    rows = leaving.append_column(REPAIRED.field("how"), how)
    repaired_table(lake, feed).append(
        rows.append_column(REPAIRED.field("repaired_at"), pa.repeat(now, rows.num_rows))
    )


def repaired_records(lake: Lake, feed: Feed) -> pa.Table:
    """The records (``REPAIRED``) that have left quarantine; of one that left it several times, the last time."""
    rows = repaired_table(lake, feed).read()
    return first_rows(rows.sort_by([("repaired_at", "descending")]))[0]


def repaired_table(lake: Lake, feed: Feed) -> InProcessTable:
    """The table itself."""
    return lake.in_process_table(Layer.REPAIRED, feed.name, columns=REPAIRED)


# Events in quarantine that a person has dismissed: they will not be repaired, and no longer hold compaction back.
# They stay in quarantine as they are; the decision is in ``decisions.<feed>``. Events that came too late for
# compacted history need no decision, so they are left out everywhere.


_SCHEMA = "object string, generation string, line bigint, byte_offset bigint"


def undismissed_rows(lake: Lake, feed: Feed) -> DataFrame | None:
    """The rows of quarantine that are not dismissed; None where there is no quarantine.

    ``feed``: with its recorded decisions.
    """
    table = lake.table(Layer.QUARANTINE, feed.name)
    if not table.exists():
        return None
    rows = table.read().where(F.col("reason") != TOO_LATE)
    known = feed.decisions.dismissed()
    if not known:
        return rows
    return rows.join(frame_of_locations(rows, known), on=[*SOURCE_LOCATION], how="left_anti")


def count_dismissed(quarantined: DataFrame | pa.Table, known: Collection[SourceLocation]) -> int:
    """How many of these rows, those that are no events left aside, are of the dismissed records (``known``)."""
    if not known:
        return 0
    if isinstance(quarantined, pa.Table):
        is_asked = pc.and_(
            pc.is_null(quarantined["derived"]), pc.not_equal(quarantined["reason"], TOO_LATE)
        )
        return int(rows_among(quarantined.filter(is_asked), source_locations_of(known)).num_rows)
    rows = quarantined.where("derived IS NULL").where(F.col("reason") != TOO_LATE)
    return rows.join(
        frame_of_locations(rows, known), on=[*SOURCE_LOCATION], how="left_semi"
    ).count()


def frame_of_locations(rows: DataFrame, known: Collection[SourceLocation]) -> DataFrame:
    """Source locations as a frame of the same session as these rows."""
    return rows.sparkSession.createDataFrame([*known], _SCHEMA)


# Source locations of records as Arrow columns, and tables met with them: hundreds of thousands take little memory so.


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


def rows_among(rows: pa.Table, source_locations: pa.Table) -> pa.Table:
    """Those rows that are of one of these records, in their order."""
    return rows.filter(are_among(rows, source_locations))


def rows_without(rows: pa.Table, source_locations: pa.Table) -> pa.Table:
    """Those rows that are of none of these records, in their order."""
    return (
        rows.filter(pc.invert(are_among(rows, source_locations)))
        if source_locations.num_rows
        else rows
    )


def first_rows(rows: pa.Table) -> tuple[pa.Table, pa.Array]:
    """The first row of each record, in their order, and how many rows each record has."""
    numbered = rows.select(SOURCE_LOCATION).append_column(_ROW, pa.arange(0, rows.num_rows))
    groups = numbered.group_by(list(SOURCE_LOCATION)).aggregate([(_ROW, "min"), (_ROW, "count")])
    groups = groups.select([f"{_ROW}_min", f"{_ROW}_count"]).sort_by(f"{_ROW}_min")
    return rows.take(groups[f"{_ROW}_min"]), groups[f"{_ROW}_count"]
