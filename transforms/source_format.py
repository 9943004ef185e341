"""What a source format says about itself, and the functions that it gives.

An event is one operation of the source as a record tells it, before the feed's declarations are applied: no key, no
types, no judgement of repeats. ``silver`` does those for every format alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from transforms.event import Event, Pending
from transforms.feed.feed import Feed, Table
from transforms.record import BronzeRecord, Record
from transforms.splitting.limits import DEFAULTS, Limits
from transforms.warning import EventWarning


class Split(Protocol):
    """Cuts the bytes of an object, by the feed and the object's name, into records that keep within the limits."""

    def __call__(
        self, data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS, /
    ) -> Iterator[Record]:
        """The records, in the order of their places."""
        ...


Decode = Callable[[BronzeRecord], Iterable[Event | Pending]]
"""What a record means: its events, in order, or what its neighbours have to decide. Every record gives at least one."""

Decoder = Callable[[Feed, Mapping[str, frozenset[tuple[object, ...]]]], Decode]
"""Gives a feed's ``Decode``, by what its surveyor found in each window."""

Resolve = Callable[[Sequence[Any]], Iterable[Event]]
"""What the pending ones of one group mean: takes what they ``said``, in their order, and gives one event for each."""

Survey = Callable[[BronzeRecord], Iterable[tuple[object, ...]]]
"""What a record says that others of its window need: facts, as tuples of plain values."""


class Telling(NamedTuple):
    """A row of silver, as far as it may tell where a change of another table stands (``FarPlaces``).

    ``event_at``: in microseconds since 1970 (UTC). ``is_derived``: it is no event of its own, or for many keys.
    """

    declared: str | None
    effect: str
    operation: str
    is_derived: bool
    after: Mapping[str, str | None]
    event_at: int | None


class FarPlaces(Protocol):
    """Which messages say where the changes of one table stand in other streams than their own."""

    @property
    def column(self) -> str:
        """The column of a scope for which these places count."""
        ...

    def meets(self, row: Telling) -> tuple[bool, tuple[str, ...]] | None:
        """By which texts the row meets others, and whether it is the one of the other stream; None for most."""
        ...


def no_tables(feed: Feed) -> Mapping[str, Table]:
    """The gold tables of a feed file that declares them under ``tables``."""
    return feed.tables


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One source format: facts and plain functions.

    ``files`` are the globs of its usual objects. ``split`` cuts the bytes of one object into records. ``decoder`` gives
    the function that says what a record means, for a feed and for what was surveyed in each window; it is called once
    in each process. ``resolver`` does the same for pending ones. ``surveyor`` reads what other records of the window
    need to know, of records with one of ``survey_marks`` in their payload.

    ``transactional``: whether events can be part of transactions. ``tables``: the gold tables of a feed, by their
    names; those that it declares under ``tables``, or what follows from ``predicates``, or from ``vertices`` and
    ``edges``. ``declares`` names the keys of a feed file that say which tables there are. ``warnings``: what it may
    notice. ``needs_whole_objects``: what a record becomes depends on others of its object. ``tells_tables``: its stream
    may describe tables (``event.StreamSchema``). ``reads_kafka``: whether its records may be those of a topic
    (``families/kafka_records``). ``unknowable``: sentences on what nobody can tell from such a stream.
    ``has_checkpoints``: whether it leaves notes of how far its consumer has come
    (``transforms/families/yugabyte/tablet_checkpoints.py``). ``crosses_streams``: scoped changes reach other streams by
    time, and are not for their own stream only; ``far_places``: which messages say where a table's changes stand in
    those, None where none do.
    """

    name: str
    files: tuple[str, ...]
    split: Split
    decoder: Decoder
    transactional: bool = False
    tables: Callable[[Feed], Mapping[str, Table]] = no_tables
    declares: tuple[str, ...] = ("tables",)
    warnings: tuple[EventWarning, ...] = ()
    needs_whole_objects: bool = False
    tells_tables: bool = False
    reads_kafka: bool = False
    unknowable: tuple[str, ...] = ()
    has_checkpoints: bool = False
    resolver: Callable[[Feed], Resolve] | None = None
    surveyor: Callable[[Feed], Survey] | None = None
    survey_marks: tuple[bytes, ...] = ()
    crosses_streams: bool = False
    far_places: Callable[[Feed, str], FarPlaces | None] | None = None

    @property
    def reaches_everywhere(self) -> bool:
        """Whether an event may change what becomes of others, in windows and tables that are not its own."""
        return self.transactional or self.crosses_streams
