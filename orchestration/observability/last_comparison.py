"""The last comparison of gold with its live source, kept in the warehouse for the feed's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from assets.reconcile.compare import Reconciled
from assets.reconcile.words import explain_line, in_numbers, state_of
from assets.storage.lake import Lake
from assets.storage.stored_text import read_text, store_text
from transforms.feed.feed import Feed

FOLDER: Final = "_reconcile"

KEYS_KEPT: Final = 20
"""Of so many keys of a table that differ it is kept which they are."""


@dataclass(frozen=True, slots=True)
class TableCompared:
    """What a comparison found of one gold table.

    ``state``: one of ``words.STATES``. ``says``: the numbers, or why it was not compared. ``kinds``: how many keys
    differ, by kind. ``explain``: what to type for the story of the first of them.
    """

    table: str
    state: str
    says: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    explain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of all gold tables of a feed: when it was made, where the source's log stood, what was found."""

    compared_at: datetime
    place: str
    tables: tuple[TableCompared, ...]

    @property
    def differing(self) -> int:
        """How many keys differ."""
        return sum(sum(one.kinds.values()) for one in self.tables)

    @property
    def untold(self) -> list[TableCompared]:
        """The tables of which something could not be told."""
        return [one for one in self.tables if one.state in ("behind", "not compared")]


_COMPARISON: Final = TypeAdapter(Comparison)


def noted(feed: Feed, found: Reconciled, now: datetime) -> Comparison:
    """What is kept of a comparison: no values, and few keys."""
    return Comparison(
        now,
        found.place.text,
        tuple(
            TableCompared(
                one.table,
                state_of(one),
                one.reason or "; ".join(filter(None, (in_numbers(one), one.untold))),
                dict(Counter(each.kind for each in one.different)),
                tuple(
                    explain_line(feed, one.table, each.key) for each in one.different[:KEYS_KEPT]
                ),
            )
            for one in found.tables
        ),
    )


def without_keys(made: Comparison) -> Comparison:
    """A comparison that says how many keys differ and not which."""
    return replace(made, tables=tuple(replace(one, explain=()) for one in made.tables))


def place_of(lake: Lake, feed: Feed) -> str:
    """Where the last comparison is kept."""
    return f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}.json"


def keep_comparison(lake: Lake, feed: Feed, made: Comparison) -> None:
    """Put a comparison in the place of the one before it."""
    text = _COMPARISON.dump_json(made, indent=2).decode() + "\n"
    store_text(place_of(lake, feed), text, "application/json")


def last_comparison(lake: Lake, feed: Feed) -> Comparison | None:
    """The comparison that is kept; None where there is none."""
    stored = read_text(place_of(lake, feed)) if feed.running.source else None
    return None if stored is None else _COMPARISON.validate_json(stored)
