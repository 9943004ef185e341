"""What of a table is in quarantine and not decided yet, so that its history may not be compacted beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.silver import REFUSALS_ARROW
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.gold.change import Position
from transforms.horizons import Horizon
from transforms.record import COORDINATES
from transforms.silver.too_late import REASON

_READ = pa.schema(
    [REFUSALS_ARROW.field(name) for name in ("window", "table", "reason", "position", *COORDINATES)]
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events in quarantine that may yet be fixed: ``window`` and, as far as it is known, ``position``.

    ``of_table``: whether the event is of the table that was asked for; else it is of no table that is known.
    """

    window: str
    position: Position | None
    of_table: bool


def waiting_in_quarantine(lake: Lake, feed: Feed, name: str) -> list[Waiting]:
    """The events of one table (``name``), or of no table, that are in quarantine and may yet be fixed.

    What came too late for compacted history is decided, and so is what somebody has dismissed, records or windows.
    """
    return [
        Waiting(row["window"], None if row["position"] is None else tuple(row["position"]), is_own)
        for row, is_own in _rows(lake, feed, name)
    ]


def _rows(lake: Lake, feed: Feed, name: str) -> Iterator[tuple[Mapping[str, Any], bool]]:
    dismissed, windows = feed.decisions.dismissed(), set(feed.retention.dismissed)
    for rows in lake.in_process_table(Layer.QUARANTINE, feed.name).each(_READ):
        mine = pc.fill_null(pc.equal(rows["table"], name), True)
        for row in rows.filter(pc.and_(mine, pc.not_equal(rows["reason"], REASON))).to_pylist():
            place = (row["object"], row["generation"], row["line"], row["byte_offset"])
            if place not in dismissed and row["window"] not in windows:
                yield row, row["table"] is not None


def by_window(waiting: list[Waiting]) -> dict[str, int]:
    """How many events wait, by their window."""
    return dict(Counter(one.window for one in waiting))


def first_position(waiting: list[Waiting], old: Horizon | None) -> Position | None:
    """The smallest known position above the ``old`` horizon; a record that cannot be read has none."""
    known = [one.position for one in waiting if one.of_table and one.position is not None]
    above = [one for one in known if old is None or one > old.position]
    return min(above, default=None)
