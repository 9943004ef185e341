"""From a record to a statement, and on to events of the one table of triples: sets, deletes, drops, warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from transforms.change import EPOCH, STREAM
from transforms.column_types.registry import UNSIGNED
from transforms.event import Event, EventWarning, Image, Pending, Undeclared
from transforms.families import kafka_records
from transforms.families.kafka_records import KafkaMessage
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.dgraph import exports, statements
from transforms.formats.dgraph.commit_positions import (
    OF_EXPORT,
    CommitPosition,
    Waiting,
    awaited,
    commit_positions,
    waiting,
)
from transforms.formats.dgraph.exports import RESERVED
from transforms.formats.dgraph.statements import DROP, EXPORT, OPERATIONS, Statement
from transforms.record import BronzeRecord
from transforms.source_format import Decode, Resolve, Surveyed

TRIPLES: Final = "triples"

COLUMNS: Final = {
    "namespace": UNSIGNED,
    "uid": UNSIGNED,
    "predicate": "string",
    "value": "string",
    "value_type": "string",
    "_weir_member": "string",
}
"""``_weir_member``: of a list predicate the value once more, so that each is a row; empty where there is one value."""

KEY: Final = ("namespace", "uid", "predicate", "_weir_member")


WARNINGS = (
    EventWarning(
        "no_namespace",
        "events_tell_their_namespace",
        "Every event has its namespace.",
        "A Kafka record has the namespace as its key, a line of the file sink under key. Events without one were taken"
        " for namespace 0; where there are others, keep the keys of the records.",
    ),
    EventWarning(
        "undeclared_predicate",
        "predicates_are_declared",
        "Every predicate that events mention is declared.",
        "Only the declaration says whether a predicate is a list, to which a set adds, or a single value, which a set"
        " replaces. Edges were taken for a list and other values for single ones; declare the predicate in the feed"
        " file.",
        Undeclared(
            "predicate",
            "predicates",
            # A drop is the same for lists and single values.
            tuple(sorted({name for (kind, _), name in OPERATIONS.items() if kind != DROP})),
        ),
    ),
    EventWarning(
        "ambiguous_language",
        "a_commit_sets_a_single_value_once",
        "No commit sets a single value twice.",
        "Values in several languages are sets of one predicate in one commit, and nothing tells them apart. The last of"
        " them counts; if the predicate has languages, its value in gold may be that of any of them.",
    ),
    EventWarning(
        "drop_behind",
        "drops_stand_before_what_is_newer",
        "No drop arrived after events that are newer than it.",
        "A drop has the timestamp at which it began, and counts by it: what has a higher one stays. After a restart"
        " Dgraph sends old drops again, and all is well; else commits ended while the drop ran, and only an export"
        " tells which of their values it removed.",
    ),
    EventWarning(
        "value_lost",
        "values_are_in_the_stream",
        "Every value is in the stream.",
        "Dgraph writes geo and bigfloat values as {}: the triple is in gold, its value is null; an export of Dgraph has"
        " the value.",
    ),
    EventWarning(
        "password_masked",
        "passwords_are_not_kept",
        "No event is about a password.",
        "Dgraph writes a password as ****. Nothing was stored: that the password was set is all that the event tells.",
    ),
    EventWarning(
        "facets_left_out",
        "exported_values_have_no_facets",
        "No exported value has facets.",
        "Facets are in exports and never in the stream: the triple is in gold without them.",
    ),
)


# What a statement says of rows of ``triples``: images, the scopes of drops, and what makes two deliveries one event.


def scope_of(statement: Statement, operation: str | None) -> Image:
    """What a drop, or a delete of all values of a list, is for."""
    if operation == "drop_all":
        return {}
    if operation == "drop_data":
        return {"namespace": statement.namespace}
    if operation == "drop_predicate":
        return {"namespace": statement.namespace, "predicate": statement.attr}
    return {"namespace": statement.namespace, "uid": statement.uid, "predicate": statement.attr}


def image_of(statement: Statement, *, in_list: bool, has_value: bool) -> Image:
    """The key of the triple, and the value where it counts; a value that is lost is null."""
    value = None if statement.is_lost else statement.value
    image = {
        "namespace": statement.namespace,
        "uid": statement.uid,
        "predicate": statement.attr,
        "_weir_member": value or "" if in_list else "",
    }
    if has_value:
        image["value"] = value
        image["value_type"] = statement.value_type
    return image


def identity_of(statement: Statement, position: CommitPosition) -> tuple[str | None, ...]:
    """Commit, namespace, the event, and the how-manyth of its kind it is in the commit."""
    return (
        None if statement.commit_ts is None else str(statement.commit_ts),
        statement.namespace,
        statement.kind,
        statement.op,
        statement.uid,
        statement.attr,
        statement.value,
        statement.value_type,
        None if position.copy is None else str(position.copy),
    )


# Vendor: dgraph-io/dgraph v25.3.8, posting/index.go (addMutationHelper), worker/cdc.go (toCDCEvent).


def events_of_statements(feed: Feed) -> Callable[[Statement, CommitPosition], Event]:
    """The function that says what a statement at its position does."""
    lists = {one.name: one.list for one in feed.predicates.values()}

    def event(statement: Statement, position: CommitPosition) -> Event:
        listed = None if statement.attr is None else lists.get(statement.attr)
        return _event(statement, position, listed)

    return event


def _event(statement: Statement, position: CommitPosition, listed: bool | None) -> Event:
    """The event; ``listed``: whether the predicate is declared as a list, None where it is not declared."""
    operation = OPERATIONS.get((statement.kind or "", statement.op or ""))
    fault = statement.fault or _fault(statement, operation)
    is_noted, is_star, in_list = _becomes_note(statement, operation), statement.is_star, listed
    if listed is None and not is_star:
        # Dgraph makes a predicate that its schema lacks a list for edges, and a single value for all else.
        in_list = statement.value_type == "uid"
    effect = "remove"
    if is_noted:
        effect = "note"
    elif operation in ("set", "read"):
        effect = "replace"
    elif operation == "del" and not is_star and not in_list:
        effect = "remove_if"
    before: Image = {}
    after: Image = {}
    scope: Image | None = None
    warnings: tuple[str, ...] = ()
    if fault is None:
        warnings = _warnings(statement, position, operation, listed, is_noted=is_noted)
        if statement.kind == DROP or (is_star and in_list is not False):
            scope = None if is_noted else scope_of(statement, operation)
        elif effect == "replace":
            after = image_of(statement, in_list=bool(in_list), has_value=True)
        elif not is_noted:
            before = image_of(statement, in_list=bool(in_list), has_value=effect == "remove_if")
    return Event(
        operation=operation,
        effect=effect,
        name=TRIPLES,
        before=before,
        after=after,
        scope=scope,
        log_position=None
        if statement.commit_ts is None
        else (EPOCH, STREAM, statement.commit_ts, *position.within),
        # Deliveries may differ in the position within the commit.
        dedup_prefix=3,
        identity=identity_of(statement, position),
        extracted_at=statement.sent_at,
        warnings=warnings,
        fault=fault,
    )


def _fault(statement: Statement, operation: str | None) -> Fault | None:
    if operation is None:
        return Fault(
            "unknown_operation",
            f"{shown(statement.kind)} {shown(statement.op)} is not known; known: mutation set, del, ovr;"
            " drop all, data, predicate, attribute, type",
        )
    if operation == "drop_predicate" and statement.attr is None:
        return Fault("missing_field", "the drop of a predicate lacks event.pred")
    if operation == "del" and statement.is_lost:
        return Fault(
            "value_lost",
            f"a delete of one value of {shown(statement.attr)}, which is a {statement.value_type}: Dgraph writes it as"
            " {}, so that nothing tells which value, or whether it was there",
        )
    return None


def _becomes_note(statement: Statement, operation: str | None) -> bool:
    """Whether the statement becomes a note, because it changes no triple.

    So do a dropped type, a masked password, and, in an export, one of Dgraph's own predicates.
    """
    if operation == "drop_type" or statement.value_type == "password":
        return True
    return (
        statement.kind == EXPORT
        and statement.attr is not None
        and statement.attr.startswith(RESERVED)
    )


def _warnings(
    statement: Statement,
    position: CommitPosition,
    operation: str | None,
    listed: bool | None,
    *,
    is_noted: bool,
) -> tuple[str, ...]:
    found = []
    is_triple = statement.kind != DROP
    is_set = operation in ("set", "read")
    if not statement.has_key and operation != "drop_all":
        found.append("no_namespace")
    if listed is None and is_triple and not is_noted:
        found.append("undeclared_predicate")
    if (
        position.sets > 1
        and is_set
        and not listed
        and statement.value_type in ("string", "default")
    ):
        found.append("ambiguous_language")
    if position.is_behind and operation in ("drop_all", "drop_data", "drop_predicate"):
        found.append("drop_behind")
    if is_set and statement.is_lost:
        found.append("value_lost")
    if is_triple and statement.value_type == "password":
        found.append("password_masked")
    if statement.has_facets and not is_noted:
        found.append("facets_left_out")
    return tuple(found)


# A record of an export becomes an event at once. A record of the stream waits for the other events of its object, from
# which its position follows, records that cannot be read included: what was cut there is not known.


def decoder(feed: Feed, surveyed: Surveyed) -> Decode:
    """What a record of the feed means."""
    of_topic = feed.reads_topics
    types = {one.name: one.type for one in feed.predicates.values() if one.type}
    read_ts_of = exports.read_ts_of(feed)
    event_of = events_of_statements(feed)

    def decode(record: BronzeRecord) -> tuple[Event | Pending]:
        if exports.is_rdf(record.object):
            statement = _line(record, read_ts_of(record.object))
            return (event_of(statement, OF_EXPORT),)
        message = kafka_records.kafka_message(record, feed)
        document, found = message.object()
        if found is None and exports.is_document(document):
            statement = _document(document, types, read_ts_of(record.object))
            return (event_of(statement, OF_EXPORT),)
        statement = statements.event_statement(document, message, of_topic=of_topic, found=found)
        return (_pending(statement, record, message),)

    return decode


def resolver(feed: Feed) -> Resolve:
    """What the events of one object mean."""
    event_of = events_of_statements(feed)

    def resolve(waiting_statements: Sequence[Waiting]) -> Iterator[Event]:
        for one, position in zip(
            waiting_statements, commit_positions(waiting_statements), strict=True
        ):
            yield event_of(awaited(one), position)

    return resolve


def _line(record: BronzeRecord, read_ts: int | None) -> Statement:
    message = kafka_records.bare_message(record)
    triple = None if message.fault is not None else exports.triple_of_line(message.text or "")
    if triple is None:
        fault = Fault("malformed_rdf", "the line is no triple of an export")
        return exports.unreadable_export(read_ts, message.fault or fault)
    return exports.export_statement(triple, read_ts)


def _document(
    document: Mapping[str, object], types: Mapping[str, str], read_ts: int | None
) -> Statement:
    triple = exports.triple_of_document(document, types)
    if triple is None:
        fault = Fault("malformed_json", "the document of an export holds not exactly one value")
        return exports.unreadable_export(read_ts, fault)
    return exports.export_statement(triple, read_ts)


def _pending(statement: Statement, record: BronzeRecord, message: KafkaMessage) -> Pending:
    """The statement with what belongs together: all of an object, or of a partition of a topic."""
    offset = message.offset
    at = record.byte_offset if offset is None else offset
    return Pending(
        (record.object, record.generation, message.topic, message.partition),
        (at, record.byte_offset),
        waiting(statement, at=at, has_offset=offset is not None),
    )
