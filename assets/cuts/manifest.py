"""The newest cut of a feed as one JSON file in the warehouse, for readers that are not Weir."""

from __future__ import annotations

import json
from typing import Any, Final

from assets.cuts.record import Recorded
from assets.storage.lake import Lake
from assets.storage.stored_text import store_text
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


def write(lake: Lake, feed: Feed, found: Recorded) -> None:
    """Put the manifest in the place of the one before."""
    text = json.dumps(facts_of(feed, found), indent=2) + "\n"
    store_text(place_of(lake, feed), text, "application/json")
