"""What one message of Arcion means, where the golden cases have no room for it; all others are an event or a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.event import Event
from transforms.feed.feed import Feed, Table
from transforms.formats import arcion_kafka, debezium
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


def envelope(**said: Any) -> dict[str, Any]:
    source = {"connector": "MYSQL", "db": "town", "table": "city", "file": "bin.000003", "pos": 40}
    return {"before": {}, "after": {"id": 1}, "source": source, "op": "c", **said}


@pytest.mark.parametrize(
    ("key", "is_none"),
    [
        *[(key, True) for key in (None, "default", '"default"', " default ", "null", "{}", " {} ")],
        ('{"schema":null,"payload":null}', True),
        ('{"schema":null,"payload":"default"}', True),
        ('{"schema":null,"payload":{}}', True),
        *[
            (key, False)
            for key in ("", "****", '{"id":1}', '{"schema":null}', "7", '{"payload":7}')
        ],
    ],
)
def test_no_key_has_many_spellings(key: str | None, is_none: bool) -> None:
    fields = [{"field": "after", "fields": [{"field": "id", "type": "int32"}]}]
    found = event({"schema": {"fields": fields}, "payload": envelope()}, key)
    schema = found.stream_schema
    assert (schema is not None and schema.key == ()) is is_none


def test_a_key_that_cannot_be_trusted_is_refused() -> None:
    found = event(envelope(), '{"k":1,"k":2}')
    assert found.fault is not None
    assert found.fault.reason == "malformed_key"
    assert "a name stands twice in one object: k" in found.fault.detail
    # In a dump, where the key stands in the line, all of the line is malformed.
    dump = '{"partition":0,"offset":1,"key":{"k":1,"k":2},"value":{}}'
    assert event(dump, feed=FILES).fault == (
        "malformed_json",
        "not one JSON document, or a name stands twice in one object: a name stands twice in one object: k",
    )


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


def test_a_native_change_is_its_json_sibling() -> None:
    found = event(change(), '{"id":1}')
    assert (found.catalog, found.schema, found.name) == ("cat", "town", "city")
    assert (found.operation, found.effect, found.fault) == ("insert", "replace", None)
    assert (found.log_position, found.segment, found.extracted_at) == ((0, 1, 4, 5, 7), 4, 1_000)
    assert event(change(cursor=json.dumps(change()["cursor"]))).log_position == (0, 1, 4, 5, 7)
    effects = [event(change(opType=op)).effect for op in ("U", " r ", "D")]
    assert effects == ["update", "replace", "remove"]


def test_a_native_change_without_a_cursor_is_of_the_snapshot() -> None:
    found = event(change(cursor=None), '{"id":1}')
    assert (found.log_position, found.fault) == ((0, 0), None)


@pytest.mark.parametrize("cursor", [{}, 7, "x", {"log": "b.1", "lo g": "b.2", "position": 1}])
def test_a_cursor_that_cannot_be_trusted_says_no_log_position(cursor: object) -> None:
    assert event(change(cursor=cursor)).log_position == (0, 1, 7, 0)
    found = event(change(cursor=cursor), feed=FILES)
    assert found.fault is not None
    assert found.fault.reason == "unknown_position"


def test_unknown_native_operations_are_named_as_they_were_written() -> None:
    for op, written in (("X", "'X'"), (None, "null"), (7, "'7'")):
        found = event(change(opType=op))
        assert found.fault is not None
        assert found.fault.detail.startswith(f"op {written} is not known; known: r, c, u, d, read")


def test_a_row_of_the_native_snapshot_has_all_of_the_declared_columns() -> None:
    row = {"id": 1, "name": "Ulm", "more": 1.50}
    found = event('{"id":1,"name":"Ulm","more":1.50}', feed=FILES)
    assert (found.operation, found.name, found.fault) == ("read", "city", None)
    assert found.after == {"id": "1", "name": "Ulm", "more": "1.50"}
    for other in ({"id": 1}, {**row, "op": "c"}, {**row, "payload_2": {}}):
        assert event(other, feed=FILES).fault is not None


def test_columns_may_be_named_like_parts_of_an_envelope() -> None:
    after = {"id": 1, "schema": "x", "payload": "y", "op": "z", "default": "default"}
    found = event(envelope(after=after))
    assert (found.fault, found.after) == (None, {**after, "id": "1"})


_NAMES = st.sampled_from(
    [
        *("schema", "payload", "payload_1", "payload_2", "schema_1", "schema_2", "fields", "field"),
        *(
            "before",
            "after",
            "op",
            "source",
            "db",
            "table",
            "file",
            "pos",
            "lsn",
            "sequence",
            "row",
        ),
        *("transaction", "id", "status", "tableName", "opType", "cursor", "key", "value", "offset"),
        *("partition", "timestamp", "metadata", "parameters", "scale", "items", "type", "name"),
    ]
)
_WORDS = st.sampled_from(
    [
        *(
            "c",
            "u",
            "r",
            "d",
            "t",
            "insert",
            "default",
            "null",
            "{}",
            "true",
            "END",
            "bytes",
            "array",
        ),
        *("__debezium_unavailable_value", "AA==", "bin.1", "mysql", "city", "before", "after"),
        *(
            "io.debezium.time.NanoTimestamp",
            "org.apache.kafka.connect.data.Decimal",
            "\x00",
            "\ud800",
        ),
    ]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | _WORDS | st.text(max_size=3)
_DOCUMENTS = st.recursive(
    _SCALARS,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(_NAMES, parts, max_size=6),
    max_leaves=30,
)


@pytest.mark.parametrize("source", [arcion_kafka.FORMAT, debezium.FORMAT], ids=lambda one: one.name)
@pytest.mark.parametrize("feed", [TOPIC, FILES], ids=["topic", "files"])
@settings(max_examples=150, deadline=None)
@given(value=_DOCUMENTS, key=_DOCUMENTS, is_escaped=st.booleans())
def test_whatever_a_message_says_it_is_one_event_or_tells_why_not(
    source: SourceFormat, feed: Feed, value: object, key: object, is_escaped: bool
) -> None:
    texts = [json.dumps(one, ensure_ascii=is_escaped) for one in (value, key)]
    found = event(texts[0], texts[1], feed, source)
    assert found.operation is not None or found.fault is not None
    assert found.log_position is not None or found.fault is not None
    images = [*found.before.values(), *found.after.values()]
    assert {type(one) for one in images} <= {str, bytes, type(None)}
    assert found.fault is None or found.fault.detail
