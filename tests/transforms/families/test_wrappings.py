"""What clouds wrap messages in: batches are cut where their messages stand, and nothing that looks so raises."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from transforms.families.kafka_records import KafkaMessage, kafka_message
from transforms.families.wrappings import split_dump
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord

FEED = Feed("shop", "debezium", "/nowhere")
EVENT = {"op": "c", "n": 1}
IN_BASE64 = base64.b64encode(json.dumps(EVENT).encode()).decode()


def messages(data: bytes) -> list[KafkaMessage]:
    found = []
    for one in split_dump(data, FEED, "a.json"):
        assert data[one.byte_offset :].startswith(one.payload)
        assert data.count(b"\n", 0, one.byte_offset) == one.line - 1
        place = (one.line, one.byte_offset, one.header, one.payload, one.defect, 0)
        found.append(kafka_message(BronzeRecord("2026-11-20T03", "a.json", "g", *place), FEED))
    return found


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"requestId": "r", "timestamp": 1, "records": [{"data": IN_BASE64}]}, None),
        ({"records": [{"recordId": "1", "data": IN_BASE64}]}, None),
        ({"Records": [{"Data": IN_BASE64, "SequenceNumber": "1", "PartitionKey": "x"}]}, None),
        ([{"data": IN_BASE64, "partitionKey": "x", "eventSource": "aws:kinesis"}], None),
        ({"records": [{"key": None, "value": EVENT}]}, None),
        ({"records": {"t-7": [{"partition": 7, "offset": 3, "value": IN_BASE64}]}}, (7, 3)),
        (
            {
                "records": [
                    {
                        "kafkaRecordValue": IN_BASE64,
                        "mskRecordMetadata": {"partitionId": "0", "offset": "3"},
                    }
                ]
            },
            (0, 3),
        ),
        (
            {
                "partitionId": 1,
                "offset": "2",
                "value": {"encoding": "PAYLOAD_ENCODING_JSON", "normalizedPayload": IN_BASE64},
            },
            (1, 2),
        ),
        (json.dumps(EVENT), None),
    ],
)
def test_the_message_in_a_wrapping(document: Any, place: tuple[int, int] | None) -> None:
    (message,) = messages(json.dumps(document, indent=1).encode())
    assert message.read() == EVENT
    assert (message.partition, message.offset) == (place or (None, None))


@pytest.mark.parametrize(
    "document",
    [
        {"records": [{"value": 1}], "id": 7},
        {"records": [1, 2]},
        {"records": []},
        {"records": [{"name": "x"}]},
        {"data": IN_BASE64, "name": "x"},
        {"message": "x"},
    ],
)
def test_a_row_that_only_looks_so_stays_as_it_is(document: Any) -> None:
    (message,) = messages(json.dumps(document).encode())
    assert message.read() == document


def test_bytes_that_are_no_text_have_none() -> None:
    (message,) = messages(b'{"message": {"data": "//8=", "messageId": "1"}}')
    assert not message.is_utf8
    assert (message.fault or pytest.fail()).reason == "invalid_utf8"


def test_no_bytes_end_in_an_exception() -> None:
    rng = random.Random(7)
    whole = json.dumps(
        [
            {"records": {"t-0": [{"partition": 0, "offset": 1, "value": IN_BASE64}]}},
            {"Records": [{"kinesis": {"data": IN_BASE64, "partitionKey": "{}"}}]},
            {"receivedMessages": [{"message": {"data": IN_BASE64, "attributes": {"a": "b"}}}]},
            {"records": [{"data": IN_BASE64, "approximateArrivalTimestamp": 1.5e300}]},
            {"partitionID": 0, "offset": 1, "headers": [{"k": [1]}], "value": {"encoding": "x"}},
        ]
    ).encode()
    others = [b"null", b"[]", b"{}", b'"x"', b"-1e999", b"\xff", b'"', b"[", b"[true]"]
    for _ in range(3_000):
        at = rng.randrange(len(whole))
        data = whole[:at] + rng.choice(others) + whole[at + rng.randrange(9) :]
        for message in messages(data):
            message.object()
            assert all(len(one) == 2 for one in message.headers)
