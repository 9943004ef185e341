"""What a task that folds a gold table has counted; tasks' counts are summed up in the driver.

Put here a number that comes out of such tasks. Not here: what a run reports of them (``assets/gold/applied.py``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """What one task has counted.

    ``deliveries``: new events. ``repeats``, ``superseded``: those that had come before, and those that change nothing.
    ``keys``: keys that changed; ``merged``: those of which columns keep their old values. ``absent``: keys that are
    absent now; ``needs_tombstone_merge``: those of them whose last change is no later than the one that gold had: their
    tombstone has to replace the old one, because appended it would not be the newest. ``drops_tombstone``: keys that
    are present although their tombstone is at a later position: that tombstone has to be deleted. ``needing_history``:
    keys that have to be folded from all their changes. ``refolded``: keys that were folded so, and
    ``keys_with_late_events`` those of them of which an event came late. ``ties``: keys with two events at one position.
    ``foreign_copies``: keys with several rows in gold. ``removed``, ``changed``: how many rows scoped changes removed,
    or changed otherwise, by event.
    """

    deliveries: int = 0
    repeats: int = 0
    superseded: int = 0
    keys: int = 0
    absent: int = 0
    needs_tombstone_merge: int = 0
    drops_tombstone: int = 0
    merged: int = 0
    needing_history: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    foreign_copies: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add another task's counts."""
        for name in self.__slots__:
            if name in ("removed", "changed"):
                getattr(self, name).update(getattr(other, name))
            else:
                setattr(self, name, getattr(self, name) + getattr(other, name))
