"""The stages from bronze records to rows, for formats in which each record can be decoded alone.

Each stage takes an iterator of batches and gives one, so that it runs in a task, in ``DataFrame.mapInArrow``, and
anywhere else. Batches are bounded by bytes. Put here what every format's records go through. Not here: records whose
neighbours decide (``pending_stages``), which stages follow each other (``assets/silver``), and what the values mean
(``transforms``). What is imported here is imported by every Python worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from assets.arrow.record_batches import bounded, place_of, with_clear_errors
from assets.arrow.silver.packed_rows import row_batches
from assets.arrow.silver.shards import Shards
from assets.task_errors import failed_at, naming_place
from transforms.errors import WeirError
from transforms.feed.feed import Feed
from transforms.horizons import Horizon
from transforms.record import BronzeRecord
from transforms.silver.conforming.changes import Row
from transforms.silver.conforming.conformer import Conform, conformer
from transforms.source_format import Decode, SourceFormat

Batches = Iterator[pa.RecordBatch]
Surveyed = Mapping[str, frozenset[tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class DecodeRows:
    """Bronze records to rows: decoded by the format, and conformed to the feed's declarations."""

    feed: Feed
    format: SourceFormat
    surveyed: Surveyed = field(default_factory=dict)
    horizons: Mapping[str, Horizon] = field(default_factory=dict)
    shards: Shards = field(default_factory=Shards)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``ROWS`` from batches of bronze."""
        decode = decoder_of(self.feed, self.format, self.surveyed)
        describes_tables = self.format.describes_tables
        conform = conformer(self.feed, describes_tables=describes_tables, horizons=self.horizons)
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                rows = _rows(self.feed, records, decode, conform)
                yield from batches_of(self.feed, records[0], rows, self.shards)


@dataclass(frozen=True, slots=True)
class Survey:
    """Bronze records to facts that other records of their window have to be decoded with."""

    feed: Feed
    format: SourceFormat

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Batches:
        """Batches of ``window`` and ``fact``, pickled, from batches of bronze."""
        surveyor = self.format.surveyor
        assert surveyor is not None  # only formats with a surveyor are surveyed
        survey = surveyor(self.feed)
        with with_clear_errors(self.feed):
            for records in bounded(self.feed, batches):
                found = [
                    (one.window, pickle.dumps(fact)) for one in records for fact in survey(one)
                ]
                yield pa.RecordBatch.from_pydict(
                    {"window": [one[0] for one in found], "fact": [one[1] for one in found]},
                    schema=_FACTS,
                )


_FACTS = pa.schema([("window", pa.string()), ("fact", pa.binary())])


def batches_of(feed: Feed, first: BronzeRecord, rows: Sequence[Row], shards: Shards) -> Batches:
    """The rows of some records as batches; an error names the ``first`` of these records."""
    with naming_place(place_of(feed, first)):
        yield from row_batches(rows, shards)


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
