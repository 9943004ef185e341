"""Messages of topics by their shapes: which are taken, and that a shape says what each message says by itself."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from dataclasses import fields, replace
from io import BytesIO
from random import Random
from typing import Any, Final, get_args

import fastavro
import pytest

from tests.support import avro_messages
from tests.support.avro_messages import registered, wired
from transforms.event import Event
from transforms.families.connect.envelopes import split_files
from transforms.feed.feed import Feed, Schemas, Table, Unwrapped
from transforms.formats import FORMATS
from transforms.record import BronzeRecord
from transforms.shape import Shape, Shaped

UNSENT: Final = "__debezium_unavailable_value"
TABLE: Final = Table("item", ("id",), {"id": "int", "note": "string", "day": "date"}, ())
COLUMNS: Final = {"id": "int32", "note": "string", "price": "double", "tags": "array"}
SOURCE: Final = {
    **{"connector": "postgresql", "db": "shop", "schema": "public", "table": "item", "lsn": 1000},
    **{"snapshot": "false", "ts_ms": 1763660000000, "sequence": '["999","1000"]'},
}
OF_MYSQL: Final = {"connector": "mysql", "table": "item", "file": "binlog.7", "pos": 4}
ROW: Final = {"id": 1, "note": "a", "price": 1.5, "tags": ["x", "y"]}


def compact(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def described(payload: object, fields: list[dict[str, Any]]) -> bytes:
    return compact({"schema": {"type": "struct", "fields": fields}, "payload": payload})


def envelope(row: object = ROW, **others: object) -> dict[str, Any]:
    whole = {"before": None, "after": row, "source": SOURCE, "op": "c", "ts_ms": 1763660000123}
    return {**whole, **others}


def with_schema(payload: object, **kinds: str) -> bytes:
    types = {**COLUMNS, **kinds}
    columns = [{"type": kind, "optional": True, "field": name} for name, kind in types.items()]
    images = [{"type": "struct", "fields": columns, "field": one} for one in ("before", "after")]
    return described(payload, images)


def with_row(**columns: object) -> bytes:
    return compact(envelope({**ROW, **columns}))


def of_bare_table(last_commit: str | None) -> bytes:
    """A row of a snapshot; a connector that has read a commit before takes a blocking one."""
    sequence = None if last_commit is None else f'["{last_commit}","1000"]'
    source = {**SOURCE, "table": "bare", "snapshot": "true", "sequence": sequence}
    return compact(envelope(op="r", source=source))


def in_cells(value: object) -> dict[str, object]:
    return {"value": value, "set": True}


PLAIN: Final = compact(envelope())
KEY: Final = b'{"id":1}'
TAKEN: Final[dict[str, tuple[bytes, bytes | None]]] = {
    "insert": (PLAIN, KEY),
    "insert with schema": (with_schema(envelope()), described({"id": 1}, [{"field": "id"}])),
    "insert with another schema": (
        with_schema(envelope(), note="bytes"),
        described({"id": 1}, [{"field": "id"}]),
    ),
    "insert with another key's schema": (
        with_schema(envelope()),
        described({"id": 1}, [{"field": "id"}, {"field": "note"}]),
    ),
    "schema behind": (
        json.dumps({"payload": envelope(), "schema": {"fields": []}}, indent=1).encode(),
        KEY,
    ),
    "update": (compact(envelope({**ROW, "note": None}, before=ROW, op="u")), KEY),
    "an insert with an old image": (compact(envelope(before=ROW)), KEY),
    "delete": (compact(envelope(None, before=ROW, op="d")), KEY),
    "read": (compact(envelope(op="r", source={**SOURCE, "snapshot": "last"})), KEY),
    "another table": (compact(envelope(source={**SOURCE, "table": "other"})), KEY),
    "no key": (PLAIN, None),
    "no key, in a blocking snapshot": (of_bare_table("999"), None),
    "no key, in an initial snapshot": (of_bare_table(None), None),
    "in a transaction": (compact(envelope(transaction={"id": "5:1", "total_order": 1})), KEY),
    "an object": (with_row(tags={"scale": 1, "value": "AQ=="}), KEY),
    "escapes": (with_row(note='"\\\n'), KEY),
    "without a log position": (
        compact(envelope(source={"table": "item", "file": "", "pos": 0})),
        KEY,
    ),
    "with a log position, and none in a file": (
        compact(envelope(source={**SOURCE, "file": "", "pos": 0})),
        KEY,
    ),
    "a row of a snapshot of MySQL": (
        compact(envelope(op="r", source={**OF_MYSQL, "snapshot": "last"})),
        KEY,
    ),
    "of MySQL": (
        compact(envelope(source=OF_MYSQL)),
        KEY,
    ),
    "an update without a key that is read": (compact(envelope(before=ROW, op="u")), None),
}
JUDGED: Final[dict[str, tuple[bytes | None, bytes | None]]] = {
    "tombstone": (None, KEY),
    "no JSON": (PLAIN[:-1], KEY),
    "a name twice": (PLAIN.replace(b'"note":"a"', b'"note":"b","note":"a"'), KEY),
    "a name twice in the key": (PLAIN, b'{"id":2,"id":1}'),
    "a schema twice": (b'{"payload":' + PLAIN + b',"schema":null,"schema":{}}', KEY),
    "minus zero": (PLAIN.replace(b"1.5", b"-0"), KEY),
    "a number without end": (PLAIN.replace(b"1.5", b"1" * 1_001), KEY),
    "two images, one a text": (compact(envelope(before="null", op="u")) + b" x", KEY),
    "an image that is no object": (compact(envelope(before="text", op="u")), KEY),
    "no new image": (compact(envelope(None)), KEY),
    "no new image, and no key": (compact(envelope(None)), None),
    "an operation that is not known": (compact(envelope(op="z")), KEY),
    "a truncate": (compact(envelope(None, op="t")), KEY),
    "a field of no envelope": (compact(envelope(payload_2={})), KEY),
    "a value that was not sent": (with_row(note=UNSENT), KEY),
    "one that was not sent, in escapes": (
        compact(envelope({"id": 1, "note": UNSENT})).replace(b'"__deb', b'"\\u005f_deb'),
        KEY,
    ),
    "one in base64": (with_row(note=base64.b64encode(UNSENT.encode()).decode()), KEY),
    "one in a row of texts": (compact(envelope({"id": 1, "note": UNSENT})), KEY),
    "one in numbers": (with_row(tags=[*UNSENT.encode()]), KEY),
    "one in a list": (with_row(tags=[UNSENT]), KEY),
    "cells": (compact(envelope({"id": in_cells(1), "note": None})), KEY),
    "in Avro's own JSON": (compact(envelope({"shop.item.Value": {"id": {"int": 1}}})), None),
    "of Cassandra": (compact(envelope(source={**SOURCE, "connector": "cassandra"})), KEY),
    "a column in the key alone": (compact(envelope({"note": "a"})), KEY),
    "a key that is no JSON": (PLAIN, b"{"),
    "a key that is a text": (PLAIN, b'"1"'),
    "without a place": (compact(envelope(source={**SOURCE, "lsn": None, "sequence": None})), KEY),
}
FLAT: Final = {"id": 1, "note": "a", "price": 1.5, "tags": ["x", "y"]}
ADDED: Final = {"__op": "u", "__table": "item", "__lsn": 7, "__deleted": "false"}


def bare(**others: object) -> bytes:
    """A row that was taken out of its envelope."""
    return compact({**FLAT, **others})


def bare_with_schema(row: dict[str, object]) -> bytes:
    kinds = {**COLUMNS, "__lsn": "int64"}
    fields = [{"type": kinds.get(name, "string"), "field": name} for name in row]
    return compact({"schema": {"type": "struct", "fields": fields}, "payload": row})


ROW_ALONE: Final = {"id": 1, "note": "a", "__op": "c", "__deleted": "false"}
TAKEN_ROWS: Final[dict[str, tuple[bytes, bytes | None]]] = {
    "what was added": (bare(**ADDED), KEY),
    "what was added, with a schema": (bare_with_schema({**FLAT, **ADDED}), KEY),
    "a day, with a schema": (bare_with_schema({"id": 1, "day": 7, **ADDED}), KEY),
    "other fields were added": (bare(__op="u", __deleted="false"), KEY),
    "it is not told that it stays": (bare(__op="u"), KEY),
    "another prefix": (bare(cdc_op="c", cdc_table="item"), KEY),
    "a delete": (bare(__op="d", __deleted="true"), KEY),
    "a row of a snapshot": (bare(__op="r", __deleted="false", __snapshot="last"), KEY),
    "another table": (bare(**{**ADDED, "__table": "other"}), KEY),
    "without a key": (bare(**ADDED), None),
    "by its log": (bare(__op="u", __deleted="false", __source_file="b.7", __source_pos=4), KEY),
    "escapes": (bare(**{**ADDED, "note": '"\\\n'}), KEY),
    "an envelope": (PLAIN, KEY),
}
JUDGED_ROWS: Final[dict[str, tuple[bytes | None, bytes | None]]] = {
    "a null": (None, KEY),
    "a name twice": (bare(**ADDED).replace(b'"note":"a"', b'"note":"b","note":"a"'), KEY),
    "minus zero": (bare(**ADDED).replace(b"1.5", b"-0"), KEY),
    "an object": (bare(**{**ADDED, "note": {"string": "a"}}), KEY),
    "a value that was not sent": (bare(**{**ADDED, "note": UNSENT}), KEY),
    "a column in the key alone": (compact({"note": "a", **ADDED}), KEY),
    "an operation that is not known": (bare(__op="z", __deleted="false"), KEY),
    "a truncate": (bare(__op="t", __deleted="false"), KEY),
    "a schema change": (bare(ddl="drop table item", **ADDED), KEY),
    "an event of a cloud": (bare(specversion="1.0", **ADDED), KEY),
    "images alone": (b'{"before":"a","after":"b"}', KEY),
    "a broken envelope": (b'{"op":"c","after":"b","source":"c"}', KEY),
    "the document of a key": (
        compact({"schema": {"name": "shop.item.Key", "fields": []}, "payload": FLAT}),
        KEY,
    ),
    "a payload without a schema": (b'{"payload":"a"}', KEY),
    "of Cassandra": (bare(**{**ADDED, "__connector": "cassandra"}), KEY),
    "a key that is no JSON": (bare(**ADDED), b"{"),
}
BARE_ROWS: Final = {"nothing was added": (bare(), KEY), "nor to this": (bare(note="b"), KEY)}
HEADERS: Final = {"traceparent": True, "__debezium.context.task": True, "ce_specversion": False}


def message(
    value: bytes | None, key: bytes | None, offset: int, header: str | None = None
) -> BronzeRecord:
    headers = None if header is None else [(header, b"1.0")]
    of_topic = ("w", "shop.public.item/0", "g", offset + 1, offset, None)
    return BronzeRecord(*of_topic, value, None, 0, key=key, headers=headers)


def rows_alone(mode: Unwrapped | None) -> list[tuple[BronzeRecord, bool]]:
    """Rows without envelopes; one to which nothing was added is taken where the feed says how deletes come."""
    found: list[tuple[BronzeRecord, bool]] = []
    for start in (0, 1_000):
        for some, taken in (
            (TAKEN_ROWS, True),
            (JUDGED_ROWS, False),
            (BARE_ROWS, mode is not None),
        ):
            for one in some.values():
                found.append((message(*one, start + len(found)), taken))
    return [*found, (message(bare(**ADDED), KEY, 3_000, "__op"), False)]


def messages() -> list[tuple[BronzeRecord, bool]]:
    found = [(message(*one, at), True) for at, one in enumerate(TAKEN.values())]
    # Each comes again, with another place, after others of all kinds.
    found += [(message(*one, 1_000 + at), False) for at, one in enumerate(JUDGED.values())]
    found += [(message(*one, 2_000 + at), True) for at, one in enumerate(TAKEN.values())]
    found += [(message(PLAIN, KEY, 3_000, name), taken) for name, taken in HEADERS.items()]
    return found


def lines(
    of_topic: list[tuple[BronzeRecord, bool]], as_texts: bool
) -> list[tuple[BronzeRecord, bool]]:
    """The messages as lines of a dump."""
    found: list[tuple[BronzeRecord, bool]] = []
    for record, taken in of_topic:
        if record.headers or (record.payload or b"{")[-1:] != b"}":
            continue
        value = "null" if record.payload is None else record.payload.decode()
        key = "null" if record.key is None else record.key.decode()
        if as_texts:
            value, key = (one if one == "null" else json.dumps(one) for one in (value, key))
        elif key == "{":
            continue
        place = f'"topic":"shop.public.item","partition":0,"offset":{record.byte_offset}'
        line = f'{{{place},"key":{key},"payload":{value}}}'.encode()
        found.append(
            (BronzeRecord("w", "dump.json", "g", len(found) + 1, 0, None, line, None, 0), taken)
        )
    doubled = found[0][0].payload or b""
    twice = doubled.replace(b'"offset":0', b'"offset":7,"offset":0')
    found.append((BronzeRecord("w", "dump.json", "g", 1, 0, None, twice, None, 0), False))
    return found


INT: Final = {"name": "id", "type": "int"}
NOTE: Final = {"name": "note", "type": ["null", "string"], "default": None}


def in_cell(name: str, kind: str) -> dict[str, Any]:
    """A column as the connector of YugabyteDB has it."""
    fields = [{"name": "value", "type": kind}, {"name": "set", "type": "boolean"}]
    return {"name": name, "type": {"type": "record", "name": f"{name}_cell", "fields": fields}}


OF_VALUE: Final = {
    **{"type": "record", "name": "io.debezium.data.VariableScaleDecimal"},
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
}
AVRO: Final[dict[int, Any]] = {
    1: avro_messages.key_schema("item", INT),
    2: avro_messages.envelope_schema("item", INT, NOTE),
    3: avro_messages.envelope_schema("item", INT, NOTE, {"name": "price", "type": "double"}),
    4: avro_messages.envelope_schema("item", INT, {"name": "size", "type": OF_VALUE}),
    5: avro_messages.envelope_schema("item", INT, {"name": "note", "type": "bytes"}),
    6: {
        **{"type": "record", "name": "Value", "namespace": "shop.public.item"},
        "fields": [INT, NOTE, *({"name": one, "type": "string"} for one in ("__op", "__deleted"))],
    },
    7: avro_messages.envelope_schema("item", {"name": "note", "type": "string"}),
    8: avro_messages.envelope_schema("item", in_cell("id", "int"), in_cell("note", "string")),
}
"""Schemas by their ids."""


def in_avro(number: int, op: str, lsn: int = 7, **images: object) -> bytes:
    return wired(number, AVRO[number], avro_messages.change(op, "item", lsn, **images))


IN_AVRO: Final = wired(1, AVRO[1], {"id": 1})
TAKEN_IN_AVRO: Final[dict[str, tuple[bytes, bytes | None]]] = {
    "insert": (in_avro(2, "c", after={"id": 1, "note": "a"}), IN_AVRO),
    "update": (
        in_avro(2, "u", before={"id": 1, "note": "a"}, after={"id": 1, "note": None}),
        IN_AVRO,
    ),
    "delete": (in_avro(2, "d", before={"id": 1, "note": None}), IN_AVRO),
    "by another schema": (in_avro(3, "c", after={"id": 1, "note": "a", "price": 1.5}), IN_AVRO),
    "read": (in_avro(2, "r", after={"id": 1, "note": "a"}), IN_AVRO),
    "an object": (
        in_avro(4, "c", after={"id": 1, "size": {"scale": 1, "value": b"\x07"}}),
        IN_AVRO,
    ),
    "bytes": (in_avro(5, "c", after={"id": 1, "note": b"\\"}), IN_AVRO),
    "no key": (in_avro(2, "c", after={"id": 1, "note": "a"}), None),
    "a row alone": (wired(6, AVRO[6], {**ROW_ALONE, "__op": "u"}), IN_AVRO),
    "a row alone that is gone": (wired(6, AVRO[6], {**ROW_ALONE, "__deleted": "true"}), IN_AVRO),
    "a key that is no column": (in_avro(7, "c", after={"note": "a"}), IN_AVRO),
    "JSON": (PLAIN, KEY),
}
JUDGED_IN_AVRO: Final[dict[str, tuple[bytes | None, bytes | None]]] = {
    "a null": (None, IN_AVRO),
    "by a schema that is not known": (b"\0\0\0\0\x09" + IN_AVRO[5:], IN_AVRO),
    "a value that goes on": (in_avro(2, "c", after={"id": 1, "note": "a"}) + b"\0", IN_AVRO),
    "a key that is cut": (in_avro(2, "c", after={"id": 1, "note": "a"}), IN_AVRO[:-1]),
    "a key in JSON": (in_avro(2, "c", after={"id": 1, "note": "a"}), KEY),
    "a value that was not sent": (in_avro(2, "u", after={"id": 1, "note": UNSENT}), IN_AVRO),
    "one in bytes": (in_avro(5, "u", after={"id": 1, "note": UNSENT.encode()}), IN_AVRO),
    "no new image": (in_avro(2, "c"), IN_AVRO),
    "cells": (in_avro(8, "c", after={"id": in_cells(1), "note": in_cells("a")}), IN_AVRO),
    "an operation that is not known": (in_avro(2, "z", after={"id": 1, "note": "a"}), IN_AVRO),
    "the value is a key": (IN_AVRO, IN_AVRO),
}


def by_registry(extra: str = "kafka://b/shop.public.item") -> Feed:
    known = {str(number): registered(schema) for number, schema in AVRO.items()}
    schemas = Schemas("http://registry:8081", known)
    return Feed("laws", "debezium", extra, tables={"item": TABLE}, schemas=schemas)


def told(event: Event) -> tuple[object, ...]:
    """What a shape leaves to its records."""
    images = ([*event.before.values()], [*event.after.values()])
    place = (event.log_position, event.identity, event.segment)
    times = (event.event_at, event.extracted_at)
    return (*images, *place, *times, event.transaction, event.snapshot)


def shared(event: Event) -> tuple[object, ...]:
    """What it says of all of them."""
    own = {*Shaped._fields} - {"before", "after"}
    names = [one.name for one in fields(Event) if one.name not in own]
    return tuple(
        (*found,) if name in ("before", "after") else found
        for name, found in ((name, getattr(event, name)) for name in names)
    )


def check(feed: Feed, records: list[tuple[BronzeRecord, bool]]) -> None:
    source = FORMATS[feed.format]
    assert source.shapes is not None
    read, decode = source.shapes(feed), source.decoder(feed, {})
    of_shape: defaultdict[Shape, list[Event]] = defaultdict(list)
    for record, is_taken in records:
        try:
            said = read(record)
        except Exception:
            said = None
        assert (said is not None) == is_taken, (record.payload, record.key, record.headers)
        if said is not None:
            (event,) = decode(record)
            assert isinstance(event, Event)
            assert event.fault is None
            assert (tuple(event.before), tuple(event.after)) == (
                said.shape.before,
                said.shape.after,
            )
            assert told(event) == said[1:]
            of_shape[said.shape].append(event)
    for events in of_shape.values():
        assert all(shared(one) == shared(events[0]) for one in events)


@pytest.mark.parametrize("topics", ["shop.public.item", "shop.public.item,shop.transaction"])
def test_a_shape_says_what_a_message_of_a_topic_says(topics: str) -> None:
    check(Feed("laws", "debezium", f"kafka://b/{topics}", tables={"item": TABLE}), messages())


@pytest.mark.parametrize("as_texts", [False, True])
def test_a_shape_says_what_a_line_of_a_dump_says(as_texts: bool) -> None:
    check(Feed("laws", "debezium", "/landing", tables={"item": TABLE}), lines(messages(), as_texts))


def test_a_shape_says_what_a_message_in_avro_says() -> None:
    found: list[tuple[BronzeRecord, bool]] = []
    for some, taken in ((TAKEN_IN_AVRO, True), (JUDGED_IN_AVRO, False), (TAKEN_IN_AVRO, True)):
        found += [(message(*one, at), taken) for at, one in enumerate(some.values(), len(found))]
    # Headers that tell of the message what its bytes do not.
    plain = TAKEN_IN_AVRO["insert"]
    found += [(message(*plain, 90, name), taken) for name, taken in HEADERS.items()]
    check(by_registry(), found)


def test_a_shape_says_what_a_damaged_message_in_avro_says() -> None:
    rng, feed = Random(7), by_registry()
    source = FORMATS[feed.format]
    assert source.shapes is not None
    read, decode = source.shapes(feed), source.decoder(feed, {})
    taken = 0
    for at in range(3_000):
        value, key = rng.choice([*TAKEN_IN_AVRO.values()])
        octets = bytearray(value)
        for _ in range(rng.choice([1, 1, 3])):
            octets[rng.randrange(len(octets))] = rng.randrange(256)
        record = message(bytes(octets), key, at)
        try:
            said = read(record)
        except Exception:
            continue
        if said is not None:
            taken += 1
            (event,) = decode(record)
            assert isinstance(event, Event)
            assert (event.fault, told(event)) == (None, said[1:])
            images = (tuple(event.before), tuple(event.after))
            assert images == (said.shape.before, said.shape.after)
    assert taken > 300


def test_a_shape_says_what_a_record_of_a_container_says() -> None:
    changes = [
        avro_messages.change("u", "item", at, after={"id": at, "note": f"{at}"}) for at in range(9)
    ]
    stream = BytesIO()
    fastavro.writer(stream, fastavro.parse_schema(json.loads(json.dumps(AVRO[2]))), changes)
    feed = Feed("laws", "debezium", "/landing", tables={"item": TABLE})
    cut = split_files(stream.getvalue(), feed, "shop.public.item+0+0000000042.avro")
    place = ("w", "shop.public.item+0+0000000042.avro", "g")
    records = [
        BronzeRecord(*place, one.line, one.byte_offset, one.header, one.payload, None, 0)
        for one in cut
    ]
    assert len(records) == len(changes)
    check(feed, [(record, True) for record in records])


@pytest.mark.parametrize("mode", [None, *get_args(Unwrapped)])
def test_a_shape_says_what_a_row_without_an_envelope_says(mode: Unwrapped | None) -> None:
    feed = Feed("laws", "debezium", "kafka://b/t", tables={"item": TABLE}, unwrapped=mode)
    check(feed, rows_alone(mode))
    of_files = replace(feed, landing="/landing")
    for as_texts in (False, True):
        check(of_files, lines(rows_alone(mode), as_texts))
    named = "shop.public.item+0+0000000042.json"
    check(
        of_files,
        [
            (BronzeRecord("w", named, "g", 1, 0, header, value, None, 0), taken)
            for header in (None, '{"id":1}')
            for value, taken in (
                (bare(**ADDED), True),
                (bare_with_schema({**FLAT, **ADDED}), True),
                # Lines of a dump, which have no objects in them.
                (b'{"value":"a","key":"1"}', False),
                (b'{"id":1,"value":"a","__op":"u","__lsn":7}', True),
                (b'{"partition":0,"offset":1,"__op":"u","__deleted":"false"}', False),
                (b'{"data":"a","messageId":"1"}', False),
            )
        ],
    )
