"""Kafka's topics as a landing: clients and their errors, what topics hold, and what of it was not read yet.

Settings come from the environment: ``WEIR_KAFKA_SASL_PASSWORD`` is the client's ``sasl.password``. They are read
whenever a client is made, in tasks too, so that no plan of Spark's carries a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import Any

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec  # type: ignore[attr-defined]

from assets.landing.kafka_offsets import Partition, Range, ReadUpTo, window_of
from assets.wording import counted
from transforms.errors import LandingAway, OffsetsLost, UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.topics import is_of_transactions

PREFIX = "WEIR_KAFKA_"
PATIENCE = 15.0
"""Seconds in which the broker has to answer."""

FEW, MANY = 500, 20_000
"""How many records one call asks for: at first, and at most."""

CALL_BYTES = 8 << 20
"""About how many bytes one call should return."""

FIXED_SETTINGS = {
    "bootstrap.servers": "the feed's landing says it",
    "isolation.level": "only what was committed is read",
    "enable.auto.commit": "what was read is known from the tables",
    "enable.auto.offset.store": "what was read is known from the tables",
    "auto.offset.reset": "a gap is an error",
    "enable.partition.eof": "a range ends at its last offset",
    "group.id": "partitions are assigned, and no group exists",
}
"""What the environment cannot set, and why."""

_CREDENTIALS = (
    "Set WEIR_KAFKA_SASL_MECHANISM, WEIR_KAFKA_SASL_USERNAME and WEIR_KAFKA_SASL_PASSWORD to what"
    " the broker knows."
)
_PROTOCOL = (
    "Check the landing's brokers, the network, and WEIR_KAFKA_SECURITY_PROTOCOL: a broker that expects TLS or SASL"
    " hangs up on others."
)
_CERTIFICATE = (
    "Set WEIR_KAFKA_SECURITY_PROTOCOL to what the broker speaks and WEIR_KAFKA_SSL_CA_LOCATION to"
    " its authority's file."
)
_RIGHTS = "The user needs Read and Describe on the topic."
_NO_ANSWER = "the broker does not answer"
_TELLING: tuple[tuple[int, str, str], ...] = (
    (KafkaError._AUTHENTICATION, "the broker refuses the credentials", _CREDENTIALS),
    (KafkaError.SASL_AUTHENTICATION_FAILED, "the broker refuses the credentials", _CREDENTIALS),
    (KafkaError._SSL, "there is no TLS connection that can be trusted", _CERTIFICATE),
    (KafkaError.TOPIC_AUTHORIZATION_FAILED, "access is denied", _RIGHTS),
    (KafkaError.CLUSTER_AUTHORIZATION_FAILED, "access is denied", _RIGHTS),
    (
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        "there is no such topic",
        "Correct the feed's landing, or create the topic.",
    ),
    (
        KafkaError.TOPIC_EXCEPTION,
        "no topic can have this name",
        "Correct the feed's landing: kafka://broker:port/topic[,topic].",
    ),
    (KafkaError._UNKNOWN_PARTITION, "the partition is gone", "Run again."),
    (
        KafkaError._BAD_MSG,
        "the client refuses what the broker sends, a record that is too large say",
        "Set WEIR_KAFKA_RECEIVE_MESSAGE_MAX_BYTES to more than the largest record; it is 100000000 unless said.",
    ),
    (KafkaError._RESOLVE, "the broker's host is not known", _PROTOCOL),
    (KafkaError._TRANSPORT, _NO_ANSWER, _PROTOCOL),
    (KafkaError._ALL_BROKERS_DOWN, _NO_ANSWER, _PROTOCOL),
    (KafkaError._TIMED_OUT, _NO_ANSWER, _PROTOCOL),
)
"""Codes of errors, each with its fault and remedy, the most specific first: of several errors the first is reported."""

# librdkafka's only property that is written so.
_WITHOUT_DOTS = {"log.level": "log_level"}

# Waiting repairs neither a wrong password nor a certificate.
_FINAL = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
_QUOTED = re.compile(r'configuration property:? "([a-z.]+)"')


def brokers_of(feed: Feed) -> str:
    """The addresses of a landing ``kafka://broker[,broker]/topic[,topic]``."""
    return feed.landing.removeprefix("kafka://").partition("/")[0]


def topics_of(feed: Feed) -> tuple[str, ...]:
    """The topics of the landing, each once."""
    return tuple(dict.fromkeys(feed.landing.removeprefix("kafka://").partition("/")[2].split(",")))


