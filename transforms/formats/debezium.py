"""Debezium's relational connectors: change events, with Connect's schema beside the payload or without it.

``op`` is r (read by a snapshot), c, u, d, t (truncate), m (a message written into the log, which changes no row).
``transaction`` says which transaction an event is part of, and the records of the transaction topic (``status`` BEGIN
and END with ``event_count``) when it is whole: see ``waits``. ``__debezium_unavailable_value`` stands for a value that
the database did not log because it did not change. Flattened rows (ExtractNewRecordState) are no envelopes.

Vendor: Debezium documentation, connectors for MySQL and PostgreSQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from transforms import json_values
from transforms.event import Event, Transaction
from transforms.families.connect import events, files, places
from transforms.families.connect.envelope_reader import EnvelopeReader
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.events import Meaning
from transforms.families.connect.images import ImageReader, Images
from transforms.families.connect.places import Place
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_records import message
from transforms.families.whole_numbers import whole
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson, as_text
from transforms.record import BronzeRecord
from transforms.source_format import Decode, SourceFormat
from transforms.warning import EventWarning

WORDS: Final = Vocabulary(
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
PLACELESS = EventWarning(
    "no_place_in_log",
    "changes_have_their_place_in_the_log",
    "A change says where it stands in its source's log.",
    "These changes say file '' and pos 0. They stand as they do in their topic, before all that have a place in the"
    " log; if those are of the same table, take a new snapshot of it.",
)

_LOGGED: Final = {"mysql": "file and pos", "mariadb": "file and pos", "postgresql": "lsn"}
"""Connectors whose events stand in a log, and where ``source`` says so."""

_MARKS: Final = {"begin": "begin", "end": "commit"}
_TRANSACTION: Final = re.compile(r"([0-9]+):[0-9]+", re.ASCII)


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """What a record of this feed means: one event per message."""
    reader = EnvelopeReader(WORDS)
    images_of = ImageReader(feed, WORDS, has_stand_ins=True, numbers_are_texts=False)
    is_awaited = waits(feed)

    def decode(record: BronzeRecord) -> tuple[Event]:
        said = reader.read(record, message(record, feed))
        mark = _mark(said)
        said.note = mark or _note(said)
        numbers = _numbers(said)
        said.is_snapshot = _is_snapshot(said, numbers)
        images = images_of.read(said)
        meaning = Meaning(_place(said, numbers), _effect(said, images))
        event = events.event(said, images, meaning, WORDS)
        if mark is not None:
            event.effect = mark
            event.position, event.identity = places.of_mark(mark, as_text(said.body.get("id")))
        if said.operation == "truncate":
            event.scope = {}
        transaction = _transaction(said, mark)
        if is_awaited:
            event.transaction = transaction
        is_left_alone = transaction is not None and mark is None and not is_awaited
        event.warnings = _warnings(said, images, event, is_left_alone=is_left_alone)
        return (event,)

    return decode


def waits(feed: Feed) -> bool:
    """Whether changes wait for the end of their transaction.

    No record says whether the feed reads the transaction topic. A feed of topics that names none that ends in
    ``transaction`` does not, and waiting would be for ever; files may be of any topic, so theirs wait.
    """
    if not feed.reads_topics:
        return True
    topics = feed.landing.partition("://")[2].partition("/")[2].split(",")
    return any(topic.strip().endswith("transaction") for topic in topics)


def _mark(said: Envelope) -> str | None:
    """``begin`` or ``commit`` for a record of the transaction topic, else None."""
    body = said.body
    if body.get("op") is not None or body.get("id") is None:
        return None
    return _MARKS.get((as_text(body.get("status")) or "").lower())


def _note(said: Envelope) -> str | None:
    """What says nothing of any row: tombstones, messages in the log, changed tables, heartbeats, lone keys."""
    body = said.body
    if said.is_tombstone:
        return "tombstone"
    if said.operation == "message":
        return "message"
    if body.get("op") is None and ("ddl" in body or "historyRecord" in body):
        return "schema_change"
    if len(body) == 1 and "ts_ms" in body:
        return "heartbeat"
    return "key" if said.is_lone_key else None


def _is_snapshot(said: Envelope, numbers: tuple[int, ...] | None) -> bool:
    """True for a row that a snapshot read before the stream began; an incremental one reads amid it."""
    flag = (said.source.text("snapshot") or "false").lower()
    if said.operation == "read":
        return flag != "incremental" or numbers is None
    return said.operation == "insert" and flag not in ("false", "incremental", "")


def _effect(said: Envelope, images: Images) -> str:
    """An update is the whole row, but for values that were not sent; a row without a key is told by its images."""
    if said.operation in ("delete", "truncate"):
        return "remove"
    in_part = images.is_partial or said.key.values is None
    return "merge" if said.operation == "update" and in_part else "put"


def _numbers(said: Envelope) -> tuple[int, ...] | None:
    """The numbers of the source's log: those of Postgres, else those of MySQL; None where it is none that is known.

    Of Postgres these are the LSN of the commit before, the event's own, and its number in its transaction.
    """
    own = whole(said.source.fields.get("lsn"))
    if own is None:
        return said.source.log
    transaction = said.body.get("transaction")
    order = transaction.get("total_order") if type(transaction) is dict else None
    last_commit = _last_commit(said.source.fields.get("sequence"))
    # Of a source's first transaction no commit stands before it.
    return (own if last_commit is None else last_commit, own, whole(order) or 0)


def _last_commit(sequence: Any) -> int | None:
    """The first of two numbers, which stand as JSON in a text."""
    if type(sequence) is str:
        try:
            sequence = json_values.read(sequence)
        except MalformedJson:
            return None
    return whole(sequence[0]) if type(sequence) is list and sequence else None


def _place(said: Envelope, numbers: tuple[int, ...] | None) -> Place | Fault:
    """In the snapshot, or where the log has it. Sources without a log that is known stand as they do in their topic.

    An event that lacks its place in a log that others have would stand after all of them by its offset.
    """
    if said.is_snapshot:
        return places.in_snapshot(said, numbers)
    if numbers is not None:
        return places.in_stream(numbers)
    if _is_placeless(said):
        return places.before_log(said)
    connector = (said.source.text("connector") or "").lower()
    if connector in _LOGGED:
        needed = f"events of {connector} are put in order by {_LOGGED[connector]} alone"
        return places.unknown(said, needed)
    return places.in_topic(said)


def _is_placeless(said: Envelope) -> bool:
    """Whether the source says that it does not know its place in the log, as Flink CDC's of MySQL does."""
    return said.source.fields.get("file") == "" and said.source.fields.get("pos") == 0


