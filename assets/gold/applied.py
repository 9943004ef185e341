"""What an apply did to gold, in numbers, for the log, the UI, the checks and the summary.

Put here a number that an apply gives. Not here: the apply itself (``apply/apply_table``), and how the numbers are put
into words (``apply_reports``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from assets.gold.range_deletes import RangeDeleteEffect
from transforms.gold.change import Key
from transforms.silver.conforming.discovered_tables import Stopped

SHOWN = 10
"""So many keys are named of those that break a rule."""


def shown_keys(table: str, keys: Sequence[Key]) -> tuple[str, ...]:
    """Some of a gold table's keys as texts."""
    texts = (", ".join("null" if part is None else part for part in key) for key in keys[:SHOWN])
    return tuple(f"{table}: key {text}" for text in texts)


@dataclass(frozen=True, slots=True)
class AppliedTable:
    """One gold table after an apply.

    ``rows``, ``tombstones``: how many it has. ``in_gold_already``: how many of the run's events it had.
    ``range_deletes``: what its range deletes did.
    """

    name: str
    rows: int
    tombstones: int
    in_gold_already: int
    range_deletes: tuple[RangeDeleteEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did, summed over the gold tables of one declared table.

    ``changes``: events that the run brings. ``in_gold_already``: those of them that gold is known to have had.
    ``superseded``: those that are at an earlier position than their key's last change and change nothing; they are late
    or repeats, and nothing tells which. ``keys``: keys that changed. ``refolded``: keys that were folded from all their
    changes; ``keys_with_late_events``: those of them of which an event came late and changed what the table has.
    ``ties``: keys with two events at one position. ``foreign_copies``: keys with several rows, which somebody else has
    written. ``never_inserted``: keys whose row was only ever updated. ``rows``, ``tombstones``: the tables' sizes
    afterwards. ``rebuilt``: a table was made from all of silver again. ``waits_for``: windows to be derived under a
    changed declaration before gold can follow it. ``stopped``: gold tables that stay as they were, each with the
    reason. ``executors``: which of them did the work. ``held``: a line for each delete that waits for a decision.
    ``unnamed``: one for each snapshot in chunks that does not name some rows. ``columns``: the columns that the gold
    tables have afterwards, with their types; empty where none is as it is declared now.
    ``late_keys``, ``tied_keys``, ``copied_keys``, ``partial_keys``: some of the keys that were counted so.
    """

    tables: tuple[AppliedTable, ...] = ()
    changes: int = 0
    in_gold_already: int = 0
    superseded: int = 0
    keys: int = 0
    refolded: int = 0
    keys_with_late_events: int = 0
    ties: int = 0
    foreign_copies: int = 0
    never_inserted: int = 0
    rows: int = 0
    tombstones: int = 0
    rebuilt: bool = False
    waits_for: tuple[str, ...] = ()
    stopped: Mapping[str, Stopped] = field(default_factory=dict)
    executors: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    late_keys: tuple[str, ...] = field(default=(), compare=False)
    tied_keys: tuple[str, ...] = field(default=(), compare=False)
    copied_keys: tuple[str, ...] = field(default=(), compare=False)
    partial_keys: tuple[str, ...] = field(default=(), compare=False)

    def plus(self, other: Self) -> Self:
        """The sums of both."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__slots__
            if name not in ("tables", "rebuilt", "waits_for", "stopped", "executors", "columns")
        }
        return replace(
            self,
            tables=self.tables + other.tables,
            rebuilt=self.rebuilt or other.rebuilt,
            waits_for=tuple(sorted({*self.waits_for, *other.waits_for})),
            stopped={**self.stopped, **other.stopped},
            executors=tuple(sorted({*self.executors, *other.executors})),
            columns={**self.columns, **other.columns},
            **sums,
        )
