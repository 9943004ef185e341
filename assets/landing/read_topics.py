"""Offsets of Kafka's partitions as rows of bronze, read inside Spark's tasks, or a few of them in this process.

Each task reads ranges of offsets with a client of its own. Nothing is committed to the broker: what was read is known
from bronze.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from pyspark.sql import DataFrame, SparkSession

from assets.columns import layers
from assets.executors.choice import AUTO, Choice
from assets.landing import kafka
from assets.landing.kafka import FEW, ClientErrors, fitting_records
from assets.landing.kafka_offsets import Range, divided_ranges, moment_of, window_of
from assets.landing.spark_source import batches, read_parts
from transforms.errors import WeirError
from transforms.feed.feed import Feed
from transforms.task_errors import Reading, naming_record

SILENCE = 60.0
"""Seconds without a record after which a task gives up: a broker that restarts is back sooner."""

UNREADABLE_HEADERS: list[tuple[str, bytes | None]] = [("weir: a header's name is no UTF-8", None)]
"""What stands in place of headers that the Kafka client cannot read."""

MOST_RANGES = 16
"""Maximum number of partitions that are read in this process: one is read after another."""

# Seconds that one call may wait for as much as it was asked for.
_WAIT = 0.2


def read_ranges(
    spark: SparkSession,
    feed: Feed,
    ranges: Sequence[Range],
    progress: str | None = None,
    into: str | None = None,
) -> DataFrame:
    """One row per record of these offsets (see ``layers.Bronze.spark``), each in the window of its timestamp.

    ``progress``: a folder where tasks write how far they are, if they can see it. Lazy, ``into``: see ``read_parts``.
    """
    parts = divided_ranges(ranges, 2 * spark.sparkContext.defaultParallelism)
    of_part = partial(rows_of, feed.without_secret(), progress, SILENCE)
    return read_parts(spark, parts, of_part, into)


def read_in_process(
    feed: Feed, ranges: Sequence[Range], choice: Choice, progress: str | None = None
) -> pa.Table | None:
    """``read_ranges`` in this process (``layers.Bronze``), which starts no Spark; None where that is Spark's work.

    Only reading shows how many bytes the records have: some of large ones are read here for nothing.
    """
    if choice.executor == AUTO and len(ranges) > MOST_RANGES:
        return None
    offsets = sum(one.size for one in ranges)
    if not choice.fetches_in_process(0, offsets):
        return None
    found, size = [], 0
    with closing(rows_of(feed, progress, SILENCE, tuple(ranges))) as rows:
        for batch in batches(rows, layers.Bronze.spark):
            size += batch.nbytes
            if not choice.fetches_in_process(size, offsets):
                return None
            found.append(batch)
    return pa.Table.from_batches(found, schema=layers.Bronze.schema)


def rows_of(
    feed: Feed, progress: str | None, silence: float, ranges: tuple[Range, ...]
) -> Generator[tuple[object, ...], None, None]:
    """The records of some ranges, read with one client, which is closed with it."""
    client_errors = ClientErrors()
    client = kafka.consumer(feed, client_errors)
    try:
        for one in ranges:
            with naming_record(Reading(feed.name, one.partition.name)):
                yield from _Reading(feed, one, client, client_errors, silence).rows(progress)
    finally:
        client.close()


@dataclass(slots=True)
class _Reading:
    """One range being read."""

    feed: Feed
    range: Range
    client: Consumer
    client_errors: ClientErrors
    silence: float

    def rows(self, progress: str | None) -> Iterator[tuple[object, ...]]:
        """One row per record, and a mark where the partition ends in offsets without any."""
        partition, end = self.range.partition, self.range.end
        at, last, many = self.range.first, None, FEW
        self.client.assign([TopicPartition(partition.topic, partition.number, at)])
        heard = monotonic()
        while at < end:
            found = self.client.consume(min(many, end - at), _WAIT)
            if found:
                heard = monotonic()
                self.client_errors.answered()
            elif monotonic() - heard > self.silence or self.client_errors.are_final:
                raise self._gave_up(at)
            size = 0
            for message in found:
                offset = self._offset(message)
                # The client may return records that were read already, after a restart of the broker say.
                if offset is None or offset < at:
                    continue
                if message.error() is not None or offset >= end:
                    # Its end: what lies between holds no record.
                    at = max(at, min(offset, end))
                    continue
                last = self._row(message, offset)
                at, size = offset + 1, size + len(message)
                yield last
            many = fitting_records(len(found), size, many)
            if progress is not None:
                self._tell(Path(progress), at)
        if self.range.is_last and (last is None or last[4] != end - 1):
            window, landed_at = (last[0], last[8]) if last else (self.range.window, None)
            if window is not None:
                mark = (window, partition.name, partition.topic_id, 0, end - 1, None, None, None)
                yield (*mark, landed_at or moment_of(None), None, None)

    def _offset(self, message: Message) -> int | None:
        """Where a message stands; None for one that is not of this range."""
        error = message.error()
        origin = (message.topic(), message.partition())
        if origin != (self.range.partition.topic, self.range.partition.number):
            if error is None or error.code() == KafkaError._PARTITION_EOF:
                return None
        elif error is None or error.code() == KafkaError._PARTITION_EOF:
            return message.offset()
        assert error is not None
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            fault = "Kafka deleted the offsets while they were being read"
            raise self._unreadable(fault, "Run again, which says how many are lost.")
        if error.retriable():
            return None
        raise self._unreadable(*self.client_errors.fault_and_remedy(error))

    def _row(self, message: Message, offset: int) -> tuple[object, ...]:
        kind, time = message.timestamp()
        milliseconds = time if kind else None
        partition = self.range.partition
        return (
            window_of(milliseconds, self.feed.window),
            partition.name,
            partition.topic_id,
            offset + 1,
            offset,
            None,
            message.value(),
            None,
            moment_of(milliseconds),
            message.key(),
            headers_of(message),
        )

    def _tell(self, folder: Path, at: int) -> None:
        one = self.range
        if folder.is_dir():
            # A topic's name may be nearly as long as a file's.
            topic = folder / one.partition.topic
            topic.mkdir(exist_ok=True)
            (topic / f"{one.partition.number}.{one.first}").write_text(f"{at - one.first}")

    def _gave_up(self, at: int) -> WeirError:
        fault, remedy = self.client_errors.fault_and_remedy()
        if not self.client_errors.codes:
            fault, remedy = "the broker sends nothing", "Run again: it goes on where it stopped."
        return self._unreadable(
            f"from offset {at:,} on came nothing for {self.silence:.0f} s: {fault}", remedy
        )

    def _unreadable(self, fault: str, remedy: str) -> WeirError:
        return kafka.unreadable_topics(self.feed, fault, remedy, self.range.partition.name)


def headers_of(message: Message) -> object:
    """The record's headers; the client gives none where one's name is no UTF-8, and nothing depends on them."""
    try:
        return message.headers()
    except (SystemError, UnicodeError):
        return UNREADABLE_HEADERS
