"""The windows of a topic's newest records, found without Spark and without writing anything.

Timestamps that producers give come in any order, so that no offset can be looked up by time: whoever wants to know the
windows of records has to read them. That is bounded in time; the rest follows with the next look. Not here: reading
records to keep them (``read_topics``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from confluent_kafka import KafkaError, TopicPartition

from assets.landing.kafka import clients, topics
from assets.landing.kafka.clients import FEW, Complaints, fitting
from assets.landing.kafka.record_times import window_of
from assets.landing.kafka.topics import Partition
from transforms.feed.feed import Feed

SECONDS = 20.0
"""So long one look reads at most: a sensor that takes a minute is stopped."""


def named(partition: str, topic_id: str) -> str:
    """A partition's name among the offsets seen: with the topic's id, for one that was made anew begins anew."""
    return f"{partition} {topic_id}"


class Peeked(NamedTuple):
    """The windows of new records, the offsets seen now (by ``named``), and what waits for transactions in words."""

    windows: set[str]
    offsets: dict[str, int]
    undecided: tuple[str, ...]


def new_windows(feed: Feed, seen: Mapping[str, int]) -> Peeked:
    """What there is behind the offsets ``seen`` (by ``named``).

    Raises:
        UnreadableLanding: the broker does not answer, or refuses.
    """
    partitions = topics.look(feed)
    found = windows_in(feed, partitions, seen, SECONDS)
    return Peeked(*found, topics.undecided(partitions))


def windows_in(
    feed: Feed, partitions: Sequence[Partition], seen: Mapping[str, int], seconds: float
) -> tuple[set[str], dict[str, int]]:
    """The windows of records behind the offsets ``seen`` in these partitions, and the offsets seen now.

    It takes so many seconds at most.
    """
    names: dict[tuple[str, int], str] = {}
    offsets: dict[str, int] = {}
    ends: dict[str, int] = {}
    for one in partitions:
        name = named(one.name, one.topic_id)
        names[one.topic, one.number] = name
        # What is lost is the matter of the run that reads: it says so, and stops.
        offsets[name], ends[name] = max(seen.get(name, 0), one.earliest), one.end
    going = [
        TopicPartition(*place, offsets[name])
        for place, name in names.items()
        if offsets[name] < ends[name]
    ]
    windows: set[str] = set()
    if not going:
        return windows, offsets
    complaints = Complaints()
    client = clients.consumer(feed, complaints)
    try:
        client.assign(going)
        deadline, many = monotonic() + seconds, FEW
        while monotonic() < deadline and any(offsets[name] < ends[name] for name in offsets):
            found = client.consume(many, 0.5)
            size = 0
            for message in found:
                topic, number, offset = message.topic(), message.partition(), message.offset()
                error = message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    if error.retriable():
                        continue
                    raise clients.unreadable(feed, *complaints.told(error))
                if topic is None or number is None or offset is None:
                    continue
                name = names[topic, number]
                if error is not None:
                    offsets[name] = max(offsets[name], offset)
                    continue
                kind, time = message.timestamp()
                windows.add(window_of(time if kind else None, feed.window))
                offsets[name], size = offset + 1, size + len(message)
            many = fitting(len(found), size, many)
    finally:
        client.close()
    return windows, offsets
