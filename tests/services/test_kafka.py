"""The tests' own broker works, and keeps its records when it is started again."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.services.kafka import Broker, Sent

pytestmark = pytest.mark.services


def test_a_killed_broker_has_its_records_when_it_is_back(broker: Broker) -> None:
    broker.create("kept", partitions=2)
    broker.send(
        "kept", [Sent(b"one", b"k", [("h", None)], partition=1), Sent(None, b"k", partition=1)]
    )
    broker.kill()
    broker.start()

    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "tests"})
    consumer.assign([TopicPartition("kept", 1, 0)])
    found = consumer.consume(2, timeout=30)
    consumer.close()

    assert [(one.key(), one.value(), one.headers()) for one in found] == [
        (b"k", b"one", [("h", None)]),
        (b"k", None, None),
    ]
