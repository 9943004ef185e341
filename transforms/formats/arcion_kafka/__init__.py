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

Messages in the other format, ``replication-format: NATIVE``, are brought to envelopes first (``native``). The rest is
what the Debezium family shares (``transforms/families/connect``).

Vendor: Arcion documentation, "JSON CDC format for Kafka", and "Native format" of its CDC formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from transforms.event import Event
from transforms.families.connect import events, files, log_entries
from transforms.families.connect.envelope_reader import EnvelopeReader
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.events import Meaning
from transforms.families.connect.images import ImageReader
from transforms.families.connect.log_entries import LogEntry
from transforms.families.kafka_records import message
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.arcion_kafka import proposing
from transforms.formats.arcion_kafka.native import as_envelope
from transforms.formats.arcion_kafka.vocabulary import VOCABULARY
from transforms.record import BronzeRecord
from transforms.source_format import Decode, SourceFormat

_EFFECTS: Final = {"delete": "remove", "update": "update"}
"""A delete removes, an update may say no more than what changed; all else replaces the row."""


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """What a record of this feed means: one event per message."""
    images_of = ImageReader(feed, VOCABULARY, has_placeholders=False, decimals_may_be_plain=True)
    tables = {name: frozenset(table.source_columns) for name, table in feed.tables.items()}
    reader = EnvelopeReader(VOCABULARY, partial(as_envelope, tables=tables))

    def decode(record: BronzeRecord) -> tuple[Event]:
        envelope = reader.read(record, message(record, feed))
        # What says nothing of any row: a tombstone, and a key that stands alone in a file.
        envelope.note = (
            "tombstone" if envelope.is_tombstone else "key" if envelope.is_lone_key else None
        )
        envelope.is_snapshot = _is_snapshot(envelope)
        effect = _EFFECTS.get(envelope.operation or "", "replace")
        return (
            events.event(
                envelope,
                images_of.read(envelope),
                Meaning(_log_entry(envelope), effect),
                VOCABULARY,
            ),
        )

    return decode


def _is_snapshot(envelope: Envelope) -> bool:
    """True for a row that the snapshot read."""
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
        return log_entries.in_snapshot(envelope, log)
    return log_entries.in_topic(envelope) if log is None else log_entries.in_stream(log)


FORMAT = SourceFormat(
    name="arcion_kafka",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=files.split,
    decoder=decoder,
    describes_tables=True,
    reads_kafka=True,
    recognise=proposing.recognise,
    propose=proposing.propose,
    unknowable=(
        "whether a transaction is whole: the messages carry no commits, so that gold may show a part of one.",
        "when a change was made, to the hour: source.ts_ms is the source's local time, written as if it were UTC.",
    ),
)
