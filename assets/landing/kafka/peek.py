"""The windows of a topic's newest records, found without Spark and without writing anything.

Timestamps that producers give come in any order, so that no offset can be looked up by time: whoever wants to know the
windows of records has to read them. One look is bounded in time; the rest follows with the next. Put here what a sensor
or a plan has to know of records before a run reads them. Not here: reading records to keep them (``read_topics``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from confluent_kafka import KafkaError, Message, TopicPartition

from assets.landing.kafka import clients, topics
from assets.landing.kafka.clients import FEW, ClientErrors, fitting
from assets.landing.kafka.offset_ranges import Partition
from assets.landing.kafka.record_times import window_of
from transforms.feed.feed import Feed

SECONDS = 20.0
"""How long one look reads at most: Dagster stops a sensor that takes a minute."""


def named(partition: str, topic_id: str) -> str:
    """A partition's name among the offsets seen.

    It has the topic's id, for a topic that was deleted and created again begins at offset 0.
    """
    return f"{partition} {topic_id}"


class NewRecords(NamedTuple):
    """The windows of new records, the offsets seen now (by ``named``), and a line for each open transaction."""

    windows: set[str]
    offsets: dict[str, int]
    undecided: tuple[str, ...]


def new_windows(feed: Feed, seen: Mapping[str, int]) -> NewRecords:
    """Look at the feed's topics as they are now, from the offsets ``seen`` (by ``named``) on.

    Raises:
        UnreadableLanding: the broker does not answer, or refuses.
    """
    partitions = topics.look(feed)
    found = windows_in(feed, partitions, seen, SECONDS)
    return NewRecords(*found, topics.undecided(partitions))


def windows_in(
    feed: Feed, partitions: Sequence[Partition], seen: Mapping[str, int], seconds: float
) -> tuple[set[str], dict[str, int]]:
    """The windows of records behind the offsets ``seen`` in these partitions, and the offsets seen now.

    Args:
        feed: whose topics these are.
        partitions: as they are now (``topics.look``).
        seen: the next offset of each partition, by ``named``; 0 where it is missing.
        seconds: reading stops after so long, wherever it is then.

    Raises:
        UnreadableLanding: the broker does not answer, or refuses.
    """
    look = _Look({}, {}, {})
    for one in partitions:
        name = named(one.name, one.topic_id)
        look.names[one.topic, one.number] = name
        # Offsets that Kafka has deleted are the matter of the run that reads: it says so, and stops.
        look.offsets[name], look.ends[name] = max(seen.get(name, 0), one.earliest), one.end
    windows: set[str] = set()
    if not look.is_over:
        look.read(feed, windows, monotonic() + seconds)
    return windows, look.offsets


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at some partitions: their names by topic and number, and by name the offsets seen and those to reach."""

    names: dict[tuple[str, int], str]
    offsets: dict[str, int]
    ends: dict[str, int]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to read."""
        return all(self.offsets[name] >= end for name, end in self.ends.items())

    def read(self, feed: Feed, windows: set[str], deadline: float) -> None:
        """Read on until the ends or the deadline (of ``monotonic``), and add the windows that come."""
        client_errors = ClientErrors()
        client = clients.consumer(feed, client_errors)
        try:
            client.assign(
                [
                    TopicPartition(*place, self.offsets[name])
                    for place, name in self.names.items()
                    if self.offsets[name] < self.ends[name]
                ]
            )
            many = FEW
            while monotonic() < deadline and not self.is_over:
                messages = client.consume(many, 0.5)
                size = 0
                for message in messages:
                    error = message.error()
                    if error is not None and error.code() != KafkaError._PARTITION_EOF:
                        if error.retriable():
                            continue
                        raise clients.unreadable(feed, *client_errors.fault_and_remedy(error))
                    size += self._note(message, feed, windows)
                many = fitting(len(messages), size, many)
        finally:
            client.close()

    def _note(self, message: Message, feed: Feed, windows: set[str]) -> int:
        """Take in a record, or the mark of a partition's end; returns the record's size."""
        topic, number, offset = message.topic(), message.partition(), message.offset()
        if topic is None or number is None or offset is None:
            return 0
        name = self.names[topic, number]
        if message.error() is not None:
            self.offsets[name] = max(self.offsets[name], offset)
            return 0
        kind, time = message.timestamp()
        windows.add(window_of(time if kind else None, feed.window))
        self.offsets[name] = offset + 1
        return len(message)
