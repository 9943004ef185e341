"""Arcion on Kafka: one record is one operation, or one row of a snapshot.

In its JSON CDC format, key and value are each a payload beside the schema that Kafka Connect's JSON converter adds. The
format has had four generations:

1. key and value in one object and numbered (``schema_1``, ``payload_1``, ``schema_2``, ``payload_2``), operations in
   words;
2. key and value apart;
3. numbers as texts, and the text ``default`` for tombstones and for keys that are missing;
4. numbers as numbers, ``{}`` for an image that there is none of, and null.

All four are read, in any mixture. ``before`` may hold no more than the key, and ``after`` no more than what changed
(Arcion's settings ``before-image-format`` and ``after-image-format``): a column that is absent is unchanged.

Messages in the other format, ``replication-format: NATIVE``, are brought to envelopes first.

Vendor: Arcion documentation, "JSON CDC format for Kafka", and "Native format" of its CDC formats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from transforms.event import Event
from transforms.families import arcion
from transforms.families.connect import envelopes, events, wire
from transforms.families.connect.envelopes import Envelope, EnvelopeReader, Vocabulary
from transforms.families.connect.events import LogEntry, Meaning
from transforms.families.connect.images import ImageReader
from transforms.families.connect.onboarding import proposal_of
from transforms.families.connect.shapes import EnvelopeShapes, Told
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.json_values import as_text, part
from transforms.onboarding.proposal import Mark, Proposal, Sampled
from transforms.record import BronzeRecord
from transforms.shape import ReadShape
from transforms.source_format import AVRO_FILES, JSON_FILES, Decode, SourceFormat, Surveyed

VOCABULARY: Final = Vocabulary(
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


# Messages in Arcion's other format, ``replication-format: NATIVE``, brought to envelopes. A change has tableName,
# opType, cursor (an object) and both images; an image that there is none of is null. A row of the snapshot is a bare
# object of columns, and nothing in it names its table: it is taken where its path is that of a table that the feed
# declares, and it has all of that table's columns. There is no schema: types are the feed's.


_NATIVE: Final = frozenset({"tableName", "opType", "cursor"})
_ENVELOPED: Final = frozenset({"op", "source", "before", "after", "payload"})


def as_envelope(
    document: Mapping[str, Any] | None, envelope: Envelope, *, tables: Mapping[str, frozenset[str]]
) -> Mapping[str, Any] | None:
    """The envelope of a NATIVE message; None for any other."""
    if document is None:
        return None
    if document.keys() >= _NATIVE:
        return _of_change(document)
    path_table = envelope.record.path_table
    columns = tables.get(path_table or "")
    is_row = columns is not None and document.keys() >= columns
    if not is_row or "payload_2" in document or not document.keys().isdisjoint(_ENVELOPED):
        return None
    source = {"table": path_table, "snapshot": "true"}
    return {"op": "read", "source": source, "after": document}


def _of_change(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The envelope of a change, with its own images; without a cursor it is of the snapshot."""
    table, cursor = document["tableName"], document["cursor"]
    namespace = part(table, "namespace")
    operation = as_text(document["opType"]) or ""
    of_cursor = arcion.cursor_fields(cursor)
    source = {
        "db": part(namespace, "catalog"),
        "schema": part(namespace, "schema"),
        "table": part(table, "name"),
        "snapshot": "true" if cursor is None else "false",
        "ts_ms": of_cursor.get("timestamp"),
        "file": of_cursor.get("log"),
        "pos": of_cursor.get("position"),
        "row": of_cursor.get("logSeqNum"),
    }
    head = {
        "op": arcion.OPERATIONS.get(operation.strip(" ").upper(), document["opType"]),
        "ts_ms": of_cursor.get("extractionTimestamp"),
        "source": source,
    }
    return {**document, **head}


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Arcion's NATIVE messages, its first generation, and envelopes with the connector's name in capitals."""
    payload = record.payload or b""
    if b'"payload_2"' in payload:
        return Mark("schema_1, payload_1, schema_2, payload_2 in one object")
    envelope = EnvelopeReader(feed, VOCABULARY, partial(as_envelope, tables={})).read(record)
    body = envelope.body
    if "tableName" in body:
        is_native = "exists" not in body and type(body.get("cursor")) is not str
        return Mark("tableName, opType and cursor, without exists flags") if is_native else None
    connector, op = envelope.source.text("connector"), body.get("op")
    if envelope.operation is None or type(body.get("source")) is not dict:
        return None
    if connector is not None and connector.isupper():
        return Mark(f"op, source, and the connector {connector} in capitals, as Arcion writes it")
    return Mark("op as a word, and source") if type(op) is str and len(op) > 1 else None


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that messages name."""
    return proposal_of(sample, EnvelopeReader(feed, VOCABULARY, partial(as_envelope, tables={})))


def decoder(feed: Feed, surveyed: Surveyed) -> Decode:
    """What a record of this feed means: one event per message."""
    images_of = ImageReader(feed, VOCABULARY, has_placeholders=False, decimals_may_be_plain=True)
    tables = {name: frozenset(table.source_columns) for name, table in feed.tables.items()}
    reader = EnvelopeReader(feed, VOCABULARY, partial(as_envelope, tables=tables))

    def decode(record: BronzeRecord) -> tuple[Event]:
        envelope = reader.read(record)
        envelope.is_snapshot = _is_snapshot(envelope)
        # A delete removes, an update may say no more than what changed; all else replaces the row.
        effect = {"delete": "remove", "update": "update"}.get(envelope.operation or "", "replace")
        meaning, images = Meaning(_log_entry(envelope), effect), images_of.read(envelope)
        return (events.event_of_envelope(envelope, images, meaning, VOCABULARY),)

    return decode


def shapes(feed: Feed) -> ReadShape:
    """A change of a row, or a row of a snapshot, in an envelope of its own; all else goes the long way."""
    images = ImageReader(feed, VOCABULARY, has_placeholders=False, decimals_may_be_plain=True)

    def tell(envelope: Envelope, has_objects: bool) -> Told | None:
        envelope.is_snapshot = _is_snapshot(envelope)
        entry = _log_entry(envelope)
        return None if isinstance(entry, Fault) else Told(entry)

    return EnvelopeShapes(feed, VOCABULARY, images, tell)


def _is_snapshot(envelope: Envelope) -> bool:
    if envelope.operation == "read":
        return True
    flag = (envelope.source.text("snapshot") or "").lower()
    return envelope.operation in ("insert", "replace") and flag == "true"


def _log_entry(envelope: Envelope) -> LogEntry | Fault:
    """Log file number, position and row; without a log, the offset in the topic.

    Rows of a snapshot stand before all changes of the stream.
    """
    log = envelope.source.log
    if envelope.is_snapshot:
        return events.entry_in_snapshot(envelope, log)
    return events.entry_in_topic(envelope) if log is None else events.entry_in_stream(log)


FORMAT = SourceFormat(
    name="arcion_kafka",
    files=(*JSON_FILES, *AVRO_FILES),
    split=envelopes.split_files,
    decoder=decoder,
    shapes=shapes,
    describes_tables=True,
    schema_ids=wire.schema_ids,
    reads_kafka=True,
    fields=("tableName", "opType", "cursor", "before", "after"),
    recognise=recognise,
    propose=propose,
    unknowable=(
        "whether a transaction is whole: the messages carry no commits, so that gold may show a part of one.",
        "when a change was made, to the hour: source.ts_ms is the source's local time, written as if it were UTC.",
    ),
)
