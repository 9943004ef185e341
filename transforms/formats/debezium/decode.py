"""From a record to its event: what the message says, what it does to the row, and what is worth a warning.

Put here what an operation of Debezium means. Not here: reading messages and their images
(``transforms/families/connect``), where an event stands (``log_positions``), and transactions (``transactions``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from transforms.event import Event
from transforms.families.connect import cells, events, log_entries
from transforms.families.connect.envelope_reader import EnvelopeReader
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.events import Meaning
from transforms.families.connect.images import ImageReader, Images
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_records import message
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.formats.debezium import schema_changes
from transforms.formats.debezium.log_positions import (
    Standing,
    has_no_log_position,
    is_blocking,
    log_entry_of,
    snapshot_row_of,
    standing_of,
    unplaced_of,
)
from transforms.formats.debezium.transactions import mark_of, transaction_of, waits
from transforms.formats.debezium.warnings import (
    BLOCKING_WITHOUT_KEY,
    COUNTED_BY_OFFSET,
    NO_LOG_POSITION,
    NOT_AWAITED,
    TEXTS_FOR_BYTES,
    UNAVAILABLE,
)
from transforms.json_values import as_text
from transforms.record import BronzeRecord
from transforms.source_format import Decode

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


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """What a record of this feed means: one event per message."""
    reader = EnvelopeReader(VOCABULARY)
    images_of = ImageReader(feed, VOCABULARY, has_placeholders=True, decimals_may_be_plain=False)
    is_awaited = waits(feed)
    drops = _Drops(feed)
    # Messages of a table that has a key may have none: some extractors write values alone.
    with_key = _bare_names(feed, {name for name, one in feed.tables.items() if one.key})

    def decode(record: BronzeRecord) -> Sequence[Event]:
        envelope = reader.read(record, message(record, feed))
        mark = mark_of(envelope)
        envelope.note = mark or _note(envelope)
        standing = standing_of(envelope)
        envelope.is_snapshot = _is_snapshot(envelope, standing)
        has_cells = cells.unwrap(envelope)
        images = images_of.read(envelope)
        images.is_partial |= has_cells and envelope.operation == "update"
        meaning = Meaning(log_entry_of(envelope, standing), _effect(envelope, images))
        event = events.event(envelope, images, meaning, VOCABULARY)
        if mark is not None:
            event.effect = mark
            entry = log_entries.of_mark(mark, as_text(envelope.body.get("id")))
            event.log_position, event.identity = entry.log_position, entry.identity
        if envelope.operation == "truncate":
            event.scope = {}
        if envelope.operation == "read" or envelope.is_snapshot:
            event.snapshot = snapshot_row_of(envelope, standing)
        elif standing.place is not None and not standing.is_placed:
            event.snapshot = unplaced_of(envelope, standing.place)
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
            return [event, *drops.events(envelope, standing)]
        return (event,)

    return decode


def _bare_names(feed: Feed, declared: Iterable[str]) -> frozenset[str]:
    """The names of some declared tables, and their former ones, without catalog and schema."""
    return frozenset(
        name.rpartition(".")[2] for one in declared for name in (one, *feed.tables[one].was)
    )


class _Drops:
    """The events of tables that a schema change drops.

    The topic tells of all tables of the source, so that of those that a feed file does not declare nothing is told
    where it declares some.
    """

    def __init__(self, feed: Feed) -> None:
        self._declared = _bare_names(feed, feed.tables)

    def events(self, envelope: Envelope, standing: Standing) -> Iterator[Event]:
        """One range delete for each table, where the statement stands; none without a place in the log."""
        entry = log_entry_of(envelope, standing)
        if isinstance(entry, Fault) or not standing.is_placed:
            return
        for catalog, schema, name in schema_changes.dropped(envelope):
            if self._declared and name not in self._declared:
                continue
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
    """What says nothing of any row: tombstones, messages in the log, changed tables, heartbeats, lone keys."""
    body = envelope.body
    if envelope.is_tombstone:
        return "tombstone"
    if envelope.operation == "message":
        return "message"
    if body.get("op") is None and ("ddl" in body or "historyRecord" in body):
        return _SCHEMA_CHANGE
    if len(body) == 1 and "ts_ms" in body:
        return "heartbeat"
    return "key" if envelope.is_lone_key else None


def _is_snapshot(envelope: Envelope, standing: Standing) -> bool:
    """True for a row that a full snapshot read: an incremental one reads amid the stream, in chunks."""
    flag = (envelope.source.text("snapshot") or "false").lower()
    if envelope.operation == "read":
        return flag != "incremental" or standing.place is None
    return envelope.operation == "insert" and flag not in ("false", "incremental", "")


def _effect(envelope: Envelope, images: Images) -> str:
    """What the event does to the row: an update replaces it, unless values were not sent or the key is unknown."""
    if envelope.operation in ("delete", "truncate"):
        return "remove"
    in_part = images.is_partial or envelope.key.values is None
    return "update" if envelope.operation == "update" and in_part else "replace"


def _warnings(
    envelope: Envelope,
    images: Images,
    event: Event,
    *,
    counts_before_commit: bool,
) -> tuple[str, ...]:
    """What is worth knowing of an event that is taken all the same; seldom anything."""
    found = []
    if images.is_partial and envelope.operation in ("insert", "read"):
        found.append(UNAVAILABLE.word)
    if images.has_texts_for_bytes and event.fault is None:
        found.append(TEXTS_FOR_BYTES.word)
    if counts_before_commit:
        found.append(NOT_AWAITED.word)
    if (
        event.fault is None
        and event.effect != "note"
        and not envelope.is_snapshot
        and has_no_log_position(envelope)
    ):
        found.append(NO_LOG_POSITION.word)
    return tuple(found)


def _of_bare_rows(envelope: Envelope, standing: Standing) -> Iterator[str]:
    """What may make rows of a table without a key count twice."""
    if envelope.is_snapshot:
        if is_blocking(envelope):
            yield BLOCKING_WITHOUT_KEY.word
    elif envelope.operation in ("insert", "update", "delete") and not standing.is_placed:
        yield COUNTED_BY_OFFSET.word
