"""What one message of Arcion means, where the golden cases have no room for it; all others are an event or a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from transforms.event import Event
from transforms.feed.feed import Feed, Table
from transforms.formats import arcion_kafka
from transforms.record import BronzeRecord
from transforms.source_format import SourceFormat

CITY = Table("city", ("id",), {"id": "int", "name": "string"}, ())
TOPIC = Feed("town", "arcion_kafka", "kafka://broker:9092/town_city", tables={"city": CITY})
FILES = Feed("town", "arcion_kafka", "/drops/town", tables={"city": CITY})


def event(
    value: Any,
    key: str | None = None,
    feed: Feed = TOPIC,
    source: SourceFormat = arcion_kafka.FORMAT,
) -> Event:
    text = value if isinstance(value, str) else json.dumps(value)
    raw_key = None if key is None else key.encode("utf-8", "surrogatepass")
    payload = text.encode("utf-8", "surrogatepass")
    name = "town_city/0" if feed.reads_topics else "city/part.jsonl"
    record = BronzeRecord("w", name, "g", 8, 7, None, payload, None, 0, raw_key)
    record.path_table = "city"
    (found,) = source.decoder(feed, {})(record)
    assert isinstance(found, Event)
    return found


def change(**said: Any) -> dict[str, Any]:
    namespace = {"catalog": "cat", "schema": "town", "hash": -5}
    cursor = {"log": "bin.000004", "position": 5, "log SeqNum": "7", "extraction Timestamp": "1"}
    table = {"namespace": namespace, "name": "city"}
    return {
        "tableName": table,
        "opType": "I",
        "cursor": cursor,
        "before": None,
        "after": {"id": 1},
        **said,
    }


@pytest.mark.parametrize("cursor", [{}, 7, "x", {"log": "b.1", "lo g": "b.2", "position": 1}])
def test_a_cursor_that_cannot_be_trusted_says_no_log_position(cursor: object) -> None:
    assert event(change(cursor=cursor)).log_position == (0, 1, 7, 0)
    found = event(change(cursor=cursor), feed=FILES)
    assert found.fault is not None
    assert found.fault.reason == "unknown_position"


def test_a_row_of_the_native_snapshot_has_all_of_the_declared_columns() -> None:
    row = {"id": 1, "name": "Ulm", "more": 1.50}
    found = event('{"id":1,"name":"Ulm","more":1.50}', feed=FILES)
    assert (found.operation, found.name, found.fault) == ("read", "city", None)
    assert found.after == {"id": "1", "name": "Ulm", "more": "1.50"}
    for other in ({"id": 1}, {**row, "op": "c"}, {**row, "payload_2": {}}):
        assert event(other, feed=FILES).fault is not None
