"""What of a table is in quarantine and not decided yet, so that its history may not be compacted beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.silver import QUARANTINE_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed
from transforms.gold.change import LogPosition
from transforms.record import SOURCE_LOCATION
from transforms.silver.too_late import REASON

_READ = pa.schema(
    [
        QUARANTINE_ARROW.field(name)
        for name in ("window", "table", "reason", "log_position", *SOURCE_LOCATION)
    ]
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events in quarantine that may yet be fixed: ``window`` and, as far as it is known, ``log_position``.

    ``of_table``: whether the event is of the table that was asked for; else it is of no table that is known.
    """

    window: str
    log_position: LogPosition | None
    of_table: bool


def waiting_in_quarantine(lake: Lake, feed: Feed, name: str) -> list[Waiting]:
    """The events of one table (``name``), or of no table, that are in quarantine and may yet be fixed.

    What came too late for compacted history is decided, and so is what somebody has dismissed, records or windows.
    """
    return [
        Waiting(
            row["window"],
            None if row["log_position"] is None else tuple(row["log_position"]),
            is_own,
        )
        for row, is_own in _rows(lake, feed, name)
    ]


def _rows(lake: Lake, feed: Feed, name: str) -> Iterator[tuple[Mapping[str, Any], bool]]:
    dismissed, windows = feed.decisions.dismissed(), set(feed.retention.dismissed)
    for rows in lake.in_process_table(Layer.QUARANTINE, feed.name).each(_READ):
        mine = pc.fill_null(pc.equal(rows["table"], name), True)
        for row in rows.filter(pc.and_(mine, pc.not_equal(rows["reason"], REASON))).to_pylist():
            source_location = (row["object"], row["generation"], row["line"], row["byte_offset"])
            if source_location not in dismissed and row["window"] not in windows:
                yield row, row["table"] is not None


def by_window(waiting: list[Waiting]) -> dict[str, int]:
    """How many events wait, by their window."""
    return dict(Counter(one.window for one in waiting))


def first_position(waiting: list[Waiting], old: CompactionWatermark | None) -> LogPosition | None:
    """The smallest known position above the ``old`` compaction watermark; a record that cannot be read has none."""
    known = [one.log_position for one in waiting if one.of_table and one.log_position is not None]
    above = [one for one in known if old is None or one > old.log_position]
    return min(above, default=None)
