"""What the topics of a feed hold, what of it was read, and so which offsets are to be read.

Put here what is asked of brokers about offsets. Not here: reading records (``read_topics``), and which offsets bronze
has (``bookkeeping/ledger``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import IsolationLevel, TopicCollection, TopicPartition
from confluent_kafka.admin import ConfigResource, OffsetSpec  # type: ignore[attr-defined]

from assets.landing.kafka import clients
from assets.landing.kafka.clients import ClientErrors
from assets.landing.kafka.offset_ranges import Partition, Range, ReadUpTo
from assets.wording import counted
from transforms.errors import OffsetsLost, UnreadableLanding
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is to be read, and what a person should know about it."""

    ranges: tuple[Range, ...]
    warnings: tuple[str, ...]


def look(feed: Feed) -> list[Partition]:
    """Every partition of the feed's topics.

    Raises:
        UnreadableLanding: the broker does not answer, or there is no such topic.
    """
    client_errors = ClientErrors()
    client = clients.admin(feed, client_errors)
    wait = clients.PATIENCE
    topics = clients.topics_of(feed)
    asked = client.describe_topics(TopicCollection([*topics]), request_timeout=wait)
    known = clients.answers(feed, client, asked, client_errors)
    places = [TopicPartition(topic, one.id) for topic in topics for one in known[topic].partitions]
    oldest, newest = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
    # The last offset written is asked before the last one that may be read: a transaction that ends in between then
    # does not look open.
    earliest, written, end = (
        clients.answers(
            feed,
            client,
            client.list_offsets(
                {place: spec for place in places}, isolation_level=level, request_timeout=wait
            ),
            client_errors,
        )
        for spec, level in (
            (oldest, IsolationLevel.READ_COMMITTED),
            (newest, IsolationLevel.READ_UNCOMMITTED),
            (newest, IsolationLevel.READ_COMMITTED),
        )
    )
    return [
        Partition(
            place.topic,
            str(known[place.topic].topic_id),
            place.partition,
            earliest[place].offset,
            end[place].offset,
            written[place].offset,
        )
        for place in places
    ]


def undecided(partitions: Iterable[Partition]) -> tuple[str, ...]:
    """One line for each partition with offsets that nobody may read yet, for a transaction is open before them.

    A transaction that its producer never ends holds back all records behind it, and looks as if nothing came.
    """
    return tuple(
        f"{one.name}: {counted(one.written - one.end, 'offset')} from {one.end:,} on"
        f" {'waits' if one.written - one.end == 1 else 'wait'} for the end of a transaction that is open there"
        for one in partitions
        if one.written > one.end
    )


def compacted(feed: Feed) -> tuple[str, ...]:
    """One line for each of the feed's topics that Kafka compacts; none where the broker does not say.

    Compaction takes away older records of a key, and in the end its delete, too, and leaves no trace of them.
    """
    client_errors = ClientErrors()
    client = clients.admin(feed, client_errors)
    topics = {
        ConfigResource(ConfigResource.Type.TOPIC, name): name for name in clients.topics_of(feed)
    }
    asked = client.describe_configs([*topics], request_timeout=clients.PATIENCE)
    found = []
    for resource, name in topics.items():
        try:
            (settings,) = clients.answers(
                feed, client, {name: asked[resource]}, client_errors
            ).values()
        except UnreadableLanding:
            # Who may read a topic need not be allowed to see how it is configured.
            continue
        if "compact" in str(settings[_CLEANUP].value):
            found.append(
                f"topic {name} is compacted ({_CLEANUP}: {settings[_CLEANUP].value}): what Kafka removes before it is"
                " read is missed without a trace, deletes among it (docs/kafka.md)"
            )
    return tuple(found)


_CLEANUP = "cleanup.policy"


def backlog(
    feed: Feed, partitions: Sequence[Partition], read: Mapping[tuple[str, str], ReadUpTo]
) -> Backlog:
    """What was not read yet; ``read`` is by the partition's name and its topic's id.

    Raises:
        OffsetsLost: Kafka has deleted some of it.
        UnreadableLanding: a topic has fewer offsets than were read of it.
    """
    ranges: list[Range] = []
    warnings: list[str] = []
    lost: dict[str, int] = {}
    known = {name for name, _ in read}
    created_again = set()
    for one in partitions:
        before = read.get((one.name, one.topic_id))
        first = one.earliest if before is None else max(before.next_offset, one.earliest)
        if before is None:
            if one.name in known and one.topic not in created_again:
                created_again.add(one.topic)
                warnings.append(
                    f"topic {one.topic} was deleted and created again: it is read from its start, and the old topic's"
                    f" records are kept. Its positions may start again: docs/kafka.md says when"
                    f" `weir epoch {feed.name}` is needed"
                )
            if one.earliest > 0:
                warnings.append(
                    f"{one.name}: the first {one.earliest:,} offsets were gone before it was first read"
                )
        elif before.next_offset > one.end:
            raise clients.unreadable(
                feed,
                f"it ends at offset {one.end:,}, but {before.next_offset:,} were read: it has lost its end",
                "Rename the feed file: a feed with a new name reads everything from the start.",
                one.name,
            )
        elif before.next_offset < one.earliest:
            gone = one.earliest - before.next_offset
            if feed.accepted_losses.get(one.name, 0) < one.earliest:
                lost[one.name] = gone
            else:
                warnings.append(
                    f"{one.name}: {gone:,} offsets below {one.earliest:,} are lost, as the feed file accepts"
                )
        if first < one.end:
            ranges.append(Range(one, first, one.end, window=before.window if before else None))
    if lost:
        raise OffsetsLost(feed.name, lost, {one.name: one.earliest for one in partitions})
    return Backlog(tuple(ranges), (*warnings, *undecided(partitions)))
