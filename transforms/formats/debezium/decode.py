"""From a record to its event: what the message says, what it does to the row, and what is worth a warning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from transforms.cuts.log_spelling import SourceLog, has_one_order
from transforms.event import Event, EventWarning, SnapshotRow, Transaction
from transforms.families.connect import events, wire
from transforms.families.connect.envelopes import TOMBSTONE, Envelope, EnvelopeReader, Vocabulary
from transforms.families.connect.events import Meaning
from transforms.families.connect.images import ImageReader, Images
from transforms.families.connect.onboarding import proposal_of
from transforms.families.connect.shapes import EnvelopeShapes, Told
from transforms.families.whole_numbers import whole
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.feed.topics import has_transactions
from transforms.formats.debezium.cells import EXPIRES, may_be_in_cells, scope_of, unwrap_cells
from transforms.formats.debezium.documents import Documents
from transforms.formats.debezium.log_positions import (
    Standing,
    has_no_log_position,
    is_blocking,
    log_entry_of,
    snapshot_row_of,
    standing_of,
    without_point_of,
)
from transforms.formats.debezium.other_envelopes import Adapter
from transforms.json_values import as_text, part
from transforms.onboarding.proposal import Entry, Mark, Proposal, Sampled, records_in
from transforms.record import BronzeRecord
from transforms.shape import ReadShape
from transforms.source_format import Decode, Surveyed

UNAVAILABLE = EventWarning(
    "unavailable_value",
    "new_rows_are_sent_whole",
    "An event that makes a row has all of its values.",
    "Postgres did not log a large value that did not change when the row's key did: the column is null. Set REPLICA"
    " IDENTITY FULL on the table, or take a new snapshot of it.",
)
NOT_AWAITED = EventWarning(
    "commit_not_awaited",
    "transactions_are_awaited",
    "Changes that are part of a transaction show when it is committed.",
    "The feed reads no transaction topic, so these changes count as they come: add <prefix>.transaction to its topics.",
)
TEXTS_FOR_BYTES = EventWarning(
    "text_for_bytes",
    "bytes_say_how_they_are_written",
    "A column of bytes is sent as bytes, or as a text of which the schema says how it is written.",
    "The schema says that the column is a text, as with the connector's `binary.handling.mode` hex, base64 or"
    " base64-url-safe, and the feed file declares it as binary: gold has the bytes of the text. Say the mode in the"
    " feed file, as in `encoded: {<column>: base64-url-safe}`, set it to bytes, or declare the column as string.",
)
NO_LOG_POSITION = EventWarning(
    "no_log_position",
    "changes_have_a_log_position",
    "A change says where it stands in its source's log.",
    "These changes say file '' and pos 0. They stand as they do in their topic, before all"
    " that have a log position; if those are of the same table, take a new snapshot of it.",
)
BLOCKING_WITHOUT_KEY = EventWarning(
    "blocking_snapshot_without_key",
    "tables_without_key_have_no_blocking_snapshot",
    "No blocking snapshot was taken of a table without a key.",
    "Such a snapshot says the point of its signal, and is read later: what changed in between comes again, and counts"
    " twice where no key tells the rows apart. Give the table a key, or take an initial snapshot.",
)
COUNTED_BY_OFFSET = EventWarning(
    "counted_by_offset",
    "rows_without_key_count_once",
    "A change of a table without a key says where it stands in its source's log.",
    "Nothing but the record's offset tells such a change from an equal one, as with MariaDB from 11.4 on: what a"
    " connector sends again, after its worker was killed, counts twice. Give the table a key, or take an initial"
    " snapshot after each restart.",
)
DELETES_UNKNOWN = EventWarning(
    "deletes_unknown",
    "unwrapped_rows_say_deletes",
    "It is known how rows that were taken out of their envelopes tell that one was deleted.",
    "These rows say neither `__deleted` nor, in a header, `__op`. If the transform ExtractNewRecordState drops deletes,"
    " gold keeps rows that the source has deleted. Say in the feed file what its `delete.tombstone.handling.mode` is,"
    " as in `unwrapped: tombstone` (a null deletes the row of its key), or set that to `rewrite` and take a new"
    " snapshot.",
)


# Tables that were dropped. A record of the schema change topic has the statement (``ddl``), where it stands in the log,
# and what it did to each table (``tableChanges``). Of a table that is dropped no row sends an event of its own. The
# records that a snapshot writes, to make the tables anew, drop nothing.
# Vendor: Debezium documentation, connector for MySQL, "Schema change topic" (``tableChanges``: CREATE, ALTER, DROP).


_QUOTED: Final = re.compile(r'"((?:[^"]|"")*)"')
_MOST_PARTS: Final = 3


TableName: TypeAlias = tuple[str | None, str | None, str]
"""Catalog, schema and name, as a schema change has them."""


def dropped_tables(envelope: Envelope) -> list[TableName]:
    """The tables that the statement of a schema change has dropped."""
    flag = (envelope.source.text("snapshot") or "false").lower()
    changes = envelope.body.get("tableChanges")
    if flag != "false" or type(changes) is not list:
        return []
    drops = (one for one in changes if part(one, "type") == "DROP")
    return [name for one in drops if (name := _name_of(one)) is not None]


def _name_of(change: dict[str, Any]) -> TableName | None:
    """The table of an id such as ``"shop"."orders"``; a name has up to three parts."""
    text = change.get("id")
    found: Sequence[str] = _QUOTED.findall(text) if type(text) is str else ()
    parts = [part.replace('""', '"') for part in found]
    if not 1 <= len(parts) <= _MOST_PARTS:
        return None
    catalog, schema, name = ([None] * (_MOST_PARTS - len(parts)) + parts)[-_MOST_PARTS:]
    return None if name is None else (catalog, schema, name)


# Transactions: which one an event is part of, and the records of the transaction topic that say when one is whole.
# Vendor: Debezium documentation, "Transaction metadata" of each connector.


_MARKS: Final = {"begin": "begin", "end": "commit"}
_TRANSACTION: Final = re.compile(r"([0-9]+):[0-9]+", re.ASCII)


def waits_for_transactions(feed: Feed) -> bool:
    """Whether changes wait for the end of their transaction.

    No record says whether the feed reads the transaction topic. A feed of topics that names none that ends in
    ``transaction`` does not, and waiting would be for ever; files may be of any topic, so theirs wait.
    """
    if not feed.reads_topics:
        return True
    return has_transactions(feed.landing)


def mark_of(envelope: Envelope) -> str | None:
    """``begin`` or ``commit`` for a record of the transaction topic, else None."""
    body = envelope.body
    if body.get("op") is not None or body.get("id") is None:
        return None
    return _MARKS.get((as_text(body.get("status")) or "").lower())


def transaction_of(envelope: Envelope, mark: str | None) -> Transaction | None:
    """The transaction that an event or a mark is part of; its end says of how many events it consists."""
    found = envelope.body.get("id" if mark is not None else "transaction")
    if mark is None:
        found = part(found, "id")
    own = as_text(found)
    if not own:
        return None
    # Postgres's is its number and an LSN, which differs from event to event.
    numbered = _TRANSACTION.fullmatch(own)
    expected = whole(envelope.body.get("event_count")) if mark == "commit" else None
    return Transaction(own if numbered is None else numbered[1], expected)


VOCABULARY: Final = Vocabulary(
    operations={
        "r": "read",
        "c": "insert",
        "u": "update",
        "d": "delete",
        "t": "truncate",
        "m": "message",
    },
    nothing=("null",),
)


_SCHEMA_CHANGE: Final = "schema_change"
_UNWRAP: Final = (
    "if ExtractNewRecordState took it out of its envelope, give the feed file the transform's"
    " delete.tombstone.handling.mode, as in `unwrapped: tombstone`"
)


def _reader(feed: Feed) -> EnvelopeReader:
    """Reads envelopes, with columns in the place of cells and documents."""
    documents = Documents(feed)

    def finish(envelope: Envelope) -> None:
        envelope.is_in_part = unwrap_cells(envelope) or documents.unwrap(envelope)

    return EnvelopeReader(feed, VOCABULARY, Adapter(feed), finish)


def decoder(feed: Feed, surveyed: Surveyed) -> Decode:
    """What a record of this feed means: one event per message."""
    reader = _reader(feed)
    images_of = ImageReader(feed, VOCABULARY, has_placeholders=True, decimals_may_be_plain=False)
    is_awaited = waits_for_transactions(feed)
    declared = _bare_names(feed, feed.tables)
    # Messages of a table that has a key may have none: some extractors write values alone.
    with_key = _bare_names(feed, {name for name, one in feed.tables.items() if one.key})

    def decode(record: BronzeRecord) -> Sequence[Event]:
        envelope = reader.read(record)
        mark = mark_of(envelope)
        envelope.note = mark or envelope.note or _note(envelope)
        standing = standing_of(envelope)
        if envelope.is_unwrapped and standing.point is None:
            # It stands in no log file, whatever file it names.
            envelope.source = envelope.source._replace(log=None)
        envelope.is_snapshot = _is_snapshot(envelope, standing)
        images = images_of.read(envelope)
        images.is_partial |= envelope.is_in_part and envelope.operation == "update"
        meaning = Meaning(log_entry_of(envelope, standing), _effect(envelope, images))
        event = events.event_of_envelope(envelope, images, meaning, VOCABULARY)
        if event.fault is not None and event.fault.reason == events.NO_ENVELOPE:
            event.fault = Fault(events.NO_ENVELOPE, f"{event.fault.detail}; {_UNWRAP}")
        if mark is not None:
            event.effect = mark
            entry = events.entry_of_mark(mark, as_text(envelope.body.get("id")))
            event.log_position, event.identity = entry.log_position, entry.identity
        if envelope.operation == "truncate":
            event.scope = {}
        elif envelope.operation == "delete" and (scope := scope_of(envelope, images)) is not None:
            event.scope, event.before, event.after = scope, {}, {}
        event.snapshot = _of_snapshots(envelope, standing)
        transaction = transaction_of(envelope, mark)
        if is_awaited:
            event.transaction = transaction
        counts_before_commit = transaction is not None and mark is None and not is_awaited
        event.warnings = _warnings(
            envelope, images, event, counts_before_commit=counts_before_commit
        )
        if envelope.key.is_none and event.fault is None and event.name not in with_key:
            event.warnings += (*_of_bare_rows(envelope, standing),)
        if event.operation == _SCHEMA_CHANGE:
            return [event, *_drops(envelope, standing, declared)]
        return (event,)

    return decode


def shapes(feed: Feed) -> ReadShape:
    """A change of a row, or a row of a snapshot, in an envelope of its own or out of it; all else goes the long way."""
    images = ImageReader(feed, VOCABULARY, has_placeholders=True, decimals_may_be_plain=False)
    is_awaited = waits_for_transactions(feed)

    def tell(envelope: Envelope, has_objects: bool) -> Told | None:
        connector = (envelope.source.text("connector") or "").lower()
        if connector in ("cassandra", "mongodb") or (has_objects and may_be_in_cells(envelope)):
            return None
        standing = standing_of(envelope)
        if envelope.is_unwrapped and standing.point is None:
            envelope.source = envelope.source._replace(log=None)
        envelope.is_snapshot = _is_snapshot(envelope, standing)
        entry = log_entry_of(envelope, standing)
        if isinstance(entry, Fault):
            return None
        transaction = transaction_of(envelope, None) if envelope.body["transaction"] else None
        # What warnings, and the effect, depend on beside the shape of all envelopes.
        decides = (
            standing.point is None,
            standing.has_point,
            transaction is None,
            has_no_log_position(envelope),
            envelope.key.is_none and is_blocking(envelope),
        )
        of_snapshots = _of_snapshots(envelope, standing)
        return Told(entry, decides, transaction if is_awaited else None, of_snapshots)

    return EnvelopeShapes(feed, VOCABULARY, images, tell, Adapter(feed).of_row)


def _of_snapshots(envelope: Envelope, standing: Standing) -> SnapshotRow | None:
    """What an event says of snapshots."""
    if envelope.operation == "read" or envelope.is_snapshot:
        return snapshot_row_of(envelope, standing)
    if standing.point is not None and not standing.has_point:
        return without_point_of(envelope, standing.point)
    return None


def _bare_names(feed: Feed, declared: Iterable[str]) -> frozenset[str]:
    """The names of some declared tables, and their former ones, without catalog and schema."""
    return frozenset(
        name.rpartition(".")[2] for one in declared for name in (one, *feed.tables[one].was)
    )


def _drops(envelope: Envelope, standing: Standing, declared: frozenset[str]) -> Iterator[Event]:
    """One range delete for each table that a schema change drops; none without a point in the log.

    The topic tells of all tables of the source: where a feed file declares some, the others are left out.
    """
    entry = log_entry_of(envelope, standing)
    if isinstance(entry, Fault) or not standing.has_point:
        return
    for catalog, schema, name in dropped_tables(envelope):
        if not declared or name in declared:
            yield Event(
                operation="drop",
                effect="remove",
                catalog=catalog,
                schema=schema,
                name=name,
                scope={},
                derived=_SCHEMA_CHANGE,
                log_position=entry.log_position,
                dedup_prefix=len(entry.log_position) - entry.varying,
                identity=entry.identity,
                event_at=envelope.event_at,
                extracted_at=envelope.extracted_at,
            )


def _note(envelope: Envelope) -> str | None:
    """What else says nothing of any row: messages in the log, changed tables, heartbeats."""
    body = envelope.body
    if envelope.operation == "message":
        return "message"
    if body.get("op") is None and ("ddl" in body or "historyRecord" in body):
        return _SCHEMA_CHANGE
    return "heartbeat" if len(body) == 1 and "ts_ms" in body else None


def _is_snapshot(envelope: Envelope, standing: Standing) -> bool:
    """True for a row that a full snapshot read: an incremental one reads amid the stream, in chunks."""
    flag = (envelope.source.text("snapshot") or "false").lower()
    if envelope.operation == "read":
        return flag != "incremental" or standing.point is None
    return envelope.operation == "insert" and flag not in ("false", "incremental", "")


def _effect(envelope: Envelope, images: Images) -> str:
    """What the event does to the row: an update replaces it, unless values were not sent or the key is unknown."""
    if envelope.operation in ("delete", "truncate"):
        return "remove"
    if envelope.is_merged and envelope.operation == "insert":
        return "update"
    in_part = images.is_partial or envelope.key.values is None
    return "update" if envelope.operation == "update" and in_part else "replace"


def _warnings(
    envelope: Envelope,
    images: Images,
    event: Event,
    *,
    counts_before_commit: bool,
) -> tuple[str, ...]:
    found = []
    if images.is_partial and envelope.operation in ("insert", "read"):
        found.append(UNAVAILABLE.word)
    if images.has_texts_for_bytes and event.fault is None:
        found.append(TEXTS_FOR_BYTES.word)
    if envelope.expires:
        found.append(EXPIRES.word)
    if counts_before_commit:
        found.append(NOT_AWAITED.word)
    if (
        event.fault is None
        and event.effect != "note"
        and not envelope.is_snapshot
        and has_no_log_position(envelope)
    ):
        found.append(NO_LOG_POSITION.word)
    if event.fault is None and envelope.is_unwrapped and not envelope.tells_deletes:
        found.append(DELETES_UNKNOWN.word)
    return tuple(found)


def _of_bare_rows(envelope: Envelope, standing: Standing) -> Iterator[str]:
    """What may make rows of a table without a key count twice."""
    if envelope.is_snapshot:
        if is_blocking(envelope):
            yield BLOCKING_WITHOUT_KEY.word
    elif envelope.operation in ("insert", "update", "delete") and not standing.has_point:
        yield COUNTED_BY_OFFSET.word


def log_of(feed: Feed) -> Callable[[BronzeRecord], SourceLog | None]:
    """The log that a change was read from; None of other records, and of connectors that read several logs."""
    reader = _reader(feed)

    def of_record(record: BronzeRecord) -> SourceLog | None:
        envelope = reader.read(record)
        connector = (envelope.source.text("connector") or "").lower()
        if envelope.operation is None or not has_one_order(connector):
            return None
        return SourceLog(connector, _LOG_FILE.sub("", envelope.source.text("file") or ""))

    return of_record


_LOG_FILE: Final = re.compile(r"[0-9]+$", re.ASCII)


# Which records are Debezium's, and what a feed of them should declare.


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Envelopes with op and source, rows without, and the records of a transaction topic and of a schema history.

    Other tools write such envelopes, too: Arcion has its connector's name in capitals, and numbers key and value.
    """
    if b'"payload_2"' in (record.payload or b""):
        return None
    envelope = _reader(feed).read(record)
    if _names_schema(envelope):
        return Mark(_WIRE_FORMAT)
    if envelope.is_unwrapped:
        return Mark("the fields that ExtractNewRecordState adds to a row, such as __op")
    body, connector = envelope.body, envelope.source.text("connector")
    if connector is not None and connector.isupper():
        return None
    if body.get("status") in ("BEGIN", "END") and "event_count" in body:
        return Mark("status, id and event_count of a transaction topic")
    if type(body.get("source")) is not dict:
        return Mark(_BARE_ROWS, is_sure=False) if _may_be_row(envelope) else None
    if any(name in body for name in ("ddl", "tableChanges", "historyRecord")):
        return Mark("source and ddl of a schema change topic")
    if envelope.operation is None:
        return None
    return Mark(f"op, source{f', and the connector {connector}' if connector else ''}")


