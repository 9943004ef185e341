"""What the fold of a gold table has counted; a task counts for itself, and what all of them counted is added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from transforms.gold.change import Key

SHOWN = 10
"""So many keys are named of those that break a rule."""


@dataclass(slots=True)
class FoldMetrics:
    """What one task has counted.

    ``deliveries``: new events. ``repeats``, ``superseded``: those that had come before, and those that change nothing.
    ``keys``: keys that changed; ``updated``: those of which columns keep their old values. ``absent``: keys that are
    absent now; ``needs_tombstone_merge``: those of them whose last change is no later than the one that gold had: their
    tombstone has to replace the old one, because appended it would not be the newest. ``drops_tombstone``: keys that
    are present although their tombstone is at a later position: that tombstone has to be deleted. ``needing_history``:
    keys that have to be folded from all their changes. ``refolded``: keys that were folded so, and
    ``keys_with_late_events`` those of them of which an event came late. ``ties``: keys with two events at one position.
    ``never_inserted``: keys whose row began with an update, or of which only some columns are known.
    ``foreign_copies``: keys with several rows in gold. ``removed``, ``changed``: how many rows range deletes removed,
    or changed otherwise, by event. ``late_keys``, ``tied_keys``, ``copied_keys``, ``partial_keys``: some of the keys
    that were counted so, at most ``SHOWN`` of each.
    """

    deliveries: int = 0
    repeats: int = 0
    superseded: int = 0
    keys: int = 0
    absent: int = 0
    needs_tombstone_merge: int = 0
    drops_tombstone: int = 0
    updated: int = 0
    needing_history: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    never_inserted: int = 0
    foreign_copies: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    late_keys: list[Key] = field(default_factory=list)
    tied_keys: list[Key] = field(default_factory=list)
    copied_keys: list[Key] = field(default_factory=list)
    partial_keys: list[Key] = field(default_factory=list)

    def add(self, other: FoldMetrics) -> None:
        """Add another task's counts."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            elif isinstance(mine, list):
                mine += theirs[: SHOWN - len(mine)]
            else:
                setattr(self, name, mine + theirs)

    def count_late(self, key: Key) -> None:
        """A key of which an event came late."""
        self.keys_with_late_events += 1
        self._show(self.late_keys, key)

    def count_tie(self, key: Key) -> None:
        """A key with two events at one position."""
        self.ties += 1
        self._show(self.tied_keys, key)

    def count_never_inserted(self, keys: Sequence[Key], others: int = 0) -> None:
        """Keys whose rows began with an update, or are known in part; ``others``: how many more there are of them."""
        self.never_inserted += len(keys) + others
        for key in keys:
            self._show(self.partial_keys, key)

    def count_copies(self, key: Key) -> None:
        """A key with several rows in gold, which somebody else has written."""
        self.foreign_copies += 1
        self._show(self.copied_keys, key)

    @staticmethod
    def _show(some: list[Key], key: Key) -> None:
        if len(some) < SHOWN:
            some.append(key)
