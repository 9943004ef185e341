"""Compaction between runs, by the oracle: which changes are folded, which come too late, which tombstones go."""

from __future__ import annotations

from dataclasses import dataclass

from assets.gold.plan import plan_of
from assets.lake import Lake
from assets.upkeep import compaction
from assets.upkeep.horizon_plans import Plan
from tests.laws.oracle.event import Event, Position, event_id
from transforms.feed.feed import Feed
from transforms.horizons import Horizon


def compact(lake: Lake, feed: Feed, horizon: Position) -> None:
    """Compact every table of the feed up to this position, whatever the feed says of retention."""
    for name, table in feed.tables.items():
        plan = Plan(None, Horizon(horizon), ())
        compaction.with_history(lake, plan_of(lake, feed, table, name, []), plan, dry_run=False)


@dataclass(frozen=True)
class Compacted:
    """What a horizon means for events: ``known`` are those that were there when it was drawn, by id."""

    horizon: Position
    known: frozenset[str]

    @classmethod
    def of(cls, horizon: Position, delivered: list[Event]) -> Compacted:
        """Drawn when these had been delivered."""
        below = (event for event in delivered if is_covered(event.position, horizon))
        return cls(horizon, frozenset(map(event_id, below)))

    def is_too_late(self, event: Event) -> bool:
        """True for what should have come before the horizon was drawn."""
        return is_covered(event.position, self.horizon) and event_id(event) not in self.known

    def is_known(self, event: Event) -> bool:
        """True for repeats of what is in the base."""
        return event_id(event) in self.known


def is_covered(position: Position, horizon: Position) -> bool:
    """True at or below the horizon."""
    return position <= horizon[: len(position)]
