"""Recorded decisions: what a person decided about a feed, as plain facts that silver and gold are functions of.

A decision is made by a command or stands in the feed file, and is never forgotten: gold is what events and decisions
make of each other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import ClassVar, TypeAlias

from transforms.feed.erasures import Erasure

SourceLocation: TypeAlias = tuple[str, str, int, int]
"""A record of bronze: its object, generation, line and byte offset."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """From here on, the source's positions start again.

    ``table`` is the feed file's name, or None for all tables. Events that the source made at ``time`` or later are in
    the new epoch; where it does not say when, those that were read or sent then. Those without any time, and all where
    ``time`` is None, are so from ``window`` on. No window before ``window`` has any. ``complete``: the epoch begins
    with a snapshot that names every row, so that what older epochs had and it does not name is gone.
    """

    window: str
    table: str | None = None
    time: datetime | None = None
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """A held range delete that may act: ``event_id``; ``windows`` are those that delivered it."""

    event_id: str
    windows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """A delete of many rows that gold has not applied: it waits for a ``Release``.

    ``reason``: ``loss`` where it would have removed more than the feed's ``loss_guard`` allows, ``unproved`` for a
    snapshot that is not known to be complete, ``order`` for one that acts, but not on rows of other streams that may be
    newer; ``kept`` or ``kept_order`` where a person decided that it never acts. ``table``: the gold table. ``rows``:
    how many it would have removed when that was decided, and ``keys`` some of these. ``windows``: those that brought
    it; ``log_position``: where it stands. ``source_location``: where it came from, in words.
    """

    event_id: str
    reason: str
    table: str
    operation: str
    rows: int
    keys: tuple[str, ...]
    windows: tuple[str, ...]
    log_position: tuple[int, ...]
    source_location: str

    LOSS: ClassVar[str] = "loss"
    UNPROVED: ClassVar[str] = "unproved"
    ORDER: ClassVar[str] = "order"
    KEPT: ClassVar[str] = "kept"
    KEPT_ORDER: ClassVar[str] = "kept_order"

    @property
    def acts_nowhere(self) -> bool:
        """Whether gold is made without it."""
        return self.reason in (self.LOSS, self.KEPT)

    @property
    def is_of_order(self) -> bool:
        """Whether it acts in its own stream, and the rows of others that may be older stay."""
        return self.reason in (self.ORDER, self.KEPT_ORDER)

    @property
    def kept(self) -> Hold:
        """The same as a person's decision that it never acts."""
        return replace(self, reason=self.KEPT_ORDER if self.is_of_order else self.KEPT)


@dataclass(frozen=True, slots=True)
class Dismissal:
    """Quarantined records of one object that a person has given up on: they no longer hold compaction back.

    ``source_locations`` are these records' lines and byte offsets. No row of gold depends on it: if the feed file says
    something later by which such a record can be taken, it counts like any other.
    """

    window: str
    object: str
    generation: str
    source_locations: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A record that a person has repaired: wherever bronze's record is decoded, ``payload`` is read in its place.

    ``at``: when that was decided; of several for one record the newest counts. ``alters``: events of the record may
    count already, so that gold has to be made again from its whole history; else the record only adds some.
    """

    window: str
    source_location: SourceLocation
    payload: bytes | None
    at: datetime
    by: str = ""
    reason: str = ""
    alters: bool = False


@dataclass(frozen=True, slots=True)
class Decisions:
    """All that was decided about one feed."""

    epochs: tuple[Epoch, ...] = ()
    releases: tuple[Release, ...] = ()
    holds: tuple[Hold, ...] = ()
    dismissals: tuple[Dismissal, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    erasures: tuple[Erasure, ...] = ()

    def plus(self, others: Decisions) -> Decisions:
        """Both together; what stands in both was decided once."""
        return Decisions(
            epochs=tuple(dict.fromkeys((*self.epochs, *others.epochs))),
            releases=tuple(dict.fromkeys((*self.releases, *others.releases))),
            holds=tuple(dict.fromkeys((*self.holds, *others.holds))),
            dismissals=tuple(dict.fromkeys((*self.dismissals, *others.dismissals))),
            replacements=tuple(dict.fromkeys((*self.replacements, *others.replacements))),
            erasures=tuple(dict.fromkeys((*self.erasures, *others.erasures))),
        )

    def held(self, table: str | None = None) -> list[Hold]:
        """The holds of a gold table, or of all, that nobody has released; of several for one delete the last."""
        released = {one.event_id for one in self.releases}
        found = {
            (one.table, one.event_id): one
            for one in self.holds
            if one.event_id not in released and table in (None, one.table)
        }
        return [*found.values()]

    def dismissed(self, windows: Collection[str] | None = None) -> set[SourceLocation]:
        """The source locations of all dismissed records, or of those of these windows."""
        return {
            (one.object, one.generation, line, byte_offset)
            for one in self.dismissals
            if windows is None or one.window in windows
            for line, byte_offset in one.source_locations
        }

    def replaced(self) -> dict[SourceLocation, Replacement]:
        """The replacement that counts of each repaired record, by the record's source location."""
        return {
            one.source_location: one for one in sorted(self.replacements, key=lambda one: one.at)
        }

    def superseded(self) -> list[Replacement]:
        """Those of which a later one for the same record took the place: nothing is made of them any more."""
        counting = self.replaced()
        return [one for one in self.replacements if counting[one.source_location] != one]

    def altering(self) -> tuple[Replacement, ...]:
        """Those of ``replaced`` that may change what events did that counted before."""
        return tuple(one for one in self.replaced().values() if one.alters)

    def for_table(self, table: str) -> tuple[Epoch, ...]:
        """The epochs of one table, in the order in which they follow each other."""
        mine = [epoch for epoch in self.epochs if epoch.table in (None, table)]
        return tuple(sorted(mine, key=_order))

    def for_window(self, window: str) -> Decisions:
        """Those that can change what a window's records become."""
        return Decisions(
            epochs=tuple(epoch for epoch in self.epochs if epoch.window <= window),
            releases=tuple(one for one in self.releases if window in one.windows),
            replacements=tuple(one for one in self.replacements if one.window == window),
        )

    def digest(self) -> str:
        """SHA-256 of what was decided, whoever decided it when.

        Dismissals and holds are left out: no change of silver is another for them. So are erasures, which take their
        rows out of all tables when they are recorded.
        """
        meaning = {
            "epochs": [asdict(one) for one in sorted(self.epochs, key=_order)],
            "releases": sorted(one.event_id for one in self.releases),
            "replacements": sorted(
                [*source_location, _payload_digest(one)]
                for source_location, one in self.replaced().items()
            ),
        }
        text = json.dumps(meaning, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def _payload_digest(one: Replacement) -> str:
    return "" if one.payload is None else hashlib.sha256(one.payload).hexdigest()


def _order(epoch: Epoch) -> tuple[str, str, str]:
    return (epoch.window, "" if epoch.time is None else epoch.time.isoformat(), epoch.table or "")
