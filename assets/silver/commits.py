"""Writing what became of some windows' records: one commit to silver, one to quarantine.

Put here what replaces a window's rows. Not here: which rows these are (``classified_windows``), and their columns
(``written_rows``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from assets.bookkeeping.quarantine import mended_records
from assets.bookkeeping.transactions import open_events
from assets.columns.silver import (
    CHANGES,
    IN_BASE,
    REFUSALS,
    REFUSALS_ARROW,
    REFUSED,
    SILVER,
    SILVER_ARROW,
)
from assets.lake import Lake
from assets.layers import Layer
from assets.silver.classified_windows import ClassifiedWindows
from assets.silver.written_rows import as_arrow, as_frame
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import COORDINATES


def commit_windows(
    lake: Lake, feed: Feed, found: ClassifiedWindows, windows: Sequence[str]
) -> tuple[int, int]:
    """Replace these windows in silver and quarantine; returns how many rows each of the two commits says it wrote.

    Args:
        lake: the warehouse.
        feed: the feed with its recorded decisions.
        found: the rows to write.
        windows: all their rows are replaced.
    """
    if found.here is not None:
        done = _put_here(lake, feed, found.here, windows)
        if done is not None:
            return done
    silver, quarantine = (
        lake.table(Layer.SILVER, feed.name),
        lake.table(Layer.QUARANTINE, feed.name),
    )
    mended_records.note_leaving(lake, feed, windows, _refused_by_spark(found))
    changes, refusals = found.of_kind(CHANGES), found.of_kind(REFUSED)
    any_changes = found.count("changes", "control", "held", "derived") > 0
    any_refused = found.count("quarantined", "too_late", "derived_quarantined") > 0
    written = silver.put_windows(as_frame(changes, feed, SILVER), windows, any_rows=any_changes)
    refused = quarantine.put_windows(
        as_frame(refusals, feed, REFUSALS), windows, any_rows=any_refused
    )
    if FORMATS[feed.format].transactional:
        waiting = open_events.events_of(found.of_kind(CHANGES, IN_BASE))
        open_events.put(lake, feed, waiting, found.open_events, windows)
    return written, refused


def _put_here(
    lake: Lake, feed: Feed, found: pa.Table, windows: Sequence[str]
) -> tuple[int, int] | None:
    """``commit_windows`` in this process; where only Spark may write the tables, write nothing and return None."""
    silver, quarantine = (
        lake.in_process_table(one, feed.name) for one in (Layer.SILVER, Layer.QUARANTINE)
    )
    if not (silver.can_put(windows) and quarantine.can_put(windows)):
        return None
    changes, refusals = (_of_kind(found, one) for one in (CHANGES, REFUSED))
    mended_records.note_leaving(lake, feed, windows, lambda _: refusals.select(COORDINATES))
    written = silver.put_windows(as_arrow(changes, feed, SILVER_ARROW), windows)
    refused = quarantine.put_windows(as_arrow(refusals, feed, REFUSALS_ARROW), windows)
    if FORMATS[feed.format].transactional:
        waiting = open_events.events_here(_of_kind(found, CHANGES, IN_BASE))
        open_events.put(lake, feed, waiting, waiting.num_rows, windows)
    return written, refused


def _refused_by_spark(found: ClassifiedWindows) -> Callable[[pa.Table], pa.Table]:
    """Which of some records are refused again: asked only where some were in quarantine, for it is a job of Spark's."""

    def still(places: pa.Table) -> pa.Table:
        refused = found.of_kind(REFUSED).select(*COORDINATES).distinct()
        known = refused.sparkSession.createDataFrame(places)
        return refused.join(known, on=[*COORDINATES], how="left_semi").toArrow()

    return still


def _of_kind(found: pa.Table, *kinds: str) -> pa.Table:
    return found.filter(pc.is_in(found["kind"], pa.array(kinds, pa.string())))
