"""From an envelope to its event: why it may be faulty, and the fields that all formats of the family fill in alike.

Put here what an event of every format of the family says in the same way. Not here: reading messages (``envelopes``)
and images (``images``), and what a format adds of its own (``formats``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from transforms.event import Event
from transforms.families.connect import log_entries
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.images import Images
from transforms.families.connect.log_entries import LogEntry
from transforms.families.connect.vocabulary import Vocabulary
from transforms.fault import Fault, quoted, shown
from transforms.json_values import as_text

_ENVELOPED: Final = frozenset({"op", "before", "after", "source"})
_MAKES_ROW: Final = frozenset({"read", "insert", "update", "replace"})


class Meaning(NamedTuple):
    """What a format makes of a message: where it stands, or why nothing says so, and what it does to the row."""

    entry: LogEntry | Fault
    effect: str


def event(envelope: Envelope, images: Images, meaning: Meaning, vocabulary: Vocabulary) -> Event:
    """The event of a message."""
    is_note = envelope.note is not None
    entry: LogEntry | None = None
    unknown: Fault | None = None
    if is_note:
        entry = log_entries.of_note(envelope)
    elif isinstance(meaning.entry, LogEntry):
        entry = meaning.entry
    else:
        unknown = meaning.entry
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
    """The fault of a message without ``source`` or ``op``; notes and tombstones need neither."""
    body = envelope.body
    if envelope.note is not None or envelope.is_tombstone or ("source" in body and "op" in body):
        return None
    if body.keys().isdisjoint(_ENVELOPED):
        fields = ", ".join(sorted(body))
        return Fault(
            "no_envelope",
            "the message has none of op, source, before, after: a flattened row, which says neither its table nor its"
            " place; its fields: "
            f"{shown(fields)}",
        )
    lacking = ", ".join([name for name in ("source", "op") if name not in body])
    return Fault("missing_field", f"the envelope lacks {lacking}")


def _operation_fault(envelope: Envelope, vocabulary: Vocabulary) -> Fault | None:
    if envelope.operation is not None:
        return None
    op = quoted(as_text(envelope.body.get("op")))
    return Fault("unknown_operation", f"op {op} is not known; known: {vocabulary.known}")


def _image_fault(envelope: Envelope, images: Images) -> Fault | None:
    """A row without an image that says what is in it."""
    if images.has_after or envelope.operation not in _MAKES_ROW:
        return None
    return Fault("missing_image", f"after is missing, and the operation is {envelope.operation}")
