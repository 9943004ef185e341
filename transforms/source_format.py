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


def always(feed: Feed) -> bool:
    """True for every feed."""
    return True


@dataclass(frozen=True, slots=True)
class ExtraAsset:
    """A Dagster asset that only feeds of this format have, beside those that all feeds have.

    Args:
        key: The first part of the asset's key; the second is the feed's name.
        module: The module below ``assets`` that makes it: its ``build(feed)`` gives the asset.
        is_needed: Whether a feed of the format has it.
        follows_progress: It comes after the window is written down as finished; by default it has to be made before.
    """

    key: str
    module: str
    is_needed: Callable[[Feed], bool] = always
    follows_progress: bool = False


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One source format: facts and plain functions. Only the first four have to be given.

    Args:
        name: The format's name in feed files; the module has it, too.
        files: The globs of its usual objects.
        split: Cuts the bytes of one object into records.
        decoder: Gives the function that says what a record means, for a feed and for what was surveyed in each window.
            It is called once in each process.
        transactional: Whether events can be part of transactions.
        tables: The gold tables of a feed, by their names: those that it declares under ``tables``, or what follows
            from other keys of the feed file.
        declares: The keys of a feed file that say which tables there are.
        warnings: What the format may notice in events that it takes all the same; each becomes a check.
        needs_whole_objects: What a record becomes depends on other records of its object.
        tells_tables: The stream may describe tables (``event.StreamSchema``).
        reads_kafka: The records may be those of a topic (``families/kafka_records``).
        unknowable: Sentences on what nobody can tell from such a stream; ``weir status`` shows them.
        extra_assets: The Dagster assets that only feeds of this format have. Definitions and progress read this list.
        resolver: Gives the function that says what pending events of one group mean, for a feed.
        surveyor: Gives the function that reads what other records of the window need to know, for a feed.
        survey_marks: Only records with one of these in their payload are surveyed.
        crosses_streams: Scoped changes reach other streams by time, and not their own stream only.
        far_places: Which messages say where a table's changes stand in other streams; None where none do.
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
    extra_assets: tuple[ExtraAsset, ...] = ()
    resolver: Callable[[Feed], Resolve] | None = None
    surveyor: Callable[[Feed], Survey] | None = None
    survey_marks: tuple[bytes, ...] = ()
    crosses_streams: bool = False
    far_places: Callable[[Feed, str], FarPlaces | None] | None = None

    def extras_of(self, feed: Feed) -> list[ExtraAsset]:
        """The extra assets that this feed has."""
        return [extra for extra in self.extra_assets if extra.is_needed(feed)]

    @property
    def reaches_everywhere(self) -> bool:
        """Whether an event may change what becomes of others, in windows and tables that are not its own."""
        return self.transactional or self.crosses_streams
