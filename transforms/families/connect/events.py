"""From an envelope to its event: where it stands in the log, why it may be faulty, and what it says."""

from __future__ import annotations

from typing import Final, NamedTuple

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.event import Event
from transforms.families.connect.envelopes import Envelope, Vocabulary
from transforms.families.connect.images import Images
from transforms.fault import Fault, quoted, shown
from transforms.json_values import as_text

_KNOWN: Final = "file and pos (MySQL, MariaDB), lsn (Postgres), the record's partition and offset"
_AT_START: Final = (EPOCH, STREAM)


class LogEntry(NamedTuple):
    """A position, and the texts that identify the event there (``transforms/event.py``).

    ``varying``: how many numbers at the position's end may differ from delivery to delivery.
    """

    log_position: tuple[int, ...]
    identity: tuple[str | None, ...]
    varying: int = 0


def entry_in_stream(numbers: tuple[int, ...]) -> LogEntry:
    """A position in the source's log, which identifies the event."""
    return _numbered((EPOCH, STREAM, *numbers))


def entry_in_snapshot(envelope: Envelope, numbers: tuple[int, ...] | None) -> LogEntry:
    """The entry of a row that a snapshot read: ``numbers`` order a later snapshot after an earlier one, or are None.

    Equal rows of a table without a key differ in nothing but their offset in the topic.
    """
    entry = _numbered((EPOCH, SNAPSHOT, *(numbers or ())))
    if envelope.key.is_none and envelope.message.partition is not None:
        return LogEntry(entry.log_position, identity_in_topic(envelope))
    return entry


def entry_in_topic(envelope: Envelope) -> LogEntry | Fault:
    """The record's position in its topic, or that it has none."""
    offset, partition = envelope.message.offset, envelope.message.partition
    if offset is None or partition is None:
        return no_log_position(envelope, f"known: {_KNOWN}")
    return LogEntry((EPOCH, STREAM, offset, partition), identity_in_topic(envelope))


def no_log_position(envelope: Envelope, needed: str) -> Fault:
    """An event of the stream that nothing puts in order; ``needed`` says what would."""
    file, pos, lsn = (envelope.source.text(name) for name in ("file", "pos", "lsn"))
    found = f"source has file {quoted(file)}, pos {shown(pos)}, lsn {shown(lsn)}"
    return Fault("unknown_position", f"{found}; {needed}")


def entry_of_note(envelope: Envelope) -> LogEntry:
    """The entry of a note, a message about no row: it only identifies the note, and orders nothing."""
    if envelope.message.partition is not None:
        return LogEntry(_AT_START, identity_in_topic(envelope))
    return LogEntry(_AT_START, (envelope.record.object, str(envelope.record.line)))


def entry_of_mark(kind: str, transaction: str | None) -> LogEntry:
    """The entry of a mark that begins or ends a transaction; the transaction's id identifies it."""
    return LogEntry(_AT_START, (kind, transaction))


def _numbered(log_position: tuple[int, ...]) -> LogEntry:
    return LogEntry(log_position, tuple([str(number) for number in log_position]))


def identity_in_topic(envelope: Envelope) -> tuple[str | None, ...]:
    """What identifies a record of a topic: the topic, the partition and the offset."""
    offset = envelope.message.offset
    return (
        envelope.message.topic,
        str(envelope.message.partition),
        None if offset is None else str(offset),
    )


NO_ENVELOPE: Final = "no_envelope"
_ENVELOPED: Final = frozenset({"op", "before", "after", "source"})
_MAKES_ROW: Final = frozenset({"read", "insert", "update", "replace"})


class Meaning(NamedTuple):
    """What a format makes of a message: where it stands, or why nothing says so, and what it does to the row."""

    entry: LogEntry | Fault
    effect: str


def event_of_envelope(
    envelope: Envelope, images: Images, meaning: Meaning, vocabulary: Vocabulary
) -> Event:
    """The event of a message."""
    is_note = envelope.note is not None
    standing = entry_of_note(envelope) if is_note else meaning.entry
    entry, unknown = (None, standing) if isinstance(standing, Fault) else (standing, None)
    fault = envelope.fault or _envelope_fault(envelope)
    if fault is None and not is_note:
        fault = (
            _operation_fault(envelope, vocabulary)
            or envelope.key.fault
            or images.fault
            or _image_fault(envelope, images)
            or unknown
        )
    source, log = envelope.source, envelope.source.log
    is_streamed = envelope.operation is not None and not envelope.is_snapshot
    return Event(
        operation=envelope.note or envelope.operation,
        effect="note" if is_note else meaning.effect,
        catalog=source.catalog,
        schema=source.schema,
        name=source.name,
        before=images.before,
        after=images.after,
        log_position=None if entry is None else entry.log_position,
        dedup_prefix=0 if entry is None else len(entry.log_position) - entry.varying,
        identity=() if entry is None else entry.identity,
        segment=log[0] if is_streamed and log is not None else None,
        event_at=envelope.event_at,
        extracted_at=envelope.extracted_at,
        stream_schema=images.stream_schema,
        read_by_schema=images.read_by_schema,
        fault=fault,
    )


def _envelope_fault(envelope: Envelope) -> Fault | None:
    """The fault of a message without ``source`` or ``op``; notes need neither."""
    body = envelope.body
    if envelope.note is not None or ("source" in body and "op" in body):
        return None
    if body.keys().isdisjoint(_ENVELOPED):
        return Fault(
            NO_ENVELOPE,
            "the message has none of op, source, before, after; its fields:"
            f" {shown(', '.join(sorted(body)))}",
        )
    lacking = ", ".join([name for name in ("source", "op") if name not in body])
    return Fault("missing_field", f"the envelope lacks {lacking}")


def _operation_fault(envelope: Envelope, vocabulary: Vocabulary) -> Fault | None:
    if envelope.operation is not None:
        return None
    op = quoted(as_text(envelope.body.get("op")))
    return Fault("unknown_operation", f"op {op} is not known; known: {vocabulary.known}")


def _image_fault(envelope: Envelope, images: Images) -> Fault | None:
    if images.has_after or envelope.operation not in _MAKES_ROW:
        return None
    return Fault("missing_image", f"after is missing, and the operation is {envelope.operation}")
