"""What a Kafka record says is the same whether it was read from the topic or from a dump of it."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats import _kafka
from transforms.record import BRONZE

TOPIC = Feed("shop", "arcion_kafka", "kafka://broker:9092/orders")
DUMP = Feed("shop", "arcion_kafka", "/drops/orders")
LANDED_AT = datetime(2025, 11, 20, 3, 0, 1, 500_000, tzinfo=UTC)
COLUMNS = ("message", "message_key", "topic", "partition", "offset", "is_null", "is_utf8")


def read(
    spark: SparkSession, feed: Feed, *records: tuple[str, int, bytes | None, bytes | None]
) -> list[Row]:
    """``messages`` of records given as object, offset or line, payload and key, in their order."""
    rows = [
        ("2025-11-20T03", name, "g", at + 1, at, None, payload, None, LANDED_AT, key, None)
        for name, at, payload, key in records
    ]
    bronze = spark.createDataFrame(rows, BRONZE)
    found = (
        _kafka.messages(bronze, feed)
        .withColumn("sent_ms", F.unix_millis("sent_at"))
        .orderBy("line")
    )
    return found.collect()


def dumped(spark: SparkSession, *lines: bytes | str | dict[str, object]) -> list[Row]:
    texts = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    return read(
        spark,
        DUMP,
        *(
            ("orders.jsonl", at, text if isinstance(text, bytes) else text.encode(), None)
            for at, text in enumerate(texts)
        ),
    )


def said(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in COLUMNS)


def test_a_record_of_a_topic_says_where_it_stood(spark: SparkSession) -> None:
    text, null, binary, empty = read(
        spark,
        TOPIC,
        ("my/orders/3", 7, b'{"a": 1}', b'{"id": 1}'),
        ("orders/0", 8, None, b"\x00\xff"),
        ("orders/12", 9, b"\xff\x00", None),
        ("orders/0", 10, b"", b""),
    )
    assert said(text) == ('{"a": 1}', '{"id": 1}', "my/orders", 3, 7, False, True)
    assert text["sent_ms"] == int(LANDED_AT.timestamp() * 1000)
    assert said(null) == (None, None, "orders", 0, 8, True, True)
    assert bytes(null["key_bytes"]) == b"\x00\xff"
    assert said(binary) == (None, None, "orders", 12, 9, False, False)
    assert said(empty) == ("", "", "orders", 0, 10, False, True)


def test_lines_of_kcat_are_records(spark: SparkSession) -> None:
    line: dict[str, object] = {
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
    full, null, without_key = dumped(
        spark, line, {**line, "payload": None, "offset": 42}, {**line, "key": None, "offset": 43}
    )
    assert said(full) == ('{"a": 1.50}', "k", "orders", 2, 41, False, True)
    assert full["sent_ms"] == 1_763_607_600_123
    assert bytes(full["key_bytes"]) == b"k"
    assert said(null) == (None, "k", "orders", 2, 42, True, True)
    assert said(without_key) == ('{"a": 1.50}', None, "orders", 2, 43, False, True)


def test_key_and_value_may_stand_in_the_line_as_documents(spark: SparkSession) -> None:
    text, document, iso, null = dumped(
        spark,
        '{"partition": 0, "offset": 1, "key": "{\\"id\\":1}", "value": "{\\"a\\":1}", "timestamp": "1763607600123"}',
        '{"partition": 0, "offset": 2, "key": {"id": 12345678901234567890}, "value": {"a": 1.50, "b": [1, null]}}',
        '{"partition": 0, "offset": 3, "key": 7, "value": {}, "timestamp": "2025-11-20T03:00:00.123Z"}',
        '{"partition": 0, "offset": 4, "key": {"id": 1}, "value": null}',
    )
    assert said(text) == ('{"a":1}', '{"id":1}', None, 0, 1, False, True)
    assert text["sent_ms"] == 1_763_607_600_123
    assert document["message"] == '{"a":1.50,"b":[1,null]}'
    assert json.loads(document["message_key"]) == {"id": 12345678901234567890}
    assert document["sent_ms"] is None
    assert (iso["message"], iso["message_key"], iso["sent_ms"]) == ("{}", "7", 1_763_607_600_123)
    assert said(null) == (None, '{"id":1}', None, 0, 4, True, True)


def test_numbers_of_a_document_in_the_line_keep_every_digit(spark: SparkSession) -> None:
    numbers = (
        '{"a":1.10,"b":-0.0,"c":1e400,"d":-0,"e":[9007199254740993.0,2E-3],'
        '"f":"1.10","g":"x\\"1.10","h":123456789012345678901234567890.1234567890123456789012345678901}'
    )
    document, number, text = dumped(
        spark,
        f'{{"partition": 0, "offset": 1, "timestamp": 1.5, "key": {{"id": 1.0}}, "value": {numbers}}}',
        '{"partition": 0, "offset": 2, "key": 1.0, "value": -2.50}',
        {"partition": 0, "offset": 3, "key": "1.0", "value": numbers},
    )
    assert (document["message"], document["message_key"]) == (numbers, '{"id":1.0}')
    assert (number["message"], number["message_key"]) == ("-2.50", "1.0")
    assert (text["message"], text["message_key"]) == (numbers, "1.0")
    places = [(row["partition"], row["offset"]) for row in (document, number, text)]
    assert places == [(0, 1), (0, 2), (0, 3)]


def test_tools_name_and_leave_out_what_they_please(spark: SparkSession) -> None:
    rpk: dict[str, object] = {"topic": "orders", "timestamp": 1_763_607_600_123, "partition": 2}
    value = '{"a": 1.50}'
    key64, value64 = (base64.b64encode(one).decode() for one in (b'{"id":1}', value.encode()))
    metadata = {"topic": "orders", "partition": 2, "offset": 5, "timestamp": 1_763_607_600_123}
    found = dumped(
        spark,
        {**rpk, "key": "k", "value": value, "headers": [{"key": "h", "value": "1"}], "offset": 1},
        # rpk leaves out what is null or empty.
        {**rpk, "offset": 2},
        {**rpk, "partition": "2", "offset": "3", "key": key64, "value": value64},
        {**rpk, "offset": 4, "key": "eyJ", "value": "e30x"},
        {"key": "k", "value": value, "headers": {"h": "1"}, "metadata": metadata},
        # Aiven's sinks tell no partition, and by default the value alone.
        {"key": "k", "value": value, "offset": 6, "timestamp": "2025-11-20T03:00:00.123Z"},
        {"key": None, "value": value},
        {"key": "k", "value": None},
        {"value": value},
    )
    assert [said(row) for row in found] == [
        (value, "k", "orders", 2, 1, False, True),
        (None, None, "orders", 2, 2, True, True),
        (value, '{"id":1}', "orders", 2, 3, False, True),
        # Nothing that is no object is taken for base64.
        ("e30x", "eyJ", "orders", 2, 4, False, True),
        (value, "k", "orders", 2, 5, False, True),
        (value, "k", None, None, 6, False, True),
        (value, None, None, None, None, False, True),
        (None, "k", None, None, None, True, True),
        (value, None, None, None, None, False, True),
    ]
    assert [row["is_keyless"] for row in found] == [
        *(False, True, False, False, False, False),
        *(True, False, False),
    ]
    assert [row["sent_ms"] for row in found] == [1_763_607_600_123] * 6 + [None] * 3


def test_a_line_that_is_no_record_is_a_bare_value(spark: SparkSession) -> None:
    lines = (
        '{"before": null, "after": {"id": 1}, "offset": 9}',
        '{"value": "x", "key": 1, "id": 5}',
        '{"schema": null, "payload": {"op": "c"}}',
        '{"key": "k", "value": "x"',
        "not json",
    )
    *bare, binary = dumped(spark, *lines, b"\xff\xfe")
    nothing = (None, None, None, None)
    assert [said(row) for row in bare] == [(line, *nothing, False, True) for line in lines]
    assert said(binary) == (None, *nothing, False, False)
    assert {(row["sent_ms"], row["is_keyless"]) for row in (*bare, binary)} == {(None, False)}
