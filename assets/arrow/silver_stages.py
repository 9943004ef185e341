"""The functions of ``transforms`` over Arrow batches, as Spark's tasks call them: nothing else knows Arrow.

Each stage takes an iterator of batches and gives one, so that it runs in a task, in ``DataFrame.mapInArrow``, and
anywhere else. Batches are bounded by bytes. Not here: which stages follow each other, and what Spark does in between
(``silver``); what the values mean (``transforms``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from zlib import crc32

import pyarrow as pa

from assets.arrow.packed_rows import SHARDS, part_of, row_batches
from assets.arrow.record_batches import bounded, groups, place_of, told_clearly
from assets.columns.silver import PENDING
from assets.task_errors import failed_at, told_with
from transforms.errors import WeirError
from transforms.event import Event, Pending
from transforms.feed.feed import Feed
from transforms.horizons import Horizon
from transforms.record import BronzeRecord
from transforms.silver import transactions
from transforms.silver.conforming.changes import Row
from transforms.silver.conforming.conformer import Conform, conformer
from transforms.source_format import Decode, Resolve, SourceFormat

Batches = Iterator[pa.RecordBatch]
Surveyed = Mapping[str, frozenset[tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class DecodeRows:
    """Bronze records to rows, for formats whose records mean what they mean by themselves."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)
    horizons: Mapping[str, Horizon] = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of bronze."""
        decode = decoder_of(self.feed, self.format, self.surveyed)
        tells_tables = self.format.tells_tables
        conform = conformer(self.feed, tells_tables=tells_tables, horizons=self.horizons)
        with told_clearly(self.feed):
            for records in bounded(self.feed, batches):
                yield from _batches(
                    self.feed, records[0], _rows(self.feed, records, decode, conform)
                )


@dataclass(frozen=True, slots=True)
class DecodePending:
    """Bronze records to what their neighbours have to decide, pickled, with the group and the order of each."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``PENDING`` from batches of bronze."""
        decode = decoder_of(self.feed, self.format, self.surveyed)
        with told_clearly(self.feed):
            for records in bounded(self.feed, batches):
                yield _pending_batch(self.feed, records, decode)


@dataclass(frozen=True, slots=True)
class ResolveRows:
    """Groups of pending records, in their order, to rows."""

    feed: Feed
    format: SourceFormat
    horizons: Mapping[str, Horizon] = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of ``PENDING`` that are sorted by group and order."""
        tells_tables = self.format.tells_tables
        conform = conformer(self.feed, tells_tables=tells_tables, horizons=self.horizons)
        resolver = self.format.resolver
        assert resolver is not None  # only such formats have pending records
        resolve = resolver(self.feed)
        with told_clearly(self.feed):
            for group in groups(self.feed, batches):
                for rows in _resolved(self.feed, group, resolve, conform):
                    yield from _batches(self.feed, group[0][0], rows)


_GROUP_ROWS = 5_000


def _resolved(
    feed: Feed, group: Sequence[tuple[BronzeRecord, Any]], resolve: Resolve, conform: Conform
) -> Iterator[list[Row]]:
    """The rows of one group, so many at a time."""
    # Until a record is looked at by itself, it is the whole group that fails.
    place, together = place_of(feed, group[0][0]), len(group)
    try:
        events = iter(resolve([said for _, said in group if type(said) is not Event]))
        rows: list[Row] = []
        for record, said in group:
            event = said if type(said) is Event else next(events)
            place, together = place_of(feed, record), 1
            rows += conform(record, [event])
            if len(rows) >= _GROUP_ROWS:
                yield rows
                rows = []
        if rows:
            yield rows
    except WeirError:
        raise
    except Exception as fault:
        raise failed_at(place, fault, together) from fault


@dataclass(frozen=True, slots=True)
class Survey:
    """Bronze records to the facts that others of their window need to know."""

    feed: Feed
    format: SourceFormat

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``window`` and ``fact``, pickled, from batches of bronze."""
        surveyor = self.format.surveyor
        assert surveyor is not None  # only such formats have marks
        survey = surveyor(self.feed)
        with told_clearly(self.feed):
            for records in bounded(self.feed, batches):
                found = [
                    (one.window, pickle.dumps(fact)) for one in records for fact in survey(one)
                ]
                yield pa.RecordBatch.from_pydict(
                    {"window": [one[0] for one in found], "fact": [one[1] for one in found]},
                    schema=_FACTS,
                )


