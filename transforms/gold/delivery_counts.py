"""Counts a key's deliveries: which events this run brings, and which of them came before.

Used only for keys that are folded from their history. Put here what a key's deliveries add up to. Not here: whether an
event came late (``onto_gold``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from transforms.gold.change import Change
from transforms.gold.state import Last


@dataclass(slots=True)
class DeliveryCounts:
    """What a key's deliveries add up to, by the ids of their events.

    ``last``: the key's last change in gold. ``deliveries``: how many deliveries of the key's own events the run brings.
    ``new``: the ids of these events; ``older``: of those among them that stand before the last one. ``old``: the ids of
    events that other windows brought.
    """

    last: Last | None
    deliveries: int = 0
    new: set[str] = field(default_factory=set)
    older: set[str] = field(default_factory=set)
    old: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Gold has had the last one."""
        if self.last is not None:
            self.old.add(self.last.event_id)

    def add(self, change: Change, *, is_new: bool) -> None:
        """Count a delivery; ``is_new``: whether the run brings it."""
        if not is_new:
            self.old.add(change.event_id)
        elif not change.is_derived:
            self.deliveries += 1
            self.new.add(change.event_id)
            if self.last is not None and change.log_position < self.last.log_position:
                self.older.add(change.event_id)

    def repeats(self) -> int:
        """How many of the deliveries came before, in this run or in others."""
        return self.deliveries - len(self.new - self.old)

    def superseded(self, *, came_late: bool) -> int:
        """How many new events stand before the last one and changed nothing.

        0 where some event came late: nobody can tell which of them it was.
        """
        return 0 if came_late else len(self.older - self.old)
