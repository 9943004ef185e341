"""From a record to its event: what the message says, what it does to the row, and what is worth a warning.

Put here what an operation of Debezium means. Not here: reading messages and their images
(``transforms/families/connect``), where an event stands (``log_places``), and transactions (``transactions``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transforms.event import Event
from transforms.families.connect import events, places
from transforms.families.connect.envelope_reader import EnvelopeReader
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.events import Meaning
from transforms.families.connect.images import ImageReader, Images
from transforms.families.connect.vocabulary import Vocabulary
from transforms.families.kafka_records import message
from transforms.feed.feed import Feed
from transforms.formats.debezium.log_places import is_placeless, numbers_of, place_of
from transforms.formats.debezium.transactions import mark_of, transaction_of, waits
from transforms.formats.debezium.warnings import NOT_AWAITED, PLACELESS, UNAVAILABLE
from transforms.json_values import as_text
from transforms.record import BronzeRecord
from transforms.source_format import Decode

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


def decoder(feed: Feed, surveyed: Mapping[str, frozenset[tuple[object, ...]]]) -> Decode:
    """What a record of this feed means: one event per message."""
    reader = EnvelopeReader(WORDS)
    images_of = ImageReader(feed, WORDS, has_stand_ins=True, numbers_are_texts=False)
    is_awaited = waits(feed)

    def decode(record: BronzeRecord) -> tuple[Event]:
        said = reader.read(record, message(record, feed))
        mark = mark_of(said)
        said.note = mark or _note(said)
        numbers = numbers_of(said)
        said.is_snapshot = _is_snapshot(said, numbers)
        images = images_of.read(said)
        meaning = Meaning(place_of(said, numbers), _effect(said, images))
        event = events.event(said, images, meaning, WORDS)
        if mark is not None:
            event.effect = mark
            event.position, event.identity = places.of_mark(mark, as_text(said.body.get("id")))
        if said.operation == "truncate":
            event.scope = {}
        transaction = transaction_of(said, mark)
        if is_awaited:
            event.transaction = transaction
        is_left_alone = transaction is not None and mark is None and not is_awaited
        event.warnings = _warnings(said, images, event, is_left_alone=is_left_alone)
        return (event,)

    return decode


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
    """What the event does to the row: an update puts all of it, unless values were not sent or the key is unknown."""
    if said.operation in ("delete", "truncate"):
        return "remove"
    in_part = images.is_partial or said.key.values is None
    return "merge" if said.operation == "update" and in_part else "put"


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
        and is_placeless(said)
    ):
        found.append(PLACELESS.word)
    return tuple(found)
