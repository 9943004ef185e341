"""What a source format says of itself, and the functions that it gives: the one thing that a new format has to fill in.

A format turns records into events, and no more: events have no key, no types, and nobody has looked yet whether they
came before. ``silver`` does all that for every format alike, by what the feed file declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from transforms.cuts.log_spelling import SourceLog
from transforms.event import Event, EventWarning, Pending
from transforms.feed.feed import Feed, Table
from transforms.onboarding.proposal import Propose, Recognise
from transforms.record import DEFAULT_LIMITS, BronzeRecord, Limits, Record
from transforms.records import json_documents
from transforms.shape import ReadShape

JSON_FILES: Final = ("**/*.json*", "**/*.jsonl*", "**/*.ndjson*")
AVRO_FILES: Final = ("**/*.avro",)


class Split(Protocol):
    """Cuts the decompressed bytes of one object into records."""

    def __call__(
        self, data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS, /
    ) -> Iterator[Record]:
        """The object's records in their order; what is too long or cannot be cut out whole has a ``defect``.

        ``object_name`` is relative to the landing.
        """
        ...


def split_json(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """JSON documents, one a line, pretty-printed, concatenated or in an array."""
    return json_documents.split(data, limits)


Decode = Callable[[BronzeRecord], Iterable[Event | Pending]]
"""What one record means: its events in their order. A ``Pending`` stands for an event that other records decide.

Every record gives at least one: a record that cannot be read gives an event with a ``fault``, and nothing raises.
"""

Surveyed = Mapping[str, frozenset[tuple[object, ...]]]
"""By landing window, the facts that the format's ``Survey`` found."""

Decoder = Callable[[Feed, Surveyed], Decode]
"""Makes the ``Decode`` of a feed.

It is called once in each process, so that what is worked out for a feed is worked out once.
"""

Resolve = Callable[[Sequence[Any]], Iterable[Event]]
"""What the records of one group mean: takes what each ``Pending`` ``said``, in order, and gives one event for each."""

SchemaIds = Callable[[Feed, BronzeRecord], Iterable[str]]
"""The ids of the schemas in a registry that a record was written with: none for most."""

Survey = Callable[[BronzeRecord], Iterable[tuple[object, ...]]]
"""What one record says that other records of its window need to know: facts, as tuples of plain values."""


KeyIs: TypeAlias = Literal["own", "old", "new"]


class KeyBeside(NamedTuple):
    """A key that a record holds beside its value.

    ``key_is``: the key of a row that is gone already, of which the record says nothing else (``own``), or the other key
    of a key change: the one that the row of the record had before (``old``), or has from then on (``new``). ``event``:
    a delete of the row of that key. ``of``: the record's own event. ``said``: the bytes in which the key stands; None
    where that is the message's key.
    """

    key_is: KeyIs
    event: Event
    of: Event
    said: bytes | None