def _transaction(said: Envelope, mark: str | None) -> Transaction | None:
    """The transaction that an event or a mark is part of; its end says of how many events it consists."""
    found = said.body.get("id" if mark is not None else "transaction")
    if mark is None:
        found = found.get("id") if type(found) is dict else None
    own = as_text(found)
    if not own:
        return None
    # Postgres's is its number and an LSN, which differs from event to event.
    numbered = _TRANSACTION.fullmatch(own)
    expected = whole(said.body.get("event_count")) if mark == "commit" else None
    return Transaction(own if numbered is None else numbered[1], expected)


def _warnings(
    said: Envelope, images: Images, event: Event, *, is_left_alone: bool
) -> tuple[str, ...]:
    """What is worth knowing of an event that is taken all the same; seldom anything."""
    found = []
    if images.is_partial and said.operation in ("insert", "read"):
        found.append(UNAVAILABLE.word)
    if is_left_alone:
        found.append(NOT_AWAITED.word)
    if (
        event.fault is None
        and event.effect != "note"
        and not said.is_snapshot
        and _is_placeless(said)
    ):
        found.append(PLACELESS.word)
    return tuple(found)


FORMAT = SourceFormat(
    name="debezium",
    files=("**/*.json*", "**/*.jsonl*", "**/*.ndjson*"),
    split=files.split,
    decoder=decoder,
    transactional=True,
    warnings=(UNAVAILABLE, NOT_AWAITED, PLACELESS),
    tells_tables=True,
    reads_kafka=True,
    unknowable=(
        "whether a transaction is whole, where the connector does not send transaction metadata.",
        "values that Postgres did not log, of a row whose key changed: unavailable_value counts such rows.",
    ),
)
