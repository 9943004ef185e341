"""What a run has to know of one gold table, and what it does to it.

Put here the values that go into a table's fold and come out of it. Not here: the fold of a table (``table``), and how
silver and gold are read and written (``assets``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from transforms.gold.change import Change, Key
from transforms.gold.key_changes import Links
from transforms.gold.onto_gold import Outcome
from transforms.gold.scopes import Scoped
from transforms.gold.state import State
from transforms.gold.streams.crossing import Crossing, CrossStreamPosition
from transforms.horizons import Horizon


class Silver(Protocol):
    """Reads what silver and the base rows have of a table's keys, where it is asked for."""

    def history(self, keys: Collection[Key] | None) -> Mapping[Key, Sequence[Change]]:
        """By key, the changes of these keys, or of every key (None); without scoped changes, and in any order."""

    def base(self, keys: Collection[Key] | None) -> Mapping[Key, State]:
        """By key, what these keys, or all, were at the table's horizon; without keys that had nothing there."""

    def streams(self, keys: Collection[Key] | None) -> Mapping[Key, Collection[str | None]]:
        """By key, the streams of which these keys, or all, have changes."""

    def links(self) -> Links:
        """The keys that key changes link."""


@dataclass(frozen=True, slots=True)
class NewChanges:
    """What a run brings for one table.

    ``changes``: those of single keys. ``scoped``: all scoped ones of the table; ``is_past`` marks those of earlier
    windows. ``moves``: whether keys may be linked. ``keeps_history``: whether every version of a row is kept.
    ``crossing``: where scoped changes stand in other streams, None where they reach none; ``cross_stream_positions``:
    of changes there, by event; ``placed``: the keys of those whose place was not known before. ``horizon``: up to where
    the table's history is in its base.
    """

    changes: Mapping[Key, Sequence[Change]]
    scoped: Sequence[Scoped] = ()
    moves: bool = False
    keeps_history: bool = False
    crossing: Crossing | None = None
    cross_stream_positions: Mapping[str, Collection[CrossStreamPosition]] = field(
        default_factory=dict
    )
    placed: Collection[Key] = ()
    horizon: Horizon | None = None

    @property
    def needs_streams(self) -> bool:
        """Whether some scoped change is for keys of one stream only."""
        return any(one.stream is not None for one in self.scoped)


@dataclass(slots=True)
class TableOutcome:
    """What a run does to one table.

    ``states``: by key, what each key is that has changed. ``asked``: the keys that needed their whole history;
    ``refolded``: these, and all keys that are linked with them. ``late``: the refolded keys that had a late event.
    ``superseded``: events below a reset position. ``known``: last events of keys that came again. ``repeats``: events
    that the run itself brings several times. These three leave out the keys in ``asked``, for which
    ``transforms/gold/delivery_counts.py`` counts. ``tied``: keys that have two events at one place.
    """

    states: dict[Key, State] = field(default_factory=dict)
    asked: set[Key] = field(default_factory=set)
    refolded: set[Key] = field(default_factory=set)
    late: set[Key] = field(default_factory=set)
    superseded: int = 0
    known: int = 0
    repeats: int = 0
    tied: list[Key] = field(default_factory=list)

    def add(self, key: Key, outcome: Outcome) -> None:
        """Count what became of a key."""
        if outcome.counts.has_ties:
            self.tied.append(key)
        if outcome.needs_history:
            # What its history says counts, and says it exactly.
            self.asked.add(key)
            return
        self.superseded += outcome.superseded
        self.known += outcome.known
        self.repeats += outcome.counts.repeats
        if outcome.state is not None:
            self.states[key] = outcome.state
