"""The last look at a feed's source, kept in the warehouse for its page and for `weir status`."""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter

from assets.storage.lake import Lake
from orchestration.observability.stored_text import read_text, store_text
from transforms.feed.feed import Feed
from transforms.source_health import SourceFacts

FOLDER: Final = "_health"

_FACTS = TypeAdapter(SourceFacts)


def place_of(lake: Lake, feed: Feed) -> str:
    """Where it is kept."""
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.json"


def keep_look(lake: Lake, feed: Feed, facts: SourceFacts) -> None:
    """Put a look in the place of the one before it."""
    text = _FACTS.dump_json(facts, indent=2).decode() + "\n"
    store_text(place_of(lake, feed), text, "application/json")


def last_look(lake: Lake, feed: Feed) -> SourceFacts | None:
    """The look that is kept; None where there is none, or where the feed file no longer says what is to be watched."""
    stored = read_text(place_of(lake, feed)) if feed.watches_source else None
    return None if stored is None else _FACTS.validate_json(stored)
