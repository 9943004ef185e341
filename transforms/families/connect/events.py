"""From a message that was read to an event: what makes it none, and what all formats of the family say alike.

Put here what an event of every format of the family says in the same way. Not here: reading messages (``envelopes``)
and images (``images``), and what a format adds of its own (``formats``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from transforms.event import Event
from transforms.families.connect import places
from transforms.families.connect.envelopes import Envelope
from transforms.families.connect.images import Images
from transforms.families.connect.places import Place
from transforms.families.connect.vocabulary import Vocabulary
from transforms.fault import Fault, quoted, shown
from transforms.json_values import as_text

_ENVELOPED: Final = frozenset({"op", "before", "after", "source"})
_MAKES_ROW: Final = frozenset({"read", "insert", "update", "replace"})


class Meaning(NamedTuple):
    """What a format makes of a message: where it stands, or why nothing says so, and what it does to the row."""

    place: Place | Fault
    effect: str


def event(said: Envelope, images: Images, meaning: Meaning, vocabulary: Vocabulary) -> Event:
    """The event of a message."""
    is_note = said.note is not None
    place: Place | None = None
    unplaced: Fault | None = None
    if is_note:
        place = places.of_note(said)
    elif isinstance(meaning.place, Place):
        place = meaning.place
    else:
        unplaced = meaning.place
    fault = said.fault or _strange(said)
    if fault is None and not is_note:
        fault = (
            _operation_fault(said, vocabulary)
            or said.key.fault
            or images.fault
            or _image_fault(said, images)
            or unplaced
        )
    source, log = said.source, said.source.log
    is_streamed = said.operation is not None and not said.is_snapshot
    return Event(
        operation=said.note or said.operation,
        effect="note" if is_note else meaning.effect,
        catalog=source.catalog,
        schema=source.schema,
        name=source.name,
        before=images.before,
        after=images.after,
        position=None if place is None else place.position,
        stable_prefix=0 if place is None else len(place.position),
        identity=() if place is None else place.identity,
        segment=log[0] if is_streamed and log is not None else None,
        event_at=said.event_at,
        extracted_at=said.extracted_at,
        stream_schema=images.stream_schema,
        fault=fault,
    )


def _strange(said: Envelope) -> Fault | None:
    """What an envelope lacks, or that it is none at all; notes and tombstones need not be one."""
    body = said.body
    if said.note is not None or said.is_tombstone or ("source" in body and "op" in body):
        return None
    if body.keys().isdisjoint(_ENVELOPED):
        fields = ", ".join(sorted(body))
        return Fault(
            "no_envelope",
            "neither op nor source, before or after: a flattened row tells neither table nor place; its fields: "
            f"{shown(fields)}",
        )
    lacking = ", ".join([name for name in ("source", "op") if name not in body])
    return Fault("missing_field", f"the envelope lacks {lacking}")


def _operation_fault(said: Envelope, vocabulary: Vocabulary) -> Fault | None:
    if said.operation is not None:
        return None
    op = quoted(as_text(said.body.get("op")))
    return Fault("unknown_operation", f"op {op} is not known; known: {vocabulary.known}")


def _image_fault(said: Envelope, images: Images) -> Fault | None:
    """A row without an image that says what is in it."""
    if images.has_after or said.operation not in _MAKES_ROW:
        return None
    return Fault("missing_image", f"after is missing, and the operation is {said.operation}")
