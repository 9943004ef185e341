"""Compaction between runs, by the oracle: which changes are folded, which come too late, which tombstones go."""

from __future__ import annotations

from dataclasses import dataclass

from assets.gold.plan import plan_of
from assets.maintenance import compaction
from assets.maintenance.plan import Plan
from assets.storage.lake import Lake
from tests.laws.oracle.event import Event, LogPosition, event_id
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed


def compact(lake: Lake, feed: Feed, compaction_watermark: LogPosition) -> None:
    """Compact every table of the feed up to this position, whatever the feed says of retention."""
    for name, table in feed.tables.items():
        plan = Plan(None, CompactionWatermark(compaction_watermark), ())
        compaction.with_history(lake, plan_of(lake, feed, table, name, []), plan, dry_run=False)


@dataclass(frozen=True)
class Compacted:
    """What a compaction watermark means for events: ``known`` are those that were there when it was drawn, by id."""

    compaction_watermark: LogPosition
    known: frozenset[str]

    @classmethod
    def of(cls, compaction_watermark: LogPosition, delivered: list[Event]) -> Compacted:
        """Drawn when these had been delivered."""
        below = (
            event for event in delivered if is_covered(event.log_position, compaction_watermark)
        )
        return cls(compaction_watermark, frozenset(map(event_id, below)))

    def is_too_late(self, event: Event) -> bool:
        """True for what should have come before the compaction watermark was drawn."""
        return (
            is_covered(event.log_position, self.compaction_watermark)
            and event_id(event) not in self.known
        )

    def is_known(self, event: Event) -> bool:
        """True for repeats of what is in the base."""
        return event_id(event) in self.known


def is_covered(log_position: LogPosition, compaction_watermark: LogPosition) -> bool:
    """True at or below the compaction watermark."""
    return log_position <= compaction_watermark[: len(log_position)]