def client_settings(feed: Feed, environment: Mapping[str, str]) -> dict[str, Any]:
    """What the environment says of clients, and whom they ask.

    Raises:
        UnreadableLanding: it says something that is Weir's own matter.
    """
    found: dict[str, Any] = {"bootstrap.servers": brokers_of(feed), "log_level": 0}
    for variable, value in environment.items():
        if variable.startswith(PREFIX):
            name = variable.removeprefix(PREFIX).lower().replace("_", ".")
            if name in FIXED_SETTINGS:
                fault = f"{variable} is set, and {name} cannot be: {FIXED_SETTINGS[name]}"
                raise unreadable_topics(feed, fault, "Unset it.")
            found[_WITHOUT_DOTS.get(name, name)] = value
    return found


class ClientErrors:
    """What a client has complained of: librdkafka reports errors to a callback, and retries."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self._is_trusted = False

    def __call__(self, error: KafkaError) -> None:
        """Note one complaint."""
        self.codes.append(error.code())

    def answered(self) -> None:
        """Forget them: an answer came, and a broker that restarts may refuse for a while what it took before."""
        self.codes.clear()
        self._is_trusted = True

    @property
    def are_final(self) -> bool:
        """True where waiting would not help; once may be chance."""
        return not self._is_trusted and sum(code in _FINAL for code in self.codes) > 1

    def fault_and_remedy(self, error: KafkaError | None = None) -> tuple[str, str]:
        """The fault and what to do about it: the most telling of the complaints, or the error itself."""
        codes = {*self.codes, *([error.code()] if error else [])}
        for code, fault, remedy in _TELLING:
            if code in codes:
                return fault, remedy
        name = error.name() if error else "nothing"
        return f"the Kafka client says {name}", "Run again; if it stays so, ask whoever runs it."


def unreadable_topics(feed: Feed, fault: str, remedy: str, where: str = "") -> UnreadableLanding:
    """The error of this feed's landing, or of one topic or partition of it."""
    place = f"kafka://{brokers_of(feed)}/{where}" if where else feed.landing
    kind = LandingAway if fault == _NO_ANSWER else UnreadableLanding
    return kind(feed.name, place, fault, remedy)


def admin_client(feed: Feed, client_errors: ClientErrors) -> AdminClient:
    """A client that asks about topics."""
    made: AdminClient = _made(feed, AdminClient, {"error_cb": client_errors})
    return made


def consumer(feed: Feed, client_errors: ClientErrors) -> Consumer:
    """A client that reads partitions that it is assigned, and what was committed only."""
    made: Consumer = _made(
        feed,
        Consumer,
        {
            "error_cb": client_errors,
            # The client insists on one; partitions are assigned by hand and nothing is committed.
            "group.id": f"weir-{feed.name}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
        },
        # Each task has a client, and each client such a queue; at an end the broker need not wait for more.
        usual={"queued.max.messages.kbytes": 32 << 10, "fetch.wait.max.ms": 100},
    )
    return made


def _made(
    feed: Feed, client: Any, own: Mapping[str, object], usual: Mapping[str, object] | None = None
) -> Any:
    try:
        return client({**(usual or {}), **client_settings(feed, os.environ), **own})
    except KafkaException as refusal:
        # Not quoted: the client repeats values in its complaints.
        named = _QUOTED.search(refusal.args[0].str())
        variable = PREFIX + named[1].upper().replace(".", "_") if named else f"{PREFIX}* together"
        fault = f"the Kafka client does not accept {variable}"
        remedy = "Its properties are librdkafka's, in capitals and with _ for each dot."
        raise unreadable_topics(feed, fault, remedy) from None


def broker_answers(
    feed: Feed, client: AdminClient, futures: Mapping[Any, Future[Any]], client_errors: ClientErrors
) -> dict[Any, Any]:
    """What the broker answers, by what it was asked; ``client_errors`` are those of the client.

    Raises:
        UnreadableLanding: it does not, or says no.
    """
    deadline = monotonic() + PATIENCE
    while not all(future.done() for future in futures.values()):
        if monotonic() >= deadline or client_errors.are_final:
            break
        client.poll(0.05)
    found = {}
    for asked, future in futures.items():
        if not future.done():
            raise unreadable_topics(feed, *client_errors.fault_and_remedy())
        try:
            found[asked] = future.result()
        except KafkaException as refusal:
            of_broker = refusal.args[0].code() >= 0
            where = (asked if isinstance(asked, str) else asked.topic) if of_broker else ""
            raise unreadable_topics(
                feed, *client_errors.fault_and_remedy(refusal.args[0]), where
            ) from None
    return found