_FACTS = pa.schema([("window", pa.string()), ("fact", pa.binary())])


def _batches(feed: Feed, first: BronzeRecord, rows: Sequence[Row]) -> Batches:
    """The rows of some records, of which this is the first, as batches."""
    with told_with(place_of(feed, first)):
        yield from row_batches(rows)


def decoder_of(feed: Feed, source: SourceFormat, surveyed: Surveyed) -> Decode:
    """The feed's decode function."""
    return source.decoder(feed, surveyed)


def _rows(
    feed: Feed, records: Iterable[BronzeRecord], decode: Decode, conform: Conform
) -> list[Row]:
    rows: list[Row] = []
    for record in records:
        try:
            rows += conform(record, [*decode(record)])  # type: ignore[list-item]
        except WeirError:
            raise
        except Exception as fault:
            raise failed_at(place_of(feed, record), fault) from fault
    return rows


def _decoded(feed: Feed, record: BronzeRecord, decode: Decode) -> Sequence[Event | Pending]:
    try:
        return [*decode(record)]
    except WeirError:
        raise
    except Exception as fault:
        raise failed_at(place_of(feed, record), fault) from fault


def _pending_batch(feed: Feed, records: Iterable[BronzeRecord], decode: Decode) -> pa.RecordBatch:
    groups, orders, shards, blobs = [], [], [], []
    for record in records:
        for one in _decoded(feed, record, decode):
            is_event = type(one) is Event
            whose = (record.object, record.line) if is_event else one.group  # type: ignore[union-attr]
            group = pickle.dumps((record.window, whose))
            groups.append(group)
            orders.append((0,) if is_event else one.order)  # type: ignore[union-attr]
            shards.append(crc32(group) % SHARDS)
            said = one if is_event else one.said  # type: ignore[union-attr]
            blobs.append(pickle.dumps((record, said), protocol=pickle.HIGHEST_PROTOCOL))
    arrays = {"group": groups, "order": orders, "shard": shards, "blob": blobs}
    return pa.RecordBatch.from_arrays(
        [pa.array(arrays[one.name], one.type) for one in PENDING], schema=PENDING
    )


def commits(batches: Iterable[pa.RecordBatch]) -> Batches:
    """One row per transaction that its window holds whole: ``transaction`` and ``commit``.

    Takes ``transaction`` and ``part`` of ``ROWS``, sorted by the first.
    """
    found: list[tuple[bytes, list[int]]] = []
    for packed, parts in groupby(_parts(batches), key=lambda one: one[0]):
        commit = transactions.commit_of(part_of(part) for _, part in parts)
        if commit is not None:
            found.append((packed, list(commit)))
        if len(found) >= _GROUP_ROWS:
            yield _commit_batch(found)
            found = []
    if found:
        yield _commit_batch(found)


def _commit_batch(found: Sequence[tuple[bytes, list[int]]]) -> pa.RecordBatch:
    columns = {"transaction": [one[0] for one in found], "commit": [one[1] for one in found]}
    return pa.RecordBatch.from_pydict(columns, schema=_COMMITS)


_COMMITS = pa.schema([("transaction", pa.binary()), ("commit", pa.list_(pa.int64()))])


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
    for batch in batches:
        told = (batch.column(name).to_pylist() for name in ("transaction", "part"))
        yield from zip(*told, strict=True)
