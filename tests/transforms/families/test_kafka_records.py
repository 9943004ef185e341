"""What a Kafka record says is the same whether it was read from the topic or from a dump of it."""

from __future__ import annotations

import base64
import json

import pytest

from transforms.families.kafka_records import KafkaMessage, kafka_message
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson
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


def test_a_value_is_read_as_json_once() -> None:
    text = of_topic("orders/0", 1, b'{"a": [1.50, null]}', None)
    assert text.read() == {"a": ["1.50", None]}
    assert text.read() is text.read()
    assert text.text == '{"a": [1.50, null]}'
    assert of_topic("orders/0", 1, b"null", None).read() is None
    for payload in (None, b"\xff", b"", b'{"a": 1, "a": 2}'):
        with pytest.raises(MalformedJson):
            of_topic("orders/0", 1, payload, None).read()


def test_a_key_is_read_as_json() -> None:
    assert of_topic("orders/0", 1, None, b'{"id": 1.0}').read_key() == {"id": "1.0"}
    assert dumped({**LINE, "key": {"id": 1}}).read_key() == {"id": 1}
    assert dumped({**LINE, "key": '{"id": 1}'}).read_key() == {"id": 1}
    for key in (None, b"\xff", b"****", b'{"k": 1, "k": 2}'):
        with pytest.raises(MalformedJson):
            of_topic("orders/0", 1, None, key).read_key()


LINE: dict[str, object] = {
    "topic": "orders",
    "partition": 2,
    "offset": 41,
    "tstype": "create",
    "ts": 1_763_607_600_123,
    "broker": 1,
    "headers": ["trace", "1", "trace", None],
    "key": "k",
    "payload": '{"a": 1.50}',
}


def test_lines_of_kcat_are_records() -> None:
    full = dumped(LINE)
    assert said(full) == ('{"a": 1.50}', "k", "orders", 2, 41, False, True)
    assert (full.sent_at, full.key_bytes, full.is_keyless) == (SENT_AT, b"k", False)
    assert full.read() == {"a": "1.50"}
    null = dumped({**LINE, "payload": None, "offset": 42})
    assert said(null) == (None, "k", "orders", 2, 42, True, True)
    without_key = dumped({**LINE, "key": None, "offset": 43})
    assert said(without_key) == ('{"a": 1.50}', None, "orders", 2, 43, False, True)
    assert without_key.is_keyless


def test_key_and_value_may_stand_in_the_line_as_documents() -> None:
    text = dumped(
        '{"partition": 0, "offset": 1, "key": "{\\"id\\":1}", "value": "{\\"a\\":1}", "timestamp": "1763607600123"}'
    )
    assert said(text) == ('{"a":1}', '{"id":1}', None, 0, 1, False, True)
    assert text.sent_at == SENT_AT
    document = dumped(
        '{"partition": 0, "offset": 2, "key": {"id": 12345678901234567890}, "value": {"a": 1.50, "b": [1, null]}}'
    )
    assert document.read() == {"a": "1.50", "b": [1, None]}
    assert said(document) == (
        '{"a":1.50,"b":[1,null]}',
        '{"id":12345678901234567890}',
        *(None, 0, 2, False, True),
    )
    assert (document.key_bytes, document.sent_at) == (b'{"id":12345678901234567890}', None)
    iso = dumped(
        '{"partition": 0, "offset": 3, "key": 7, "value": {}, "timestamp": "2025-11-20T03:00:00.123Z"}'
    )
    assert (iso.text, iso.key, iso.sent_at) == ("{}", "7", SENT_AT)
    null = dumped('{"partition": 0, "offset": 4, "key": {"id": 1}, "value": null}')
    assert said(null) == (None, '{"id":1}', None, 0, 4, True, True)


def test_numbers_of_a_document_in_the_line_keep_every_digit() -> None:
    numbers = (
        '{"a":1.10,"b":-0.0,"c":1e400,"e":[9007199254740993.0,2E-3],'
        '"f":"1.10","g":"x\\"1.10","h":123456789012345678901234567890.1234567890123456789012345678901}'
    )
    document = dumped(
        f'{{"partition": 0, "offset": 1, "timestamp": 1.5, "key": {{"id": 1.0}}, "value": {numbers}}}'
    )
    assert said(document) == (numbers, '{"id":1.0}', None, 0, 1, False, True)
    assert document.sent_at is None
    number = dumped('{"partition": 0, "offset": 2, "key": 1.0, "value": -2.50}')
    assert said(number) == ("-2.50", "1.0", None, 0, 2, False, True)
    text = dumped({"partition": 0, "offset": 3, "key": "1.0", "value": numbers})
    assert said(text) == (numbers, "1.0", None, 0, 3, False, True)


KEY64, VALUE64 = (base64.b64encode(one).decode() for one in (b'{"id":1}', b'{"a": 1.50}'))
RPK: dict[str, object] = {"topic": "orders", "timestamp": 1_763_607_600_123, "partition": 2}
METADATA = {"topic": "orders", "partition": 2, "offset": 5, "timestamp": 1_763_607_600_123}
VALUE = '{"a": 1.50}'


@pytest.mark.parametrize(
    ("line", "expected", "is_keyless", "sent_at"),
    [
        (
            {**RPK, "key": "k", "value": VALUE, "headers": [{"key": "h"}], "offset": 1},
            (VALUE, "k", "orders", 2, 1, False, True),
            *(False, SENT_AT),
        ),
        # rpk leaves out what is null or empty.
        ({**RPK, "offset": 2}, (None, None, "orders", 2, 2, True, True), True, SENT_AT),
        (
            {**RPK, "partition": "2", "offset": "3", "key": KEY64, "value": VALUE64},
            (VALUE, '{"id":1}', "orders", 2, 3, False, True),
            *(False, SENT_AT),
        ),
        # Nothing that is no object is taken for base64.
        (
            {**RPK, "offset": 4, "key": "eyJ", "value": "e30x"},
            ("e30x", "eyJ", "orders", 2, 4, False, True),
            *(False, SENT_AT),
        ),
        (
            {"key": "k", "value": VALUE, "headers": {"h": "1"}, "metadata": METADATA},
            (VALUE, "k", "orders", 2, 5, False, True),
            *(False, SENT_AT),
        ),
        # Aiven's sinks tell no partition, and by default the value alone.
        (
            {"key": "k", "value": VALUE, "offset": 6, "timestamp": "2025-11-20T03:00:00.123Z"},
            (VALUE, "k", None, None, 6, False, True),
            *(False, SENT_AT),
        ),
        ({"key": None, "value": VALUE}, (VALUE, *[None] * 4, False, True), True, None),
        ({"key": "k", "value": None}, (None, "k", *[None] * 3, True, True), False, None),
        ({"value": VALUE}, (VALUE, *[None] * 4, False, True), False, None),
    ],
)
def test_tools_name_and_leave_out_what_they_please(
    line: dict[str, object],
    expected: tuple[object, ...],
    is_keyless: bool,
    sent_at: int | None,
) -> None:
    found = dumped(line)
    assert said(found) == expected
    assert (found.is_keyless, found.sent_at) == (is_keyless, sent_at)


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


def test_a_line_that_is_no_utf8_is_a_value_without_a_text() -> None:
    assert said(dumped(b"\xff\xfe")) == (None, None, None, None, None, False, False)


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
