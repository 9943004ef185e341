"""The records that are or were in quarantine, read without Spark: of a whole feed, or open ones of some windows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping import decisions
from assets.bookkeeping.quarantine import repaired_records, source_locations
from assets.bookkeeping.quarantine.records import KNOWN, Records
from assets.bookkeeping.quarantine.repaired_records import (
    BY_PAYLOAD,
    FAULTS,
    REPAIRED,
    SOURCE_ORDER,
)
from assets.bookkeeping.quarantine.totals import rows_to_decide
from assets.delta.delta_rs import conformed
from assets.delta.in_process_table import InProcessTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import Replacement, SourceLocation
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION
from transforms.silver.too_late import REASON


def records(lake: Lake, feed: Feed) -> Records:
    """The records that are or were in quarantine, by window, object and line.

    ``feed``: with its recorded decisions.
    """
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    there, left = repaired_records.in_quarantine(quarantine), repaired_records.repaired(lake, feed)
    replaced, dismissed = feed.decisions.replaced(), decisions.dismissed_by(lake, feed)
    left = source_locations.without(left, there)
    noted = pa.concat_tables([one.select(SOURCE_LOCATION) for one in (there, left)])
    found = pa.concat_tables(
        [
            _with_state(there, source_locations.source_locations_of(dismissed)),
            _as_repaired(left),
            _as_repaired(_never_noted(replaced, noted)),
        ]
    )
    return Records(found.sort_by(SOURCE_ORDER), feed.reads_topics, replaced, dismissed)


def _with_state(there: pa.Table, dismissed: pa.Table) -> pa.Table:
    """Records in quarantine, with their state."""
    is_late = pc.equal(there["reason"], REASON)
    decided = pc.if_else(source_locations.are_among(there, dismissed), "dismissed", "open")
    return conformed(there.append_column("state", pc.if_else(is_late, "too late", decided)), KNOWN)


def _as_repaired(rows: pa.Table) -> pa.Table:
    """Records that are not in quarantine now."""
    return conformed(rows.append_column("state", pa.repeat("repaired", rows.num_rows)), KNOWN)


def _never_noted(replaced: Mapping[SourceLocation, Replacement], noted: pa.Table) -> pa.Table:
    """Those that a person's payload kept out of quarantine from the beginning: no row says what was wrong."""
    rows = [
        {
            "window": one.window,
            **dict(zip(SOURCE_LOCATION, source_location, strict=True)),
            "events": 0,
        }
        | {"table": None, "reason": "", "detail": "", "how": BY_PAYLOAD, "repaired_at": None}
        for source_location, one in replaced.items()
    ]
    return source_locations.without(pa.Table.from_pylist(rows, REPAIRED), noted)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Open records of some windows, in order; ``is_all``: whether these have no others."""

    records: Records
    is_all: bool


def sampled(quarantine: InProcessTable, feed: Feed, windows: Collection[str], most: int) -> Sampled:
    """The open records of these windows, or those of the first ``most`` events: a run has no time for millions.

    ``quarantine``: the feed's table as it is now. ``feed``: with its recorded decisions.
    """
    replaced, dismissed = feed.decisions.replaced(), feed.decisions.dismissed(windows)
    looked: list[pa.Table] = []
    events = 0
    for rows in quarantine.batches(FAULTS, {"window": windows}):
        looked.append(rows_to_decide(rows, dismissed))
        events += looked[-1].num_rows
        if events > most:
            looked[-1] = looked[-1].slice(0, looked[-1].num_rows - (events - most))
            break
    found = _with_state(
        repaired_records.by_record(looked), source_locations.SOURCE_LOCATIONS.empty_table()
    )
    return Sampled(Records(found, feed.reads_topics, replaced), events <= most)
