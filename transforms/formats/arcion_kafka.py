"""Arcion on Kafka, JSON CDC: one message per operation, key and value each with Connect's schema and a payload.

The format changed four times. One object with key and value numbered (``schema_1``, ``payload_1``, ``schema_2``,
``payload_2``) and operations in words; then key and value apart; then numbers as texts, tombstones and missing keys as
the text ``default``; then numbers, ``{}`` for an image that there is none of, and null. All are read, in any mixture.
``before`` may hold no more than the key and ``after`` no more than what changed (``before-image-format``,
``after-image-format``): a column that is absent is unchanged.

Messages of the other format for Kafka, ``replication-format: NATIVE``, are brought to envelopes first. A change has
tableName, opType, cursor (an object) and both images, null for one that there is none of. A row of the snapshot is a
bare object of columns, and nothing in it names its table: it is taken where its path is that of a table that the feed
declares, and it has all of its columns. Types are the feed's: there is no schema.

Vendor: Arcion documentation, "JSON CDC format for Kafka", and "Native format" of its CDC formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from transforms.event import Event
from transforms.families.arcion import cursors
from transforms.families.connect import events, files, places
from transforms.families.connect.envelope_reader import EnvelopeReader
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.events import Meaning
from transforms.families.connect.images import ImageReader
from transforms.families.connect.places import Place
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_records import message
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.json_values import as_text
from transforms.record import BronzeRecord
from transforms.source_format import Decode, SourceFormat

WORDS: Final = Vocabulary(
    operations={
        "r": "read",
        "c": "insert",
        "u": "update",
        "d": "delete",
        "read": "read",
        "insert": "insert",
        "create": "insert",
        "update": "update",
        "delete": "delete",
        "replace": "replace",
    },
    nothing=("null", "default", "{}"),
)

_NATIVE_OPERATIONS: Final = {"i": "insert", "u": "update", "d": "delete", "r": "replace"}
_NATIVE: Final = frozenset({"tableName", "opType", "cursor"})
_ENVELOPED: Final = frozenset({"op", "source", "before", "after", "payload"})
_EFFECTS: Final = {"delete": "remove", "update": "merge"}
"""A delete removes, an update may say no more than what changed; all else puts a whole row."""


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """What a record of this feed means: one event per message."""
    images_of = ImageReader(feed, WORDS, has_stand_ins=False, numbers_are_texts=True)
    tables = {name: frozenset(table.columns) for name, table in feed.tables.items()}
    reader = EnvelopeReader(WORDS, partial(_as_envelope, tables=tables))

    def decode(record: BronzeRecord) -> tuple[Event]:
        said = reader.read(record, message(record, feed))
        # What says nothing of any row: a tombstone, and a key that stands alone in a file.
        said.note = "tombstone" if said.is_tombstone else "key" if said.is_lone_key else None
        said.is_snapshot = _is_snapshot(said)
        effect = _EFFECTS.get(said.operation or "", "put")
        return (events.event(said, images_of.read(said), Meaning(_place(said), effect), WORDS),)

    return decode


def _is_snapshot(said: Envelope) -> bool:
    """True for a row that the snapshot read."""
    if said.operation == "read":
        return True
    flag = (said.source.text("snapshot") or "").lower()
    return said.operation in ("insert", "replace") and flag == "true"


def _place(said: Envelope) -> Place | Fault:
    """Log file number, position and row; where there is no log, the place in the topic. A snapshot stands before."""
    log = said.source.log
    if said.is_snapshot:
        return places.in_snapshot(said, log)
    return places.in_topic(said) if log is None else places.in_stream(log)


def _as_envelope(
    document: Mapping[str, Any], record: BronzeRecord, *, tables: Mapping[str, frozenset[str]]
) -> Mapping[str, Any] | None:
    """The envelope of a NATIVE message; None for any other."""
    if document.keys() >= _NATIVE:
        return _of_change(document)
    columns = tables.get(record.path_table or "")
    is_row = columns is not None and document.keys() >= columns
    if not is_row or "payload_2" in document or not document.keys().isdisjoint(_ENVELOPED):
        return None
    source = {"table": record.path_table, "snapshot": "true"}
    return {"op": "read", "source": source, "after": document}


def _of_change(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The envelope of a change, with its own images; without a cursor it is of the snapshot."""
    table = document["tableName"]
    table = table if type(table) is dict else {}
    namespace = table.get("namespace")
    namespace = namespace if type(namespace) is dict else {}
    operation = as_text(document["opType"]) or ""
    cursor = _cursor(document["cursor"])
    source = {
        "db": namespace.get("catalog"),
        "schema": namespace.get("schema"),
        "table": table.get("name"),
        "snapshot": "true" if cursor is None else "false",
        **{said: (cursor or {}).get(name) for said, name in _OF_CURSOR.items()},
    }
    head = {
        "op": _NATIVE_OPERATIONS.get(operation.strip(" ").lower(), document["opType"]),
        "ts_ms": (cursor or {}).get("extractionTimestamp"),
        "source": source,
    }
    return {**document, **head}


_OF_CURSOR: Final = {
    "ts_ms": "timestamp",
    "file": "log",
    "pos": "position",
    "row": "logSeqNum",
}


def _cursor(cursor: Any) -> Mapping[str, Any] | None:
    """The cursor's fields under their mended names; None for a null cursor. It may be JSON within a text.

    It has no fields where it is no object, or two names are one after mending: neither can be trusted then.
    """
    if type(cursor) is str:
        return cursors.fields(cursor)
    if type(cursor) is not dict:
        return None if cursor is None else {}
    fields = {cursors.mended(name): value for name, value in cursor.items()}
    return fields if len(fields) == len(cursor) else {}


FORMAT = SourceFormat(
    name="arcion_kafka",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=files.split,
    decoder=decoder,
    tells_tables=True,
    reads_kafka=True,
    unknowable=(
        "whether a transaction is whole: the messages carry no commits, so that gold may show a part of one.",
        "when a change was made, to the hour: source.ts_ms is the source's local time, written as if it were UTC.",
    ),
)
