"""Which tablet a response is of, how far it has come there, which checkpoint is further, and the note of one.

A source that is read by checkpoints leaves one note per response in silver (operation ``CHECKPOINT``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from transforms.change import EPOCH, STREAM
from transforms.event import Event
from transforms.families.yugabyte.messages import (
    Names,
    UnreadableResponse,
    check_response,
    field_names,
    filled,
    message_of_record,
    message_part,
    whole,
)
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.json_values import as_text
from transforms.record import BronzeRecord
from transforms.source_format import Decode

CHECKPOINT: Final = "checkpoint"
"""The operation of such a note, and why the row exists. Its ``after`` holds the checkpoint; its position orders it."""

REACHED: Final = ("reached_term", "reached_index")
"""In a note's ``after``: where the consumer stands behind what is committed in its response; null for nothing."""

BEHIND: Final = 9_223_372_036_854_775_807
"""What stands in the place of a write_id behind all of a transaction."""


# Which tablet a response is of, and which stream: no response says it, and everything depends on it. A client may add
# it to the response; else the object's path says it.


_TIME_SEGMENT = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T[\d:]+Z?)?|\d{4}|\d{2}|(?:dt|date|day|hour|hr|year|month)=.*", re.ASCII
)


class Origin(NamedTuple):
    """The tablet that a response is of, and the id of the stream by which it came, where that is known."""

    tablet: str
    stream_id: str | None


def origin_of_response(response: Mapping[str, Any], object_name: str, feed: Feed) -> Origin:
    """What the response says; else what the path of its object does."""
    of_path = _origin_of_path(object_name, feed.landing)
    tablet = filled(response.get("tablet_id")) or filled(response.get("tablet"))
    stream_id = (
        filled(response.get("stream_id"))
        or filled(response.get("db_stream_id"))
        or filled(response.get("stream"))
    )
    if tablet is None and stream_id is None:
        return of_path
    return Origin(tablet or of_path.tablet, stream_id or of_path.stream_id)


@lru_cache(maxsize=4096)
def _origin_of_path(object_name: str, landing: str) -> Origin:
    """A ``tablet=`` segment; else the nearest folder that says neither a time nor the stream; else the landing's."""
    folders = object_name.split("/")[:-1]
    named = [
        folder
        for folder in folders
        if folder and not folder.startswith("stream=") and not _TIME_SEGMENT.fullmatch(folder)
    ]
    nearest = named[-1] if named else landing.rstrip("/").rpartition("/")[2]
    return Origin(
        path_segment(object_name, "tablet") or nearest, path_segment(object_name, "stream")
    )


def path_segment(object_name: str, name: str) -> str | None:
    """What the first folder that begins with the name and an equals sign says; None where there is none."""
    marked = f"{name}="
    for folder in object_name.split("/")[:-1]:
        if folder.startswith(marked) and len(folder) > len(marked):
            return folder[len(marked) :]
    return None


# Checkpoints. A higher term is further, whatever the index; in one term a higher index; the write_id is the order
# within a transaction, and says something only beside a key: then the next response goes on in the middle of it.


_OWN_FIELDS: Final[Names] = field_names("term", "index", "key", "write_id", "snapshot_time")
"""CDCSDKCheckpointPB; both forms have the older CDCCheckpointPB, an op id alone."""

_OLDER_FIELDS: Final[Names] = field_names("op_id")
_OP_ID: Final[Names] = field_names("term", "index")

START: Final = (EPOCH, STREAM)
"""What the position of everything in a stream begins with."""

NOTE_FIELDS: Final = ("term", "index", "write_id", "key", "snapshot_time", *REACHED, "stream_id")
"""What a note says of its checkpoint, of how far its response has come, and of its stream."""

CommittedOpId = tuple[int | None, int | None]
"""Term and index of the last committed op id: a consumer that resumes there loses nothing. Both None where there is
none."""

NO_OP_ID: Final[CommittedOpId] = (None, None)


