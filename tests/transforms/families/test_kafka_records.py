"""What a Kafka record says is the same whether it was read from the topic or from a dump of it."""

from __future__ import annotations

import json

import pytest

from transforms.families.kafka_records import KafkaMessage, kafka_message
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord

TOPIC = Feed("shop", "arcion_kafka", "kafka://broker:9092/orders")
DUMP = Feed("shop", "arcion_kafka", "/drops/orders")
LANDED_AT = 1_763_607_601_500_000
SENT_AT = 1_763_607_600_123_000


def record(name: str, offset: int, payload: bytes | None, key: bytes | None = None) -> BronzeRecord:
    return BronzeRecord(
        "2025-11-20T03", name, "g", offset + 1, offset, None, payload, None, LANDED_AT, key
    )


def of_topic(name: str, offset: int, payload: bytes | None, key: bytes | None) -> KafkaMessage:
    return kafka_message(record(name, offset, payload, key), TOPIC)


def dumped(line: bytes | str | dict[str, object]) -> KafkaMessage:
    text = json.dumps(line) if isinstance(line, dict) else line
    payload = text if isinstance(text, bytes) else text.encode()
    return kafka_message(record("orders.jsonl", 0, payload), DUMP)


def said(one: KafkaMessage) -> tuple[object, ...]:
    return (one.text, one.key, one.topic, one.partition, one.offset, one.is_null, one.is_utf8)


def test_a_record_of_a_topic_says_where_it_stood() -> None:
    text = of_topic("my/orders/3", 7, b'{"a": 1}', b'{"id": 1}')
    assert said(text) == ('{"a": 1}', '{"id": 1}', "my/orders", 3, 7, False, True)
    assert text.sent_at == LANDED_AT
    null = of_topic("orders/0", 8, None, b"\x00\xff")
    assert said(null) == (None, None, "orders", 0, 8, True, True)
    assert (null.key_bytes, null.is_keyless) == (b"\x00\xff", False)
    binary = of_topic("orders/12", 9, b"\xff\x00", None)
    assert said(binary) == (None, None, "orders", 12, 9, False, False)
    assert (binary.key_bytes, binary.is_keyless) == (None, True)
    empty = of_topic("orders/0", 10, b"", b"")
    assert said(empty) == ("", "", "orders", 0, 10, False, True)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("orders+3+0000000042.json", ("orders", 3, 46)),
        ("topics/my.orders/partition=0/my.orders+0+7.json.gz", ("my.orders", 0, 11)),
        ("orders+3.json", (None, None, None)),
        ("orders+x+42.json", (None, None, None)),
        ("a/b+c/orders.json", (None, None, None)),
    ],
)
def test_the_name_that_a_sink_gives_an_object_says_where_its_records_stood(
    name: str, place: tuple[object, ...]
) -> None:
    found = kafka_message(record(name, 4, b'{"a": 1}'), DUMP)
    assert (found.topic, found.partition, found.offset) == place
    # A record that says its own place is believed.
    line = b'{"topic": "t", "partition": 1, "offset": 9, "key": null, "value": {}}'
    own = kafka_message(record(name, 4, line), DUMP)
    assert (own.topic, own.partition, own.offset) == ("t", 1, 9)


RPK: dict[str, object] = {"topic": "orders", "timestamp": 1_763_607_600_123, "partition": 2}


@pytest.mark.parametrize(
    "line",
    [
        '{"before": null, "after": {"id": 1}, "offset": 9}',
        '{"value": "x", "key": 1, "id": 5}',
        '{"value": null, "key": null}',
        '{"schema": null, "payload": {"op": "c"}}',
        '{"partition": 1.5, "offset": 1, "payload": 1}',
        '{"partition": true, "offset": 1, "payload": 1}',
        '{"partition": 2147483648, "offset": 1, "payload": 1}',
        '{"partition": 0, "offset": 9223372036854775808, "payload": 1}',
        '{"key": "k", "value": "x"',
        '{"partition": 0, "offset": 1, "value": {"k": 1, "k": 2}}',
        *("not json", "7", "null", '"text"', ""),
    ],
)
def test_a_line_that_is_no_record_is_a_bare_value(line: str) -> None:
    found = dumped(line)
    assert said(found) == (line, None, None, None, None, False, True)
    assert (found.sent_at, found.is_keyless, found.key_bytes) == (None, False, None)


@pytest.mark.parametrize(
    ("timestamp", "sent_at"),
    [
        (-1, -1_000),
        (253_402_300_799_999, 253_402_300_799_999_000),
        (253_402_300_800_000, None),
        (9_223_372_036_854_775_807, None),
        (10**30, None),
        ("2025-11-20 03:00:00.123", SENT_AT),
        ("2025-11-20T04:00:00.123+01:00", SENT_AT),
        ("0001-01-01T00:00:00+14:00", -62_135_596_800_000_000 - 14 * 3_600_000_000),
        ("yesterday", None),
        (True, None),
        ([1], None),
    ],
)
def test_a_time_beyond_reason_is_none(timestamp: object, sent_at: int | None) -> None:
    assert dumped({**RPK, "offset": 1, "timestamp": timestamp}).sent_at == sent_at
