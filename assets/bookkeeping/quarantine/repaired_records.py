"""Records that have left quarantine, ``repaired.<feed>``: their windows were derived again, and took them.

It is a history for people: no table is made of it, and losing it costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.quarantine.source_locations import (
    are_among,
    firsts,
    source_locations_of,
    without,
)
from assets.columns.silver import QUARANTINE_ARROW
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION
from transforms.silver.too_late import REASON

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
    return by_record(quarantine.each(FAULTS, None if windows is None else {"window": windows}))


def by_record(quarantined: Iterable[pa.Table]) -> pa.Table:
    """The records (``RECORDS``) that these rows of quarantine (``FAULTS``) are of, by window and source location."""
    rows = pa.concat_tables([FAULTS.empty_table(), *quarantined])
    # What came too late needs nobody; another event of the same record may.
    order = rows.append_column("is_late", pc.equal(rows["reason"], REASON))
    order = order.set_column(
        order.column_names.index("table"), "table", pc.fill_null(rows["table"], "")
    )
    keys = [
        *SOURCE_ORDER,
        *((name, "ascending") for name in ("is_late", "table", "reason", "detail")),
    ]
    found, events = firsts(rows.take(pc.sort_indices(order, keys)))
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
    had = had.filter(pc.not_equal(had["reason"], REASON))
    leaving = without(had, staying(had.select(SOURCE_LOCATION))) if had.num_rows else had
    if not leaving.num_rows:
        return
    by_payload = are_among(leaving, source_locations_of(feed.decisions.replaced()))
    now = pa.scalar(datetime.now(UTC), REPAIRED.field("repaired_at").type)
    how = pc.if_else(by_payload, BY_PAYLOAD, BY_FEED_FILE)
    rows = leaving.append_column(REPAIRED.field("how"), how)
    table_of(lake, feed).append(
        rows.append_column(REPAIRED.field("repaired_at"), pa.repeat(now, rows.num_rows))
    )


def repaired(lake: Lake, feed: Feed) -> pa.Table:
    """The records (``REPAIRED``) that have left quarantine; of one that left it several times, the last time."""
    rows = table_of(lake, feed).read()
    return firsts(rows.sort_by([("repaired_at", "descending")]))[0]


def table_of(lake: Lake, feed: Feed) -> InProcessTable:
    """The table itself."""
    return lake.in_process_table(Layer.REPAIRED, feed.name, columns=REPAIRED)
