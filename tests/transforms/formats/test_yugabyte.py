"""What responses of the CDC SDK become, where the golden cases have no room for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from transforms.event import Event, StreamSchema, Transaction
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.record import BronzeRecord

PETS = Table("pets", ("id",), {"id": "int", "name": "string", "photo": "binary"}, ())
FEED = Feed("yuga", "yugabyte", "/landing", tables={"pets": PETS})

DATUMS = {bool: "DatumBool", int: "DatumInt32", str: "DatumString", float: "DatumDouble"}
OIDS = {bool: 16, int: 23, str: 25, float: 701}


def datum(name: str, value: object) -> dict[str, Any]:
    """A value as Go writes it; None is null, and a dict is the datum itself."""
    if isinstance(value, dict):
        return {"column_name": name, **value}
    kind = type(value)
    member = None if value is None else {DATUMS[kind]: value}
    return {"column_name": name, "column_type": OIDS.get(kind, 25), "Datum": member}


def message(
    op: object, at: tuple[int, ...] | None = None, *, txn: str | None = None, **row: object
) -> dict[str, Any]:
    """A record with an op id (term, index, write_id); ``row`` is what its tuple says, ``more`` are other fields."""
    more = row.pop("more", {})
    assert isinstance(more, dict)
    datums = [datum(name, value) for name, value in row.items()]
    said: dict[str, Any] = {"table": "pets", "op": op, "pgschema_name": "public"}
    said |= {"transaction_id": txn} if txn else {}
    said |= {"old_tuple" if op == 2 else "new_tuple": datums} if datums else {}
    record: dict[str, Any] = {"row_message": {**said, **more}}
    if at is not None:
        record["cdc_sdk_op_id"] = dict(zip(("term", "index", "write_id"), at, strict=False))
    return record


def response(*records: object, **fields: object) -> dict[str, Any]:
    """A response with these records; without other fields it has a checkpoint."""
    at = {"term": 1, "index": 99, "write_id": 0}
    return {"cdc_sdk_proto_records": list(records), **(fields or {"cdc_sdk_checkpoint": at})}


def ddl(
    *columns: str, oid: int = 25, key: str = "id", at: tuple[int, ...] | None = None, **more: object
) -> dict[str, Any]:
    """A DDL with these columns, of which ``key`` is an int and the key, and the others have ``oid``."""
    info = [
        {
            "name": name,
            "type": {"main": 2},
            "is_key": name == key,
            "oid": 23 if name == key else oid,
        }
        for name in columns
    ]
    schema = {"column_info": info, "tab_info": {"default_time_to_live": 0}}
    return message(5, at, more={"schema": schema, **more})


def bronze(
    document: object, window: str = "2026-11-20T03", name: str = "tablet=t1/a.json"
) -> BronzeRecord:
    payload = document if isinstance(document, bytes) else json.dumps(document).encode()
    return BronzeRecord(window, name, "g", 1, 0, None, payload, None, 0)


def decoded(document: object, feed: Feed = FEED, **surveyed: object) -> list[Event]:
    """The events of one record, the note first."""
    decoder = FORMATS["yugabyte"].decoder
    return [
        one
        for one in decoder(feed, surveyed)(bronze(document))  # type: ignore[arg-type]
        if isinstance(one, Event)
    ]


def surveyed(
    feed: Feed, *documents: object, window: str = "2026-11-20T03"
) -> Mapping[str, frozenset[tuple[object, ...]]]:
    """What is surveyed of a window that has these records."""
    surveyor = FORMATS["yugabyte"].surveyor
    assert surveyor is not None
    survey = surveyor(feed)
    return {window: frozenset(fact for one in documents for fact in survey(bronze(one, window)))}


UUID = "51034ee3-25da-4adc-beb2-60ff70678a33"


def test_a_response_is_a_note_and_its_messages_in_their_order() -> None:
    begun = response(
        message(3, txn=UUID),
        message(0, (1, 4, 1), txn=UUID, id=1, name="Rex"),
        message(1, (1, 4, 2), txn=UUID, id=1, name=None),
        message(4, (1, 4, 0), txn=UUID),
    )
    found = decoded(begun)
    assert [(one.operation, one.effect) for one in found] == [
        *(("checkpoint", "note"), ("begin", "begin"), ("insert", "replace")),
        *(("update", "update"), ("commit", "commit")),
    ]
    assert [one.log_position for one in found] == [
        *((0, 1, 1, 99, 2**63 - 1), (0, 1, 1, 4), (0, 1, 1, 4, 1, 0), (0, 1, 1, 4, 2, 0)),
        (0, 1, 1, 4, 2**31 - 1),
    ]
    assert [one.dedup_prefix for one in found] == [2, 2, 5, 5, 5]
    assert found[2].after == {"id": "1", "name": "Rex"}
    assert found[3].after == {"id": "1", "name": None}
    assert {one.transaction for one in found[1:]} == {Transaction(f"t1/{UUID}")}
    assert {one.stream for one in found} == {"t1"}


@pytest.mark.parametrize(
    ("datum", "value"),
    [
        ({"Datum": {"DatumInt64": 9007199254740993}}, "9007199254740993"),
        ({"datum_int64": "9007199254740993"}, "9007199254740993"),
        ({"datumInt64": "9007199254740993"}, "9007199254740993"),
        ({"Datum": {"DatumBool": False}}, "false"),
        ({"datumString": ""}, ""),
        ({"datum_double": "NaN"}, "NaN"),
        ({"Datum": {"DatumInt32": None}}, None),
        ({"cql_value": {"Value": {"StringValue": "UmV4"}}}, "Rex"),
        ({"cqlValue": {"listValue": {"elems": [{"int32Value": 1}]}}}, "[1]"),
        ({"cqlValue": {}}, None),
        ({"column_type": 17, "Datum": {"DatumString": "\\xdead"}}, b"\xde\xad"),
        ({"columnType": "17", "datumString": "\\xdead"}, b"\xde\xad"),
        ({"column_type": 17, "Datum": {"DatumBytes": "3q0="}}, b"\xde\xad"),
        ({"Datum": {"DatumBytes": "3q0="}}, b"\xde\xad"),
        ({"cql_value": {"binary_value": "3q0="}}, b"\xde\xad"),
        ({"column_type": 17, "Datum": {"DatumString": "escape\\000"}}, "escape\\000"),
        ({"column_type": 25, "Datum": {"DatumString": "\\xdead"}}, "\\xdead"),
        ({"Datum": {"DatumBytes": "no base64"}}, "no base64"),
    ],
)
def test_a_value_is_what_its_datum_says(datum: dict[str, Any], value: object) -> None:
    assert decoded(response(message(0, (1, 4, 0), photo=datum)))[1].after == {"photo": value}
    # Where the column is declared as text, bytes are the text that PostgreSQL writes.
    expected = "\\xdead" if value == b"\xde\xad" else value
    assert decoded(response(message(0, (1, 4, 0), name=datum)))[1].after == {"name": expected}


@pytest.mark.parametrize(
    ("records", "checkpoint", "reached"),
    [
        ([message(0, (1, 4, 0), id=1)], {"term": 1, "index": 5}, ("1", "5")),
        ([message(7, id=1)], {"term": 1, "index": 5}, ("1", "5")),
        (
            [message(4, (1, 4, 0), txn="a"), message(3, txn="b")],
            {"term": 1, "index": 5},
            ("1", "5"),
        ),
        ([message(4, (1, 4, 0), txn="a")], {"term": 1, "index": 5, "key": "aw=="}, ("1", "4")),
        ([message(4, (1, 4, 0)), message(4)], {"term": 1, "index": 5, "key": "aw=="}, ("1", "4")),
        ([message(4, (1, 4, 0))], {}, ("1", "4")),
        ([message(0, (1, 4, 0), txn="a")], {"term": 1, "index": 5}, (None, None)),
        ([message(3, txn="a"), ddl("id"), message(8)], {"term": 1, "index": 5}, (None, None)),
        ([], {"term": 1, "index": 5}, (None, None)),
    ],
)
def test_a_consumer_stands_behind_what_is_committed(
    records: list[object], checkpoint: dict[str, object], reached: tuple[object, ...]
) -> None:
    note = decoded(response(*records, cdc_sdk_checkpoint=checkpoint))[0]
    assert (note.after["reached_term"], note.after["reached_index"]) == reached


def test_messages_without_an_op_id_stand_among_their_neighbours() -> None:
    first, second = message(0, (1, 4, 0), id=1), message(0, (1, 6, 0), id=2)
    every = decoded(response(message(3), first, ddl("id", "name"), message(4), second))
    assert [one.log_position for one in every[1:]] == [
        *((0, 1, 1, 4), (0, 1, 1, 4, 0, 0)),
        *((0, 1, 1, 4, 0, 2**31 - 1), (0, 1, 1, 4, 0, 2**31 - 1), (0, 1, 1, 6, 0, 0)),
    ]
    # Only what comes after, only the checkpoint, or nothing at all.
    assert decoded(response(message(8), second))[1].log_position == (0, 1, 1, 6)
    assert decoded(response(message(8)))[1].log_position == (0, 1, 1, 99, 2**31 - 1)
    assert decoded(message(8))[1].log_position == (0, 1)
    assert decoded(response(message(4), second))[1].log_position == (0, 1, 1, 99, 2**31 - 1)
    lost = decoded(message(4))[1]
    assert (lost.log_position, lost.fault and lost.fault.reason) == (None, "missing_field")


UNDECLARED = replace(FEED, tables={})
ROW = message(0, (1, 4, 0), id=1)


def schema_of_row(*documents: object, row: object = None) -> StreamSchema | None:
    """What a row in the window of these responses gets to know of its table."""
    facts = surveyed(UNDECLARED, *documents)
    decoder = FORMATS["yugabyte"].decoder
    _, event = decoder(UNDECLARED, facts)(bronze(response(row or ROW)))
    return event.stream_schema  # type: ignore[union-attr]


def test_the_newest_ddl_of_a_window_counts_in_whatever_order_they_come() -> None:
    older = response(ddl("id", "name", schema_version=2))
    newer = response(ddl("id", "name", "toy", schema_version=10))
    without_version = response(ddl("id"))
    wide = StreamSchema(("id",), (("id", "int"), ("name", "string"), ("toy", "string")))
    assert schema_of_row(older, newer, without_version) == wide
    assert schema_of_row(without_version, newer, older) == wide
    # Of one version the later position in the tablet counts.
    first, second = response(ddl("id", at=(1, 4, 0))), response(ddl("id", "toy", at=(1, 10, 0)))
    assert (
        schema_of_row(first, second)
        == schema_of_row(second, first)
        == StreamSchema(("id",), (("id", "int"), ("toy", "string")))
    )


def test_a_column_is_not_lacking_under_its_old_name_before_its_time_or_without_the_key() -> None:
    renamed = replace(FEED, tables={"pets": replace(PETS, renamed={"called": "name"})})
    assert decoded(response(ddl("id", "photo", "called")), renamed)[1].operation == "ddl"
    later = replace(FEED, tables={"pets": replace(PETS, since={"name": "2026-11-20T04"})})
    assert decoded(response(ddl("id", "photo")), later)[1].operation == "ddl"
    since = replace(FEED, tables={"pets": replace(PETS, since={"name": "2026-11-20T03"})})
    assert decoded(response(ddl("id", "photo")), since)[1].operation == "drop_column"
    assert decoded(response(ddl("other", key="other")))[1].operation == "ddl"
    assert decoded(response(message(5, more={"schema": {}})))[1].operation == "ddl"
    assert decoded(response(ddl("id")), UNDECLARED)[1].operation == "ddl"