@dataclass(frozen=True, slots=True)
class ExtraAsset:
    """A Dagster asset that only feeds of this format have, beside those that all feeds have.

    ``key``: the first part of the asset's key; the second is the feed's name. ``module``: the module below ``assets``
    whose ``build(feed)`` gives the asset. ``is_needed``: whether a feed of the format has it. ``follows_progress``: it
    comes after the window is written down as finished; by default it has to be made before.
    """

    key: str
    module: str
    is_needed: Callable[[Feed], bool] = lambda feed: True
    follows_progress: bool = False


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One source format: facts and plain functions. Only ``name``, ``files``, ``split`` and ``decoder`` are required.

    Reading:

    - ``name``: that of its module, and what a feed file says under ``format``.
    - ``files``: globs of the objects that usually hold it, for feeds that name no files of their own.
    - ``split``: cuts the bytes of one object into records.
    - ``decoder``: makes the function that says what a record means.
    - ``reads_csv``: whether its files are CSV, whose dialect a feed file may say (``csv``).
    - ``reads_kafka``: whether its records may come from a topic, or from a dump of one (``families/kafka_records``).
    - ``needs_whole_objects``: whether what a record means depends on other records of its object.
    - ``shapes``: for a format many of whose records are alike: makes the function that reads one by its shape.
    - ``resolver``: for a format whose records decide each other's meaning, makes the function that turns a group of
      ``Pending`` into events.
    - ``surveyor``: for a format whose records need to know what others of their window say, makes the function that
      collects those facts. It is asked only about records with one of ``survey_marks`` in their payload.

    Tables:

    - ``tables``: the gold tables of a feed, by their names: those that it declares under ``tables``, or what follows
      from other declarations (predicates, vertex and edge types).
    - ``declares``: the keys of a feed file that say which tables there are.
    - ``has_placeholders``: whether a text stands for values that the source did not log; a feed file can say which.
    - ``has_documents``: whether a row may come as one document; a feed file can name the column that has it whole.
    - ``may_be_unwrapped``: whether its rows may come without their envelopes; a feed file says how deletes come then.
    - ``schema_ids``: for a format whose records may name schemas in a registry, by which they have to be decoded: says
      which ones. A feed file says where they are, and ``Feed.schemas`` has them by the time a decoder is made.
    - ``keys_beside``, ``marks_of_headers``: for a format whose records may hold keys beside their values: makes the
      function that reads them, and how the names of headers begin that hold some. An erasure asks for them.
    - ``describes_tables``: whether the stream may describe tables itself (``event.StreamSchema``).
    - ``extra_assets``: the Dagster assets that only feeds of this format have. Definitions and progress read this list.

    What events may do:

    - ``transactional``: whether events can be part of transactions, whose changes wait for the commit.
    - ``crosses_streams``: whether range deletes reach rows of other streams, and not only of their own.
    - ``arrives_by``: for a format whose events have no times: the column that says which changes its source sends in
      their order; positions that begin again then show by the order in which they came.

    - ``log_of``: for a format whose sources may write one log for all tables, and say where transactions end: the log
      that a record of a topic comes from; None where the record does not say, or its source has several. Only such
      feeds have cuts (docs/cuts.md).

    What a user should know:

    - ``warnings``: what the format may notice in events that it takes all the same.
    - ``unknowable``: sentences on what nobody can know from such a stream.

    - ``operations_so_far``: of a record's bytes, the table that they name and how many operations its source says it
      had written with this one; None where a record does not say. Such files are asked for gaps.

    What `weir onboard` proposes for drops of it:

    - ``fields``: names that its records have, by which drops of no format are told the nearest one.
    - ``recognise``: by which marks a record is known to be of the format. None: only ``--format`` says so.
    - ``propose``: what a feed should declare, by a sample. None: the tables that the events name.
    """

    name: str
    files: tuple[str, ...]
    split: Split
    decoder: Decoder
    transactional: bool = False
    tables: Callable[[Feed], Mapping[str, Table]] = lambda feed: feed.tables
    declares: tuple[str, ...] = ("tables",)
    warnings: tuple[EventWarning, ...] = ()
    needs_whole_objects: bool = False
    describes_tables: bool = False
    has_placeholders: bool = False
    may_be_unwrapped: bool = False
    schema_ids: SchemaIds | None = None
    keys_beside: Callable[[Feed], Callable[[BronzeRecord], Sequence[KeyBeside]]] | None = None
    marks_of_headers: str = ""
    reads_csv: bool = False
    has_documents: bool = False
    reads_kafka: bool = False
    unknowable: tuple[str, ...] = ()
    operations_so_far: Callable[[bytes], tuple[str, int] | None] | None = None
    extra_assets: tuple[ExtraAsset, ...] = ()
    shapes: Callable[[Feed], ReadShape] | None = None
    resolver: Callable[[Feed], Resolve] | None = None
    surveyor: Callable[[Feed], Survey] | None = None
    survey_marks: tuple[bytes, ...] = ()
    crosses_streams: bool = False
    arrives_by: str | None = None
    log_of: Callable[[Feed], Callable[[BronzeRecord], SourceLog | None]] | None = None
    fields: tuple[str, ...] = ()
    recognise: Recognise | None = None
    propose: Propose | None = None

    def extras_of(self, feed: Feed) -> list[ExtraAsset]:
        """The extra assets that this feed has."""
        return [extra for extra in self.extra_assets if extra.is_needed(feed)]
