"""Responses of the CDC SDK as a client writes them down, in Go's encoding/json or as protojson, and their events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from transforms.event import Event
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
