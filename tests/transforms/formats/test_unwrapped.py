"""Rows without envelopes, of Debezium's ExtractNewRecordState: what they are taken for, as the transform may be set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest

from transforms.event import Event
from transforms.feed.feed import Feed, Table, Unwrapped
from transforms.formats import FORMATS
from transforms.onboarding.recognition import proposal_of_records
from transforms.record import BronzeRecord

TABLE = Table("customers", ("id",), {"id": "int", "name": "string"}, ())
FEED = Feed("shop", "debezium", "/nowhere", tables={"customers": TABLE})
TOPIC = "dbserver1.public.customers"


def record(
    value: Any, *, key: Any = None, topic: str = TOPIC, headers: object = None, at: int = 0
) -> BronzeRecord:
    line = {"topic": topic, "partition": 0, "offset": at, "key": key, "value": value}
    text = json.dumps(line | ({} if headers is None else {"headers": headers}))
    return BronzeRecord("2026-11-20T03", "a.jsonl", "g", at + 1, 0, None, text.encode(), None, 0)


def events(feed: Feed, *records: BronzeRecord) -> list[Event]:
    decode = FORMATS["debezium"].decoder(feed, {})
    return [one for record in records for one in decode(record) if isinstance(one, Event)]


def only(feed: Feed, one: BronzeRecord) -> Event:
    (event,) = events(feed, one)
    return event


@pytest.mark.parametrize(
    ("added", "operation"),
    [
        ({"__op": "c", "__deleted": "false"}, "insert"),
        ({"__op": "u", "__deleted": "true"}, "delete"),
        ({"__deleted": "true"}, "delete"),
        ({"__source_ts_ms": 1}, "update"),
        ({"cdc_op": "r", "cdc_table": "customers"}, "read"),
        ({"deleted": "true", "source_lsn": 7}, "delete"),
        ({"op": "c", "lsn": 7}, "insert"),
    ],
    ids=str,
)
def test_what_is_added_says_the_operation_whatever_its_prefix(
    added: Mapping[str, Any], operation: str
) -> None:
    event = only(FEED, record({"id": 1, "name": "ann", **added}, key={"id": 1}))
    assert (event.fault, event.operation, event.name) == (None, operation, "customers")
    image = event.before if operation == "delete" else event.after
    assert image == ({"id": "1"} if operation == "delete" else {"id": "1", "name": "ann"})


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1, "name": "ann"},
        {"id": 1, "name": "ann", "__typename": "Customer"},
        {"id": 1, "name": "ann", "shop": "c"},
        {"id": 1, "top": "r", "total": 2},
    ],
    ids=str,
)
def test_a_row_to_which_nothing_was_added_is_one_where_the_feed_says_so(
    row: Mapping[str, Any],
) -> None:
    fault = only(FEED, record(row, key={"id": 1})).fault
    assert fault is not None and fault.reason == "no_envelope"
    assert "as in `unwrapped: tombstone`" in fault.detail
    event = only(replace(FEED, unwrapped="tombstone"), record(row, key={"id": 1}))
    assert (event.fault, event.effect, event.after, event.warnings) == (
        *(None, "replace"),
        {name: str(value) for name, value in row.items()},
        (),
    )


def test_a_schema_whose_names_are_no_texts_says_nothing_of_columns() -> None:
    row = {"id": 1, "name": "ann", "__op": "c", "__deleted": "false"}
    fields = [{"field": {}, "type": "int32"}, {"field": "__op", "type": "string"}, 7]
    event = only(FEED, record({"schema": {"fields": fields}, "payload": row}, key={"id": 1}))
    assert (event.fault, event.after) == (None, {"id": "1", "name": "ann"})


@pytest.mark.parametrize("mode", [None, *get_args(Unwrapped)])
def test_a_null_is_a_delete_where_the_feed_or_a_header_says_so(mode: Unwrapped | None) -> None:
    feed = replace(FEED, unwrapped=mode)
    event = only(feed, record(None, key={"id": 1}, at=5))
    if mode in (None, "drop"):
        assert (event.operation, event.effect) == ("tombstone", "note")
    else:
        assert (event.operation, event.before, event.log_position) == (
            *("delete", {"id": "1"}),
            (0, 1, 5, 0),
        )
    # As kcat writes headers, as pairs, as objects.
    as_tools_do = (["__op", "d"], [["__op", "d"]], [{"key": "__op", "value": "d"}], {"__op": "d"})
    for headers in as_tools_do:
        event = only(feed, record(None, key={"id": 1}, headers=headers))
        assert (event.fault, event.operation, event.before) == (None, "delete", {"id": "1"})
    # Without a key nobody knows which row is gone.
    assert only(feed, record(None, headers=["__op", "d"])).effect == "note"


def test_rows_that_do_not_say_how_deletes_come_are_warned_of() -> None:
    row = record({"id": 1, "name": "ann", "__op": "c"}, key={"id": 1})
    assert only(FEED, row).warnings == ("deletes_unknown",)
    assert only(replace(FEED, unwrapped="drop"), row).warnings == ()
    with_header = record({"id": 1, "__op": "c"}, key={"id": 1}, headers=["__op", "c"])
    assert only(FEED, with_header).warnings == ()
    assert only(FEED, record({"id": 1, "__op": "c", "__deleted": "false"})).warnings == ()


@pytest.mark.parametrize(
    ("topic", "added", "table"),
    [
        ("dbserver1.public.customers", {}, (None, "public", "customers")),
        ("server.db.dbo.customers", {}, ("db", "dbo", "customers")),
        ("shop.customers", {}, (None, "shop", "customers")),
        ("customers", {"__db": "shop"}, (None, None, "customers")),
        ("all.shards", {"__table": "customers", "__db": "shop"}, (None, "shop", "customers")),
    ],
)
def test_the_table_is_that_of_the_topic_unless_the_row_names_another(
    topic: str, added: Mapping[str, Any], table: tuple[str | None, ...]
) -> None:
    row = {"id": 1, "__op": "c", "__deleted": "false", **added}
    event = only(FEED, record(row, key={"id": 1}, topic=topic))
    assert (event.catalog, event.schema, event.name) == table


def test_a_row_beside_its_schema_is_read_by_it() -> None:
    fields = [
        {"field": "id", "type": "int32"},
        {"field": "day", "type": "int32", "name": "io.debezium.time.Date"},
        {"field": "__op", "type": "string"},
        {"field": "__deleted", "type": "string"},
    ]
    schema = {"type": "struct", "name": "dbserver1.public.customers.Value", "fields": fields}
    value = {"schema": schema, "payload": {"id": 1, "day": 1, "__op": "c", "__deleted": "false"}}
    key = {"schema": {"type": "struct", "fields": fields[:1]}, "payload": {"id": 1}}
    event = only(replace(FEED, tables={}), record(value, key=key))
    assert event.after == {"id": "1", "day": "1970-01-02"}
    assert event.stream_schema is not None
    assert event.stream_schema[:2] == (("id",), (("id", "int"), ("day", "date")))


def test_a_table_without_a_key_stands_in_the_log() -> None:
    row = {"name": "ann", "__op": "c", "__lsn": 9, "__deleted": "false"}
    assert only(FEED, record(row)).log_position == (0, 1, 9, 1, 9)


def proposed(*records: BronzeRecord) -> tuple[dict[str, object], Sequence[str]]:
    proposal = proposal_of_records(replace(FEED, tables={}), records)
    return {entry.name: entry.value for entry in proposal.entries}, proposal.notes


def test_onboarding_proposes_how_deletes_come_and_takes_nothing_added_for_a_column() -> None:
    told = record({"id": 1, "name": "ann", "__op": "c", "__lsn": 3, "__deleted": "false"})
    entries, _ = proposed(told)
    assert "unwrapped" not in entries
    assert "__" not in str(entries)
    bare = [
        record({"id": number, "name": f"n{number}"}, key={"id": number}, at=number)
        for number in range(5)
    ]
    entries, notes = proposed(*bare, record(None, key={"id": 1}, at=9))
    assert entries["unwrapped"] == "tombstone"
    assert "columns" in str(entries["tables"])
    assert any("delete.tombstone.handling.mode" in note for note in notes)


def test_risingwaves_upserts_are_rows_and_nulls() -> None:
    feed = replace(FEED, unwrapped="tombstone")
    sent = ({"id": 1, "name": "ann"}, {"id": 1, "name": "bea"}, None)
    found = events(feed, *(record(row, key={"id": 1}, at=at) for at, row in enumerate(sent)))
    assert [(one.fault, one.effect, one.log_position) for one in found] == [
        (None, "replace", (0, 1, 0, 0)),
        (None, "replace", (0, 1, 1, 0)),
        (None, "remove", (0, 1, 2, 0)),
    ]
