"""Records that have left quarantine, ``mended.<feed>``: their windows were derived again, and took them.

It is a history for people: no table is made of it, and losing it costs nothing else. Put here how a record enters it.
Not here: the records that are in quarantine now (``records``), and the payloads that people gave (``decisions``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from assets.columns.silver import REFUSALS_ARROW
from assets.delta.small_table import SmallTable
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.decisions import Coordinates
from transforms.feed.feed import Feed
from transforms.record import COORDINATES
from transforms.silver.too_late import REASON

BY_PAYLOAD, BY_FEED_FILE = "payload", "window derived again"
"""How a record was mended: a person gave another payload, or it became readable as it is, by another feed file."""

_FAULT = ("window", *COORDINATES, "table", "reason", "detail")

MENDED = pa.schema(
    [
        *[REFUSALS_ARROW.field(name) for name in _FAULT],
        pa.field("events", pa.int64()),
        pa.field("how", pa.string()),
        pa.field("mended_at", pa.timestamp("us", "UTC")),
    ]
)
"""One row per record that left quarantine; one that left it several times has several.

``table``, ``reason`` and ``detail`` are those of the first of its ``events`` events that were there; ``how`` is
``payload`` where a person had given another payload, or else ``window derived again``.
"""

FAULTS = pa.schema([REFUSALS_ARROW.field(name) for name in _FAULT])
"""The columns of quarantine that say which record a row is of, and what is wrong with it."""

Cells = dict[str, Any]


def coordinates_of(row: Cells) -> Coordinates:
    """The coordinates of a row that has them as columns."""
    return row["object"], row["generation"], row["line"], row["byte_offset"]


def in_quarantine(
    lake: Lake, feed: Feed, windows: Collection[str] | None = None
) -> dict[Coordinates, Cells]:
    """The records in quarantine now, of all windows or of some: the first fault of each, and how many events it has."""
    return by_record(lake.local_table(Layer.QUARANTINE, feed.name).each(FAULTS, windows))


def by_record(refused: Iterable[pa.Table]) -> dict[Coordinates, Cells]:
    """The records that these rows of quarantine (``FAULTS``) are of: the first fault of each, and its ``events``."""
    found: dict[Coordinates, Cells] = {}
    for rows in refused:
        for row in rows.to_pylist():
            place = coordinates_of(row)
            known = found.get(place)
            first = row if known is None or _order(row) < _order(known) else known
            found[place] = {**first, "events": (known["events"] if known else 0) + 1}
    return found


def _order(row: Cells) -> tuple[bool | str, ...]:
    # What came too late needs nobody; another event of the same record may.
    return row["reason"] == REASON, row["table"] or "", row["reason"], row["detail"]


def note_leaving(
    lake: Lake,
    feed: Feed,
    windows: Sequence[str],
    staying: Callable[[Collection[Coordinates]], Collection[Coordinates]],
) -> None:
    """Note which records these windows will no longer have in quarantine; called before quarantine is written.

    So a run that dies in between has noted too much: for a record that is in quarantine, that counts.

    Args:
        lake: the warehouse.
        feed: the feed with its recorded decisions.
        windows: they are about to be replaced in quarantine.
        staying: which of the records that are there will be there still.
    """
    if not lake.local_table(Layer.QUARANTINE, feed.name).windows.intersection(windows):
        return
    had = {
        place: row
        for place, row in in_quarantine(lake, feed, windows).items()
        if row["reason"] != REASON
    }
    leaving = had.keys() - set(staying(had.keys())) if had else set()
    if not leaving:
        return
    replaced, now = feed.decisions.replaced(), datetime.now(UTC)
    rows = [
        {
            **had[place],
            "how": BY_PAYLOAD if place in replaced else BY_FEED_FILE,
            "mended_at": now,
        }
        for place in sorted(leaving)
    ]
    table_of(lake, feed).append(rows)


def mended(lake: Lake, feed: Feed) -> dict[Coordinates, Cells]:
    """The records that have left quarantine, by their coordinates; of one that left it several times, the last time."""
    rows = table_of(lake, feed).rows()
    return {coordinates_of(row): row for row in sorted(rows, key=lambda row: row["mended_at"])}


def table_of(lake: Lake, feed: Feed) -> SmallTable:
    """The table itself."""
    return lake.small_table(Layer.MENDED, feed.name, MENDED)
