"""Clients of Kafka: their settings, and what went wrong with them in words: names of variables, never their values.

Settings come from the environment: ``WEIR_KAFKA_SASL_PASSWORD`` is the client's ``sasl.password``. They are read
whenever a client is made, in tasks too, so that no plan of Spark's carries a secret. Put here what every client needs.
Not here: what a topic holds (``topics``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.landing_away import LandingAway

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


def settings(feed: Feed, environment: Mapping[str, str]) -> dict[str, Any]:
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
                raise unreadable(feed, fault, "Unset it.")
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


def unreadable(feed: Feed, fault: str, remedy: str, where: str = "") -> UnreadableLanding:
    """The error of this feed's landing, or of one topic or partition of it."""
    place = f"kafka://{brokers_of(feed)}/{where}" if where else feed.landing
    kind = LandingAway if fault == _NO_ANSWER else UnreadableLanding
    return kind(feed.name, place, fault, remedy)


def admin(feed: Feed, client_errors: ClientErrors) -> AdminClient:
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
        return client({**(usual or {}), **settings(feed, os.environ), **own})
    except KafkaException as refusal:
        # Not quoted: the client repeats values in its complaints.
        named = _QUOTED.search(refusal.args[0].str())
        variable = PREFIX + named[1].upper().replace(".", "_") if named else f"{PREFIX}* together"
        fault = f"the Kafka client does not accept {variable}"
        remedy = "Its properties are librdkafka's, in capitals and with _ for each dot."
        raise unreadable(feed, fault, remedy) from None


def answers(
    feed: Feed, client: AdminClient, futures: Mapping[Any, Future[Any]], client_errors: ClientErrors
) -> dict[Any, Any]:
    """What the broker answers, by what it was asked; ``client_errors`` are those of the client.

    Raises:
        UnreadableLanding: it does not, or says no.
    """
    deadline = monotonic() + PATIENCE
    while _wait(futures.values()) and monotonic() < deadline and not client_errors.are_final:
        client.poll(0.05)
    found = {}
    for asked, future in futures.items():
        if not future.done():
            raise unreadable(feed, *client_errors.fault_and_remedy())
        try:
            found[asked] = future.result()
        except KafkaException as refusal:
            of_broker = refusal.args[0].code() >= 0
            where = (asked if isinstance(asked, str) else asked.topic) if of_broker else ""
            raise unreadable(
                feed, *client_errors.fault_and_remedy(refusal.args[0]), where
            ) from None
    return found


def _wait(futures: Iterable[Future[Any]]) -> bool:
    return not all(future.done() for future in futures)


def fitting(count: int, size: int, before: int) -> int:
    """How many records the next call asks for, by the number and size of those that came of the last one."""
    if not count:
        return before
    return max(1, min(MANY, 2 * before, CALL_BYTES // max(1, size // count)))
