"""Stages for formats whose records only their neighbours explain: records to groups, and whole groups to rows.

Put here what happens to pending records in a task. Not here: what a group means (the format's ``resolver``), formats
whose records stand alone (``silver_stages``), and the sort in between (``assets/silver``). What is imported here is
imported by every Python worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import pyarrow as pa

from assets.arrow.record_batches import bounded, groups, place_of, with_clear_errors
from assets.arrow.silver.shards import SHARDS, Shards
from assets.arrow.silver.silver_stages import Batches, Surveyed, batches_of, decoder_of
from assets.columns.silver import PENDING
from assets.task_errors import failed_at
from transforms.errors import WeirError
from transforms.event import Event, Pending
from transforms.feed.feed import Feed
from transforms.horizons import Horizon
from transforms.record import BronzeRecord
from transforms.silver.conforming.changes import Row
from transforms.silver.conforming.conformer import Conform, conformer
from transforms.source_format import Decode, Resolve, SourceFormat


@dataclass(frozen=True, slots=True)
class DecodePending:
    """Bronze records to pending records: what each says by itself, pickled, with its group and its place there."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``PENDING`` from batches of bronze."""
        decode = decoder_of(self.feed, self.format, self.surveyed)
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                yield _pending_batch(self.feed, records, decode)


@dataclass(frozen=True, slots=True)
class ResolveRows:
    """Groups of pending records, in their order, to rows."""

    feed: Feed
    format: SourceFormat
    horizons: Mapping[str, Horizon] = field(default_factory=dict)
    shards: Shards = field(default_factory=Shards)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of ``PENDING`` that are sorted by group and order."""
        describes_tables = self.format.describes_tables
        conform = conformer(self.feed, describes_tables=describes_tables, horizons=self.horizons)
        resolver = self.format.resolver
        assert resolver is not None  # only such formats have pending records
        resolve = resolver(self.feed)
        with with_clear_errors(self.feed):
            for group in groups(self.feed, batches):
                for rows in _resolved(self.feed, group, resolve, conform):
                    yield from batches_of(self.feed, group[0][0], rows, self.shards)


_GROUP_ROWS = 5_000


def _resolved(
    feed: Feed, group: Sequence[tuple[BronzeRecord, Any]], resolve: Resolve, conform: Conform
) -> Iterator[list[Row]]:
    """The rows of one group, in lists of bounded size."""
    # Until a record is looked at by itself, an error is the whole group's.
    place, together = place_of(feed, group[0][0]), len(group)
    try:
        events = iter(resolve([content for _, content in group if type(content) is not Event]))
        rows: list[Row] = []
        for record, content in group:
            event = content if type(content) is Event else next(events)
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
            group_key = (record.object, record.line) if is_event else one.group  # type: ignore[union-attr]
            group = pickle.dumps((record.window, group_key))
            groups.append(group)
            orders.append((0,) if is_event else one.order)  # type: ignore[union-attr]
            shards.append(crc32(group) % SHARDS)
            content = one if is_event else one.content  # type: ignore[union-attr]
            blobs.append(pickle.dumps((record, content), protocol=pickle.HIGHEST_PROTOCOL))
    arrays = {"group": groups, "order": orders, "shard": shards, "blob": blobs}
    return pa.RecordBatch.from_arrays(
        [pa.array(arrays[one.name], one.type) for one in PENDING], schema=PENDING
    )
