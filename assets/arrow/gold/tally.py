"""What a task that folds a gold table has counted; tasks' counts are summed up in the driver.

Put here a number that comes out of such tasks. Not here: what a run reports of them (``assets/gold/applied.py``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """What one task has met.

    ``absent``: keys that are gone, ``receded``: those of them whose last change stands no later than the one that gold
    had, so that a tombstone beside the old one would not be the newest. ``risen``: keys that are there, by changes that
    stand before their tombstone. ``refolded``: keys that were folded from their history, and ``keys_with_late_events``
    those of them of which an event came late. ``removed``, ``changed``: rows that scoped changes removed, and others
    that they changed, by event.
    """

    deliveries: int = 0
    repeats: int = 0
    superseded: int = 0
    keys: int = 0
    absent: int = 0
    receded: int = 0
    risen: int = 0
    merged: int = 0
    untold: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    foreign_copies: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Take another task's counts."""
        for name in self.__slots__:
            if name in ("removed", "changed"):
                getattr(self, name).update(getattr(other, name))
            else:
                setattr(self, name, getattr(self, name) + getattr(other, name))
