"""From a record to its events: the message in it, and what follows from that.

Put here how the steps follow each other. Not here: each of the steps, which have modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from transforms.event import Event
from transforms.families import kafka_records
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.tigergraph import consequences, contents, fields, message_faults
from transforms.formats.tigergraph.consequences import Effect
from transforms.formats.tigergraph.contents import Mentions
from transforms.formats.tigergraph.declarations import Declared, declared
from transforms.formats.tigergraph.message import DELETE_ALL, INSERTS, Message
from transforms.formats.tigergraph.reach import Reach
from transforms.formats.tigergraph.reached_graphs import in_graphs, is_unknown, own_graph
from transforms.formats.tigergraph.warnings import (
    DELETE_ALL_OF_OTHERS,
    GRAPH_NOT_DECLARED,
    KEY_NOT_SPLIT,
    REVERSE_NOT_DECLARED,
)
from transforms.json_values import MalformedJson
from transforms.record import BronzeRecord

_NONE_MENTIONED: Final = Mentions({}, {})


def decoder(
    feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]
) -> Callable[[BronzeRecord], list[Event]]:
    """What reads the feed's records: an event for each message, and one for each change that follows from it."""
    known = declared(feed)

    def decode(record: BronzeRecord) -> list[Event]:
        document, fault = _document(record, feed)
        message = fields.read_message(document, known)
        reach = consequences.reached(message, known)
        fault = fault or message_faults.first_fault(message, reach)
        found = _NONE_MENTIONED
        if fault is None and message.action in INSERTS:
            read = contents.mentions(message.content, message.attributes)
            if isinstance(read, Fault):
                fault = read
            else:
                found = read
        if fault is not None:
            return [_refused(message, fault, known)]
        return _events(message, found, reach, known)

    return decode


def _document(record: BronzeRecord, feed: Feed) -> tuple[dict[str, Any], Fault | None]:
    """The JSON object in the record; an empty one where there is none, and why it cannot be taken."""
    kafka = kafka_records.message(record, feed)
    document: Any = {}
    fault = None
    if kafka.is_null:
        fault = Fault("empty_message", "the Kafka record has no value")
    elif not kafka.is_utf8:
        fault = Fault("invalid_utf8", "the message is not valid UTF-8")
    else:
        try:
            document = kafka.read()
        except MalformedJson as why:
            fault = Fault("malformed_json", shown(why))
        if type(document) is not dict:
            document, fault = {}, Fault("malformed_json", "the document is no JSON object")
    if record.defect is not None:
        fault = Fault("damaged_record", shown(record.defect))
    return document, fault


def _refused(message: Message, fault: Fault, known: Declared) -> Event:
    """The message that cannot be taken, with what could be read of it."""
    event = _event(message, Effect(message.table, "note"), own_graph(message, known))
    event.fault = fault
    return event


def _events(
    message: Message, found: Mentions, reach: Sequence[Reach], known: Declared
) -> list[Event]:
    """A sound message, and what follows from it; what a restored backup holds already changes nothing."""
    keyed = message.joined_values
    last = known.baseline.get(message.stream or "")
    placed: list[tuple[Effect, str | None]]
    if last is not None and message.tid is not None and message.tid <= last:
        placed = [(Effect(None, "note"), None)]
    else:
        placed = in_graphs(consequences.effects(message, found, keyed, reach), message, known)
    words = []
    if message.action in INSERTS and None in keyed.values():
        words.append(KEY_NOT_SPLIT.word)
    words += _words(message, reach, known)
    events = []
    for one, graph in placed:
        event = _event(message, one, graph)
        if one.derived is None:
            event.warnings = tuple(words)
        events.append(event)
    return events


def _words(message: Message, reach: Sequence[Reach], known: Declared) -> list[str]:
    """What is worth knowing of a message that is taken all the same."""
    words = []
    edge = message.edge
    is_restricted = edge is not None and edge.is_restricted
    if message.action == DELETE_ALL and (is_restricted or message.has_reverse):
        words.append(DELETE_ALL_OF_OTHERS.word)
    if is_unknown(message, reach, known):
        words.append(GRAPH_NOT_DECLARED.word)
    if message.has_reverse and edge is not None and not edge.has_mirror:
        words.append(REVERSE_NOT_DECLARED.word)
    return words


def _event(message: Message, one: Effect, graph: str | None) -> Event:
    return Event(
        operation=message.action,
        effect=one.effect,
        name=one.table,
        schema=graph,
        before=one.before or {},
        after=one.after or {},
        attribute_ops=one.operations or {},
        scope=one.scope,
        stream=message.stream,
        derived=one.derived,
        log_position=message.log_position,
        dedup_prefix=0 if message.log_position is None else len(message.log_position),
        identity=message.identity,
        event_at=message.event_at,
    )
