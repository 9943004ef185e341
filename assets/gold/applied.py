"""What an apply did to gold, for the log, the UI, the checks and the summary.

Not here: the apply (``apply_table``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from assets.gold.changes.scoped_delete_effects import ScopedDeleteEffect
from transforms.silver.conforming.discovered_tables import Stopped


@dataclass(frozen=True, slots=True)
class AppliedTable:
    """One gold table after an apply: its sizes, and how many of the run's events had come before.

    ``scoped``: what its scoped changes did.
    """

    name: str
    rows: int
    tombstones: int
    repeats: int
    scoped: tuple[ScopedDeleteEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did, summed over the gold tables of one declared table.

    ``changes`` counts the run's silver rows; ``repeats`` those of them that are known to have come before, and
    ``superseded`` those that stand before their key's last change and change nothing: late ones or repeats, which are
    not told apart. ``refolded``: keys that were folded anew from their history; ``keys_with_late_events``: those of
    them of which an event came late, and that changed what the table has. ``ties``: keys with two events at one place.
    ``rows`` and ``tombstones`` are the tables' sizes afterwards. ``waits_for`` are windows to be derived anew under a
    changed declaration before gold can follow it. ``stopped``: gold tables that stay as they were, each with the
    reason.
    """

    tables: tuple[AppliedTable, ...] = ()
    changes: int = 0
    repeats: int = 0
    superseded: int = 0
    keys: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    foreign_copies: int = 0
    rows: int = 0
    tombstones: int = 0
    rebuilt: bool = False
    waits_for: tuple[str, ...] = ()
    stopped: Mapping[str, Stopped] = field(default_factory=dict)

    def plus(self, other: Self) -> Self:
        """Both together."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__slots__
            if name not in ("tables", "rebuilt", "waits_for", "stopped")
        }
        return replace(
            self,
            tables=self.tables + other.tables,
            rebuilt=self.rebuilt or other.rebuilt,
            waits_for=tuple(sorted({*self.waits_for, *other.waits_for})),
            stopped={**self.stopped, **other.stopped},
            **sums,
        )
