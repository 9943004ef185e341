"""By which marks a record is known to be Debezium's, and what a feed of such records should declare."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.families.connect.envelopes import EnvelopeReader
from transforms.families.connect.onboarding import proposal_of
from transforms.families.kafka_records import kafka_message
from transforms.feed.feed import Feed
from transforms.formats.debezium.decode import VOCABULARY
from transforms.onboarding.proposal import Mark, Proposal, Sampled
from transforms.record import BronzeRecord


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Envelopes with op and source, and the records of a transaction topic and of a schema history.

    Other tools write such envelopes, too: Arcion has its connector's name in capitals, and numbers key and value.
    """
    if b'"payload_2"' in (record.payload or b""):
        return None
    envelope = EnvelopeReader(VOCABULARY).read(record, kafka_message(record, feed))
    body, connector = envelope.body, envelope.source.text("connector")
    if connector is not None and connector.isupper():
        return None
    if body.get("status") in ("BEGIN", "END") and "event_count" in body:
        return Mark("status, id and event_count of a transaction topic")
    if type(body.get("source")) is not dict:
        return None
    if any(name in body for name in ("ddl", "tableChanges", "historyRecord")):
        return Mark("source and ddl of a schema change topic")
    if envelope.operation is None:
        return None
    return Mark(f"op, source{f', and the connector {connector}' if connector else ''}")


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that envelopes name."""
    return proposal_of(feed, sample, EnvelopeReader(VOCABULARY))
