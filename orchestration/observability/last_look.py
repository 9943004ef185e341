"""The looks at a feed's source that the warehouse keeps: the last as it was, and few numbers of those before it."""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter

from assets.storage.lake import Lake
from assets.storage.locks import in_turn
from assets.storage.stored_text import read_text, store_text
from transforms.feed.feed import Feed
from transforms.source_health import LookFigures, SourceFacts, look_figures

FOLDER: Final = "_health"

LOOKS_KEPT: Final = 300
"""Of so many looks the numbers are kept, the newest: three days of the schedule's."""

_FACTS = TypeAdapter(SourceFacts)
_FIGURES = TypeAdapter(tuple[LookFigures, ...])


def place_of(lake: Lake, feed: Feed) -> str:
    """Where the last look is kept."""
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.json"


def _place_of_history(lake: Lake, feed: Feed) -> str:
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.history.json"


def keep_look(lake: Lake, feed: Feed, facts: SourceFacts) -> None:
    """Put a look in the place of the last one, unless that is newer, and add its numbers to the history.

    Raises:
        TableBusy: another look was being kept for too long.
    """
    # A run and the schedule may look at the same time, and each reads the history before it writes it.
    with in_turn(lake, f"{FOLDER}.{feed.name}"):
        _keep(lake, feed, facts)


def _keep(lake: Lake, feed: Feed, facts: SourceFacts) -> None:
    stored = read_text(place_of(lake, feed))
    if stored is None or _FACTS.validate_json(stored).looked_at <= facts.looked_at:
        text = _FACTS.dump_json(facts, indent=2).decode() + "\n"
        store_text(place_of(lake, feed), text, "application/json")
    every = [*_looks(lake, feed), look_figures(facts, feed.running.health)]
    every.sort(key=lambda one: one.looked_at)
    text = _FIGURES.dump_json(tuple(every[-LOOKS_KEPT:])).decode() + "\n"
    store_text(_place_of_history(lake, feed), text, "application/json")


def last_look(lake: Lake, feed: Feed) -> SourceFacts | None:
    """The look that is kept; None where there is none, or where the feed file no longer says what is to be watched."""
    stored = read_text(place_of(lake, feed)) if feed.watches_source else None
    return None if stored is None else _FACTS.validate_json(stored)


def looks(lake: Lake, feed: Feed) -> tuple[LookFigures, ...]:
    """The newest looks in numbers, the oldest of them first; none where the feed file no longer asks for any."""
    return _looks(lake, feed) if feed.watches_source else ()


def _looks(lake: Lake, feed: Feed) -> tuple[LookFigures, ...]:
    stored = read_text(_place_of_history(lake, feed))
    return () if stored is None else _FIGURES.validate_json(stored)
