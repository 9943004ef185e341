"""From a record of the stream or of an export to a statement, and on to an event.

A record of an export becomes an event at once. A record of the stream has to wait for the other events of its object:
where it stands in its commit follows from them (``commit_positions``), records that cannot be read included: what was
cut there is not known. Put here which way a record goes. Not here: reading what stands in a record (``events``,
``exports``), and what it does (``triples``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transforms.event import Event, Pending
from transforms.families import kafka_records
from transforms.families.kafka_message import KafkaMessage
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.dgraph import events, triples
from transforms.formats.dgraph.commit_positions import OF_EXPORT, commit_positions
from transforms.formats.dgraph.exports import documents, exported, rdf
from transforms.formats.dgraph.statement import Statement
from transforms.formats.dgraph.waiting import Waiting, awaited, waiting
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord
from transforms.source_format import Decode, Resolve


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """What a record of the feed means."""
    of_topic = feed.reads_topics
    types = {one.name: one.type for one in feed.predicates.values() if one.type}
    read_ts_of = exported.read_ts_of(feed)
    event_of = triples.events_of(feed)

    def decode(record: BronzeRecord) -> tuple[Event | Pending]:
        if rdf.is_rdf(record.object):
            statement = _line(record, read_ts_of(record.object))
            return (event_of(statement, OF_EXPORT),)
        message = kafka_records.message(record, feed)
        found, document = _read(record, message)
        if found is None and documents.is_document(document):
            statement = _document(document, types, read_ts_of(record.object))
            return (event_of(statement, OF_EXPORT),)
        statement = events.event_statement(document, message, of_topic=of_topic, found=found)
        return (_pending(statement, record, message),)

    return decode


def resolver(feed: Feed) -> Resolve:
    """What the events of one object mean."""
    event_of = triples.events_of(feed)

    def resolve(waiting_statements: Sequence[Waiting]) -> Iterator[Event]:
        for one, position in zip(
            waiting_statements, commit_positions(waiting_statements), strict=True
        ):
            yield event_of(awaited(one), position)

    return resolve


def _read(record: BronzeRecord, message: KafkaMessage) -> tuple[Fault | None, Mapping[str, object]]:
    """The JSON object in a record, and why it is none."""
    found = None if record.defect is None else Fault("damaged_record", shown(record.defect))
    if found is None and not message.is_utf8:
        found = Fault("invalid_utf8", "the record is not valid UTF-8")
    if found is None and (message.is_null or record.payload is None):
        found = Fault("missing_field", "the record has no value")
    try:
        document = message.read()
    except MalformedJson as why:
        return found or Fault("malformed_json", f"the record is no JSON object: {why}"), {}
    if type(document) is not dict:
        return found or Fault("malformed_json", "the record is no JSON object"), {}
    return found, document


def _line(record: BronzeRecord, read_ts: int | None) -> Statement:
    """What a line of RDF says."""
    if record.defect is not None:
        return exported.unreadable(read_ts, Fault("damaged_record", shown(record.defect)))
    try:
        line = (record.payload or b"").decode()
    except UnicodeDecodeError:
        fault = Fault("invalid_utf8", "the record is not valid UTF-8")
        return exported.unreadable(read_ts, fault)
    triple = rdf.triple(line)
    if triple is None:
        fault = Fault("malformed_rdf", "the line is no triple of an export")
        return exported.unreadable(read_ts, fault)
    return exported.statement(triple, read_ts)


def _document(
    document: Mapping[str, object], types: Mapping[str, str], read_ts: int | None
) -> Statement:
    """What a document of an export says."""
    triple = documents.triple(document, types)
    if triple is None:
        fault = Fault("malformed_json", "the document of an export holds not exactly one value")
        return exported.unreadable(read_ts, fault)
    return exported.statement(triple, read_ts)


def _pending(statement: Statement, record: BronzeRecord, message: KafkaMessage) -> Pending:
    """The statement with what belongs together: all of an object, or of a partition of a topic."""
    offset = message.offset
    at = record.byte_offset if offset is None else offset
    return Pending(
        (record.object, record.generation, message.topic, message.partition),
        (at, record.byte_offset),
        waiting(statement, at=at, has_offset=offset is not None),
    )