class Checkpoint(NamedTuple):
    """The checkpoint of a response; every field is None where the response has none.

    ``term`` and ``log_index`` are an op id of the tablet's Raft log; ``write_id`` says something only beside a ``key``.
    """

    term: int | None = None
    log_index: int | None = None
    write_id: int | None = None
    key: str | None = None
    snapshot_time: str | None = None

    @property
    def op_id(self) -> tuple[int, int] | None:
        """Its op id; None where it has none."""
        if self.term is None or self.log_index is None:
            return None
        return self.term, self.log_index


def checkpoint_of(response: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of a response: the CDC SDK's own, else the op id that both forms have."""
    own = message_part(response, "cdc_sdk_checkpoint", _OWN_FIELDS)
    checkpoint = message_part(response, "checkpoint", _OLDER_FIELDS)
    older = message_part(checkpoint, "op_id", _OP_ID)
    key = filled(own.get("key"))
    term, index = own.get("term"), own.get("index")
    return Checkpoint(
        whole(older.get("term") if term is None else term),
        whole(older.get("index") if index is None else index),
        None if key is None else whole(own.get("write_id")) or 0,
        key,
        as_text(own.get("snapshot_time")),
    )


def note_of_checkpoint(
    checkpoint: Checkpoint, committed_op_id: CommittedOpId, origin: Origin
) -> Event:
    """The note of a response: it stands after all that its checkpoint covers.

    Responses that come to the same checkpoint leave one note: the images say the rest.
    """
    op_id = checkpoint.op_id
    behind = BEHIND if checkpoint.write_id is None else checkpoint.write_id
    pairs = zip(NOTE_FIELDS, (*checkpoint, *committed_op_id, origin.stream_id), strict=True)
    return Event(
        operation=CHECKPOINT,
        effect="note",
        name=None,
        after={name: None if one is None else str(one) for name, one in pairs},
        stream=origin.tablet,
        derived=CHECKPOINT,
        log_position=START if op_id is None else (*START, *op_id, behind),
        dedup_prefix=len(START),
        identity=(origin.tablet, origin.stream_id),
    )


def _unreadable_response(origin: Origin, fault: Fault, table: str | None) -> Event:
    """The event of a record that is no response that can be read."""
    return Event(
        operation=None,
        effect="note",
        name=table,
        stream=origin.tablet,
        log_position=START,
        dedup_prefix=len(START),
        identity=(origin.tablet,),
        fault=fault,
    )


class ReadResponse(NamedTuple):
    """A response of a record: its fields, its checkpoint, and the tablet that it is of."""

    record: BronzeRecord
    fields: Mapping[str, Any]
    checkpoint: Checkpoint
    origin: Origin


Body = Callable[[ReadResponse], tuple[CommittedOpId, list[Event]]]
"""How far the response has come with what is committed, and the events of its messages. It may raise
``UnreadableResponse``."""


def decoder_of(
    feed: Feed,
    known: Names,
    parts: Sequence[str],
    read: Body,
    table_of: Callable[[BronzeRecord, Mapping[str, Any]], str | None] = lambda *_: None,
) -> Decode:
    """What reads a response: first the note with its checkpoint, then the events of its messages.

    ``parts``: of these a response has one at least. ``table_of``: which table one is of that cannot be read.
    """

    def decode(record: BronzeRecord) -> list[Event]:
        fields: Mapping[str, Any] = {}
        try:
            fields = message_of_record(record, known)
            check_response(fields, parts)
            checkpoint = checkpoint_of(fields)
            origin = origin_of_response(fields, record.object, feed)
            committed, events = read(ReadResponse(record, fields, checkpoint, origin))
        except UnreadableResponse as unreadable:
            origin = origin_of_response(fields, record.object, feed)
            return [_unreadable_response(origin, unreadable.fault, table_of(record, fields))]
        return [note_of_checkpoint(checkpoint, committed, origin), *events]

    return decode
