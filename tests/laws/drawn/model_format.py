"""A source format of the tests' own: its records spell the change model out, so that all of it can be drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from transforms.event import Event, StreamSchema, Transaction
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import DEFAULT_LIMITS, BronzeRecord, Limits, Record
from transforms.source_format import Decode, SourceFormat


def split(
    data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """One JSON document a line."""
    offset = 0
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        yield Record(number, offset, line.rstrip(b"\n"))
        offset += len(line)


def decoder(feed: Feed, surveyed: object) -> Decode:
    """One event per record."""

    def decode(record: BronzeRecord) -> list[Event]:
        said = json.loads(record.payload or b"")
        described, transaction = said.get("told"), said.get("transaction")
        at = said.get("event_at_ms")
        moment = None if at is None else at * 1000
        # A table of a schema is ``table@schema``.
        name, _, schema = (said.get("table") or "").partition("@")
        event = Event(
            operation=said["operation"],
            effect=said["effect"],
            name=name or None,
            schema=schema or None,
            before=said.get("before") or {},
            after=said.get("after") or {},
            attribute_ops=said.get("attribute_ops") or {},
            scope=said.get("scope"),
            stream=said.get("stream"),
            transaction=transaction and Transaction(**transaction),
            derived=said.get("derived"),
            log_position=tuple(said["log_position"]),
            identity=tuple(said["identity"]),
            dedup_prefix=said["dedup_prefix"],
            event_at=moment,
            extracted_at=moment,
            stream_schema=described and schema_of(described),
        )
        return [event]

    return decode


def schema_of(description: dict[str, Any]) -> StreamSchema:
    """The description of a table that a record gives."""
    key = None if description["key"] is None else tuple(description["key"])
    return StreamSchema(key, tuple((one["name"], one["type"]) for one in description["columns"]))


FORMAT = SourceFormat(
    name="model", files=("**/*.jsonl",), split=split, decoder=decoder, transactional=True
)


TELLING = replace(FORMAT, name="telling", describes_tables=True)
"""The same, of a source that describes its tables."""


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let feeds have the formats, for one test."""
    for one in (FORMAT, TELLING):
        monkeypatch.setitem(cast("dict[str, SourceFormat]", FORMATS), one.name, one)
