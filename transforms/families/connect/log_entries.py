"""Where an event stands: in the source's log, in its snapshot, or in the topic, and what identifies it there.

Put here each kind of log entry that an event can have. Not here: which of these counts for a source (``formats``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.families.connect.envelopes import Envelope
from transforms.fault import Fault, quoted, shown

_KNOWN: Final = "file and pos (MySQL, MariaDB), lsn (Postgres), the record's partition and offset"
_AT_START: Final = (EPOCH, STREAM)


class LogEntry(NamedTuple):
    """A position, and the texts that identify the event there (``transforms/event.py``).

    ``varying``: how many numbers at the position's end may differ from delivery to delivery.
    """

    log_position: tuple[int, ...]
    identity: tuple[str | None, ...]
    varying: int = 0


def in_stream(numbers: tuple[int, ...]) -> LogEntry:
    """A position in the source's log, which identifies the event."""
    return _numbered((EPOCH, STREAM, *numbers))


def in_snapshot(envelope: Envelope, numbers: tuple[int, ...] | None) -> LogEntry:
    """The entry of a row that a snapshot read: ``numbers`` order a later snapshot after an earlier one, or are None.

    Equal rows of a table without a key differ in nothing but their offset in the topic.
    """
    entry = _numbered((EPOCH, SNAPSHOT, *(numbers or ())))
    if envelope.key.is_none and envelope.message.partition is not None:
        return LogEntry(entry.log_position, of_topic(envelope))
    return entry


def in_topic(envelope: Envelope) -> LogEntry | Fault:
    """The record's position in its topic, or that it has none."""
    offset, partition = envelope.message.offset, envelope.message.partition
    if offset is None or partition is None:
        return unknown(envelope, f"known: {_KNOWN}")
    return LogEntry((EPOCH, STREAM, offset, partition), of_topic(envelope))


def unknown(envelope: Envelope, needed: str) -> Fault:
    """An event of the stream that nothing puts in order; ``needed`` says what would."""
    file, pos, lsn = (envelope.source.text(name) for name in ("file", "pos", "lsn"))
    found = f"source has file {quoted(file)}, pos {shown(pos)}, lsn {shown(lsn)}"
    return Fault("unknown_position", f"{found}; {needed}")


def of_note(envelope: Envelope) -> LogEntry:
    """The entry of a note, a message about no row: it only identifies the note, and orders nothing."""
    if envelope.message.partition is not None:
        return LogEntry(_AT_START, of_topic(envelope))
    return LogEntry(_AT_START, (envelope.record.object, str(envelope.record.line)))


def of_mark(kind: str, transaction: str | None) -> LogEntry:
    """The entry of a mark that begins or ends a transaction; the transaction's id identifies it."""
    return LogEntry(_AT_START, (kind, transaction))


def _numbered(log_position: tuple[int, ...]) -> LogEntry:
    return LogEntry(log_position, tuple([str(number) for number in log_position]))


def of_topic(envelope: Envelope) -> tuple[str | None, ...]:
    """What identifies a record of a topic: the topic, the partition and the offset."""
    offset = envelope.message.offset
    return (
        envelope.message.topic,
        str(envelope.message.partition),
        None if offset is None else str(offset),
    )
