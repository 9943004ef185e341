"""Keys that Debezium's messages hold beside their values are found in what was read of a topic, however written."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from assets.columns.layers import Bronze
from tests.assets.erasure.test_erasing import KEY, NAME, OTHER, PEOPLE, SECRET, envelope
from transforms.feed.decisions import Decisions
from transforms.feed.erasures import Erasure, hashed_key
from transforms.feed.feed import Feed, RegisteredSchema, Schemas
from transforms.formats import FORMATS
from transforms.silver.erasing import LINK, OF_KEY, UNREADABLE, FindRecords, Wanted

AVRO = {
    "type": "record",
    "name": "Key",
    "namespace": "zoo.public.people",
    "fields": [{"name": "id", "type": "string"}],
}
FEED = Feed(
    "zoo",
    "debezium",
    "kafka://broker:9092/zoo.public.people",
    tables={"people": PEOPLE},
    erasure_key=SECRET,
)
WITH_SCHEMAS = replace(
    FEED, schemas=Schemas("schemas", {"7": RegisteredSchema("AVRO", json.dumps(AVRO))})
)


def in_avro(key: str) -> bytes:
    """A key as a converter with a registry writes it."""
    return b"\x00\x00\x00\x00\x07" + bytes([len(key) * 2]) + key.encode()


def in_json(key: str) -> bytes:
    return json.dumps({"id": key}).encode()


def in_struct(key: str) -> bytes:
    return b"Struct{id=" + key.encode() + b"}"


def of_topic(offset: int, key: bytes, value: Any, **headers: bytes) -> dict[str, Any]:
    """A row of bronze."""
    place = {"object": "zoo.public.people/0", "generation": "t", "line": 1, "byte_offset": offset}
    payload = None if value is None else json.dumps(value).encode()
    told = [{"key": f"__debezium.{name}", "value": said} for name, said in headers.items()]
    told.append({"key": "trace", "value": b"1"})
    return {"window": "2025-11-20T03", **place, "payload": payload, "key": key, "headers": told}


def found(feed: Feed, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    """What is found of the key in these rows of bronze."""
    hashes = frozenset({hashed_key(SECRET, "zoo", "people", (KEY,))})
    find = FindRecords(feed, FORMATS["debezium"], Wanted("people", hashes, (KEY,)))
    batch = pa.RecordBatch.from_pylist([*rows], Bronze.schema)
    told = [row for one in find([batch]) for row in one.to_pylist()]
    return [row for row in told if row["what"] in (OF_KEY, LINK, UNREADABLE)]


@pytest.mark.parametrize(("feed", "written"), [(FEED, in_json), (WITH_SCHEMAS, in_avro)])
def test_a_tombstone_of_the_key_is_of_the_key(feed: Feed, written: Any) -> None:
    rows = (of_topic(4, written(KEY), None), of_topic(5, written("pk-9"), None))
    (one,) = found(feed, *rows)
    assert (one["what"], one["table"], one["key"]) == (OF_KEY, "people", [KEY])
    assert one["byte_offset"] == 4


@pytest.mark.parametrize(
    ("feed", "written"), [(FEED, in_json), (WITH_SCHEMAS, in_avro), (FEED, in_struct)]
)
def test_the_headers_of_a_key_change_link_two_keys(feed: Feed, written: Any) -> None:
    deleted = of_topic(2, in_json(KEY), envelope("d", 102, KEY, NAME), newkey=written(OTHER))
    inserted = of_topic(3, in_json(OTHER), envelope("c", 102, OTHER, NAME), oldkey=written(KEY))
    for row in (deleted, inserted):
        (link,) = [one for one in found(feed, row) if one["what"] == LINK]
        assert (link["moved_from"], link["key"]) == ([KEY], [OTHER])


@pytest.mark.parametrize(
    ("feed", "written"), [(FEED, in_json), (WITH_SCHEMAS, in_avro), (FEED, in_struct)]
)
@pytest.mark.parametrize(("lsn", "is_hers"), [(102, True), (103, False)])
def test_the_insert_of_an_erased_keys_change_is_of_that_key_up_to_its_erasure(
    feed: Feed, written: Any, lsn: int, *, is_hers: bool
) -> None:
    reached = (("", (0, 1, 102, 1, 102)),)
    own = hashed_key(SECRET, "zoo", "people", (KEY,))
    erasure = Erasure("people", own, reached, datetime(2026, 1, 1, tzinfo=UTC), "")
    feed = replace(feed, decisions=Decisions(erasures=(erasure,)))
    inserted = of_topic(3, in_json(OTHER), envelope("c", lsn, OTHER, NAME), oldkey=written(KEY))
    others = [
        of_topic(4, in_json("pk-2"), envelope("c", 90, "pk-2", NAME), oldkey=in_json("pk-1")),
        of_topic(5, in_json("pk-3"), envelope("c", 91, "pk-3", NAME)),
    ]
    batch = pa.RecordBatch.from_pylist([inserted, *others], Bronze.schema)
    found = FindRecords(feed, FORMATS["debezium"], Wanted())([batch])
    places = [row["byte_offset"] for one in found for row in one.to_pylist()]
    assert places == ([3] if is_hers else [])


def test_what_cannot_be_decoded_is_told_by_its_text(written: Any = in_avro) -> None:
    # Nobody says where the schemas are.
    inserted = of_topic(3, in_json(OTHER), envelope("c", 102, OTHER, NAME), oldkey=written(KEY))
    rows = found(FEED, inserted, of_topic(4, written(KEY), None))
    assert [(one["what"], one["byte_offset"]) for one in rows] == [(UNREADABLE, 3), (UNREADABLE, 4)]


def test_a_text_that_may_say_several_keys_is_none() -> None:
    two = replace(PEOPLE, key=("id", "name"))
    feed = replace(FEED, tables={"people": two})
    key = json.dumps({"id": OTHER, "name": NAME}).encode()
    for said, is_link in (
        (f"Struct{{id={KEY},name=A}}", True),
        (f"Struct{{id={KEY},name=A,name=B}}", False),
    ):
        row = of_topic(3, key, envelope("c", 102, OTHER, NAME), oldkey=said.encode())
        assert [one["what"] for one in found(feed, row)] == [LINK if is_link else UNREADABLE]
