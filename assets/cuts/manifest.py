"""The newest cut of a feed, recorded and kept as one JSON file in the warehouse, for readers that are not Weir."""

from __future__ import annotations

import json
from typing import Any, Final

from assets.cuts.record import Recorded, record, why_none
from assets.storage.lake import Lake, Layer
from assets.storage.stored_text import store_text
from transforms.errors import TableBusy
from transforms.feed.feed import Feed

FOLDER: Final = "_cuts"


def place_of(lake: Lake, feed: Feed) -> str:
    """Where it is kept."""
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.json"


def facts_of(feed: Feed, found: Recorded) -> dict[str, Any]:
    """The manifest as plain values; ``position`` and all that goes with it are null before the first cut."""
    cut = found.cut if found.cut is not None and found.cut.is_reached else None
    return {
        "feed": feed.name,
        "position": cut and cut.text,
        "log_position": cut and [*cut.log_position],
        "source_at": cut and cut.source_at and cut.source_at.isoformat(),
        "recorded_at": cut and cut.recorded_at.isoformat(),
        "seen_at": cut and cut.seen_at.isoformat(),
        "late_events": cut and cut.late_events,
        "broken_by": cut and cut.broken_by,
        "held_by": [*found.held_by],
        "tables": [
            {
                "table": f"gold.{feed.name}.{one.name}",
                "path": one.path,
                "version": one.version,
                "is_exact": one.keys_ahead == 0,
                "keys_ahead": one.keys_ahead,
            }
            for one in (cut.tables if cut else ())
        ],
    }


def published(lake: Lake, feed: Feed) -> Recorded:
    """Record how far all tables of the feed are whole now, and put the manifest in the place of the one before.

    Raises:
        TableBusy: another run records it.
    """
    found = record(lake, feed)
    text = json.dumps(facts_of(feed, found), indent=2) + "\n"
    store_text(place_of(lake, feed), text, "application/json")
    return found


def published_again(lake: Lake, feed: Feed) -> Recorded | None:
    """``published`` after tables were written again, for a feed that has cuts; None where it has none.

    The versions that the newest cut names are older then, and may be gone. Where another run is at it, that one has
    seen the new versions, or its next does.
    """
    if why_none(feed) is not None or not lake.in_process_table(Layer.CUTS, feed.name).exists:
        return None
    try:
        return published(lake, feed)
    except TableBusy:
        return None
