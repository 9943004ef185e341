"""By which marks a record is known to be Arcion's for Kafka, and what a feed of such records should declare.

Put here what tells Arcion's messages from others. Not here: what they mean (the format itself), and what all messages
of Kafka Connect say of their tables (``families/connect/proposing``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from transforms.families.connect.envelope_reader import EnvelopeReader
from transforms.families.connect.proposing import proposal_of
from transforms.families.kafka_records import message
from transforms.feed.feed import Feed
from transforms.formats.arcion_kafka.native import as_envelope
from transforms.formats.arcion_kafka.vocabulary import VOCABULARY
from transforms.proposing.entries import Mark, Proposal, Sampled
from transforms.record import BronzeRecord


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Arcion's NATIVE messages, its first generation, and envelopes with the connector's name in capitals."""
    payload = record.payload or b""
    if b'"payload_2"' in payload:
        return Mark("schema_1, payload_1, schema_2, payload_2 in one object")
    reader = EnvelopeReader(VOCABULARY, partial(as_envelope, tables={}))
    envelope = reader.read(record, message(record, feed))
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
    return proposal_of(feed, sample, EnvelopeReader(VOCABULARY, partial(as_envelope, tables={})))