_BARE_ROWS: Final = (
    "rows whose record has a key of some of their columns, as ExtractNewRecordState leaves them"
)


_WIRE_FORMAT: Final = (
    "a zero byte and a schema's id, as a registry's converters of Avro or Protobuf write them"
)


def _names_schema(envelope: Envelope) -> bool:
    """Whether a message needs a schema that the feed does not have."""
    return envelope.fault is not None and envelope.fault.reason == wire.NO_SCHEMA


def _may_be_row(envelope: Envelope) -> bool:
    """Whether a message may be a row to which nothing was added: its record has an offset, and columns of it as key."""
    key = envelope.key.values
    is_there = envelope.message.offset is not None and envelope.note is None
    return is_there and bool(key) and envelope.body.items() >= (key or {}).items()


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that envelopes, topics or added fields name; and how rows without envelopes tell deletes."""
    records = records_in(sample)
    reader = _reader(feed)
    read = [reader.read(record) for record in records]
    if any(map(_names_schema, read)):
        registry = Entry("registry", "http://host:8081")
        entry = Entry("schemas", (registry,), "where the records' schemas are", is_needed=False)
        note = (
            "records name their schemas by id, and nothing in them says where these are. Give the feed file the address"
            " of their registry as `schemas: {registry: http://host:8081}`, or a folder; they say the rest themselves."
        )
        return Proposal((entry,), notes=(note,))
    is_untold = any(not one.tells_deletes if one.is_unwrapped else _may_be_row(one) for one in read)
    if not is_untold:
        return proposal_of(sample, reader)
    feed = replace(feed, unwrapped="tombstone")
    decode = decoder(feed, {})
    sample = [
        (record, event)
        for record in records
        for event in decode(record)
        if isinstance(event, Event)
    ]
    proposal = proposal_of(sample, _reader(feed))
    has_nulls = any(one.note == TOMBSTONE for one in read)
    evidence = "nulls came, each for a key" if has_nulls else "a guess: no delete came"
    entry = Entry("unwrapped", "tombstone", f"how deletes come; {evidence}")
    note = (
        "rows do not say whether they were deleted. Look up delete.tombstone.handling.mode of the connector's"
        " transform ExtractNewRecordState, and correct `unwrapped`: where it drops deletes, gold keeps deleted rows."
    )
    return replace(proposal, entries=(entry, *proposal.entries), notes=(*proposal.notes, note))