def fitting_records(count: int, size: int, before: int) -> int:
    """How many records the next call asks for, by the number and size of those that came of the last one."""
    if not count:
        return before
    return max(1, min(MANY, 2 * before, CALL_BYTES // max(1, size // count)))


# What topics hold, and which of it is to be read.


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is to be read, and what a person should know about it."""

    ranges: tuple[Range, ...]
    warnings: tuple[str, ...]


def look_at_topics(feed: Feed) -> list[Partition]:
    """Every partition of the feed's topics.

    Raises:
        UnreadableLanding: the broker does not answer, or there is no such topic.
    """
    client_errors = ClientErrors()
    client = admin_client(feed, client_errors)
    wait = PATIENCE
    topics = topics_of(feed)
    asked = client.describe_topics(TopicCollection([*topics]), request_timeout=wait)
    known = broker_answers(feed, client, asked, client_errors)
    places = [TopicPartition(topic, one.id) for topic in topics for one in known[topic].partitions]
    oldest, newest = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
    # The last offset written is asked before the last one that may be read: a transaction that ends in between then
    # does not look open.
    earliest, written, end = (
        broker_answers(
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

    def end_of(place: TopicPartition) -> int:
        # A transaction whose end is read has all of its changes behind it: so the ends are asked before all else.
        last: int = end[place].offset
        return min(last, written[place].offset) if is_of_transactions(place.topic) else last

    return [
        Partition(
            place.topic,
            str(known[place.topic].topic_id),
            place.partition,
            earliest[place].offset,
            end_of(place),
            written[place].offset,
        )
        for place in places
    ]


def undecided_topics(partitions: Iterable[Partition]) -> tuple[str, ...]:
    """One line for each partition with offsets that nobody may read yet, for a transaction is open before them.

    A transaction that its producer never ends holds back all records behind it, and looks as if nothing came.
    """
    return tuple(
        f"{one.name}: {counted(one.written - one.end, 'offset')} from {one.end:,} on"
        f" {'waits' if one.written - one.end == 1 else 'wait'} for the end of a transaction that is open there"
        for one in partitions
        if one.written > one.end
    )


def compacted_topics(feed: Feed) -> tuple[str, ...]:
    """One line for each of the feed's topics that Kafka compacts; none where the broker does not say.

    Compaction takes away older records of a key, and in the end its delete, too, and leaves no trace of them.
    """
    client_errors = ClientErrors()
    client = admin_client(feed, client_errors)
    topics = {ConfigResource(ConfigResource.Type.TOPIC, name): name for name in topics_of(feed)}
    asked = client.describe_configs([*topics], request_timeout=PATIENCE)
    found = []
    for resource, name in topics.items():
        try:
            (settings,) = broker_answers(
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


def backlog_of(
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
            raise unreadable_topics(
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
    return Backlog(tuple(ranges), (*warnings, *undecided_topics(partitions)))


# The windows of a topic's newest records. Timestamps that producers give come in any order, so that no offset can be
# looked up by time: whoever wants to know the windows has to read the records. One look is bounded in time.


LOOK_SECONDS = 20.0
"""How long one look reads at most: Dagster stops a sensor that takes a minute."""


def named_partition(partition: str, topic_id: str) -> str:
    """A partition's name among the offsets seen: a topic that was created again has another id, and begins at 0."""
    return f"{partition} {topic_id}"


def new_windows(
    feed: Feed, seen: Mapping[str, int]
) -> tuple[set[str], dict[str, int], tuple[str, ...]]:
    """``windows_in`` the feed's topics as they are now, and a line for each open transaction."""
    partitions = look_at_topics(feed)
    return *windows_in(feed, partitions, seen, LOOK_SECONDS), undecided_topics(partitions)


def windows_in(
    feed: Feed, partitions: Sequence[Partition], seen: Mapping[str, int], seconds: float
) -> tuple[set[str], dict[str, int]]:
    """The windows of records behind the offsets ``seen`` in these partitions, and the offsets seen now.

    ``seen``: the next offset of each partition, by ``named_partition``; 0 where it is missing. Reading stops after so
    many ``seconds``, wherever it is then.

    Raises:
        UnreadableLanding: the broker does not answer, or refuses.
    """
    look = _Look({}, {}, {})
    for one in partitions:
        name = named_partition(one.name, one.topic_id)
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
        client = consumer(feed, client_errors)
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
                        raise unreadable_topics(feed, *client_errors.fault_and_remedy(error))
                    size += self._note(message, feed, windows)
                many = fitting_records(len(messages), size, many)
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
