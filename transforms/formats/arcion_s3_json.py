"""Arcion on S3, JSON: one record is one operation, or one row of a snapshot.

Arcion's ``amazon-s3`` applier writes such files. An operation is an envelope: ``tableName``, ``opType``, ``cursor``,
``before``, ``after``, ``exists`` (the exists flags: which of the two images mention a column) and ``operationcount``.
Every value is a text, and null is the text ``null``, so that a text column that holds the word null cannot be told from
null: the format itself loses that. A row of a snapshot is such an envelope with a null cursor; in Arcion's files of
2021 it is a bare object of columns, and its table is then the one that the object's path names.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", JSON file format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from transforms.event import Event
from transforms.families import arcion
from transforms.families.arcion import FLAGS, Row, operations_so_far
from transforms.families.kafka_records import object_in
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.json_values import as_text, has_texts, part
from transforms.onboarding.proposal import Mark
from transforms.record import BronzeRecord
from transforms.shape import ReadShape, Shaped
from transforms.source_format import JSON_FILES, Decode, SourceFormat, split_json

NULL = "null"
IMAGES = ("before", "after", "exists")
ENVELOPE_FIELDS = ("opType", "cursor", *IMAGES)

_TEXTS = {str}


def decoder(feed: Feed, surveyed: object) -> Decode:
    """One event per JSON document."""

    def decode(record: BronzeRecord) -> Iterable[Event]:
        document, fault = object_in(record)
        if fault is not None and not document:
            # Its table is the one that its path names, where that is declared.
            name = record.path_table if record.path_table in feed.tables else None
            return (Event(operation=None, effect="replace", name=name, fault=fault),)
        if is_bare(document):
            new = texts(document)
            # All columns are given, as if by an insert.
            row: Row = (new, {}, dict.fromkeys(new, "1"))
            return (arcion.event_of_row((None, None, record.path_table), None, None, row, fault),)
        op, cursor = field_text(document, "opType"), field_text(document, "cursor")
        return (
            arcion.event_of_row(
                names=table_name(document, record, feed),
                op=op,
                cursor_text=cursor,
                row=(
                    texts(document.get("after")),
                    texts(document.get("before")),
                    flags(document.get("exists")),
                ),
                fault=fault or missing_field(document, cursor),
            ),
        )

    return decode


# By shapes: an envelope that has all its fields, and nothing but texts in them.


class _Space(msgspec.Struct, forbid_unknown_fields=True):
    catalog: str | None
    schema: str | None
    hash: int | msgspec.UnsetType = msgspec.UNSET


class _Name(msgspec.Struct, forbid_unknown_fields=True):
    namespace: _Space
    name: str
    hash: int | msgspec.UnsetType = msgspec.UNSET


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of an envelope, as the vendor calls them."""

    tableName: _Name  # noqa: N815
    opType: str | None  # noqa: N815
    cursor: str | None
    before: dict[str, str | None] | None
    after: dict[str, str | None] | None
    exists: dict[str, str]
    operationcount: str | msgspec.UnsetType | None = msgspec.UNSET


_FIELDS = 10
"""How many names such an envelope has, besides those in its images and flags, the hashes and operationcount."""


def _texts_of(envelope: _Envelope, new: Mapping[str, object], old: Mapping[str, object]) -> int:
    """How many texts an envelope has, its names among them."""
    table, count = envelope.tableName, envelope.operationcount
    space = table.namespace
    alone = (space.catalog, space.schema, envelope.opType, envelope.cursor)
    nulls = alone.count(None)
    for image in (new, old):
        if None in (values := image.values()):
            nulls += [*values].count(None)
    hashes = (space.hash is not msgspec.UNSET) + (table.hash is not msgspec.UNSET)
    names = _FIELDS + hashes + len(new) + len(old) + 2 * len(envelope.exists)
    of_count = 0 if count is msgspec.UNSET else 1 if count is None else 2
    # The table's name, and of each value its text.
    return names + 1 + len(alone) + len(new) + len(old) - nulls + of_count


_envelope = msgspec.json.Decoder(_Envelope).decode


def shapes(feed: Feed) -> ReadShape:
    """An operation, or a snapshot's row, of an envelope; a bare row goes the long way."""
    shape_of = arcion.Shapes()

    def read(record: BronzeRecord) -> Shaped | None:
        payload = record.payload
        if payload is None or record.defect is not None:
            return None
        try:
            envelope = _envelope(payload)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        new, old, exists = envelope.after or {}, envelope.before or {}, envelope.exists
        if not has_texts(payload, _texts_of(envelope, new, old)):
            return None
        table = envelope.tableName
        if table.name == NULL or not table.name.strip(" "):
            return None
        new = texts(new) if NULL in new.values() else new
        old = texts(old) if NULL in old.values() else old
        said = (table.namespace.catalog, table.namespace.schema, table.name, envelope.opType)
        cursor = None if envelope.cursor == NULL else envelope.cursor
        return shape_of(said, cursor, (new, old, exists))

    return read


def is_bare(document: Mapping[str, object]) -> bool:
    """True for a snapshot row without an envelope: nothing names the operation and the images.

    A table may have columns of an envelope's names, as audit tables have ``before`` and ``after``; but there they are
    values, and an envelope's images are objects.
    """
    if "tableName" in document:
        return False
    named = [name for name in ENVELOPE_FIELDS if name in document]
    images = [document[name] for name in IMAGES if name in document]
    if len(named) < 2:
        return True
    if any(type(image) is dict for image in images):
        return False
    return len(images) == len(named) or any(type(image) is str for image in images)


def missing_field(document: Mapping[str, object], cursor: str | None) -> Fault | None:
    """What an envelope lacks: that of a snapshot's row may leave opType out, but nothing stands in for the flags."""
    if "exists" in document and ("opType" in document or cursor is None):
        return None
    missing = [name for name in ("opType", "exists") if name not in document]
    return Fault("missing_field", f"the envelope lacks {', '.join(missing)}")


def table_name(
    document: Mapping[str, Any], record: BronzeRecord, feed: Feed
) -> tuple[str | None, str | None, str | None]:
    """Catalog, schema and table that the envelope names; else the table that the path names.

    A path may well name no table (``part-1.json``): only a bare row, which has nothing else, takes its word unchecked.
    """
    by_path = record.path_table if record.path_table in feed.tables else None
    table_name = document.get("tableName")
    space, name = part(table_name, "namespace"), _name(table_name, "name")
    return _name(space, "catalog"), _name(space, "schema"), by_path if name is None else name


def _name(table_name: object, of: str) -> str | None:
    """One part of the table's name; None where it is null or blank."""
    text = as_text(part(table_name, of))
    return None if text is None or text == NULL or not text.strip(" ") else text


def field_text(document: Mapping[str, object], name: str) -> str | None:
    """A field of the envelope as text; an object stays JSON text, null and the word null are None."""
    text = as_text(document.get(name))
    return None if text == NULL else text


def texts(image: object) -> dict[str, str | None]:
    """An object within the document as texts; empty where it is null, missing or no object."""
    if type(image) is not dict:
        return {}
    values = image.values()
    if NULL not in values and set(map(type, values)) == _TEXTS:
        return image
    return {
        name: None
        if value is None or value == NULL
        else value
        if type(value) is str
        else as_text(value)
        for name, value in image.items()
    }


def flags(exists: object) -> dict[str, str | None]:
    """The exists flags as texts, without blanks around them."""
    if type(exists) is not dict:
        return {}
    # An object is no flag, nor can it be looked for in a set.
    if set(map(type, exists.values())) == _TEXTS and FLAGS.issuperset(exists.values()):
        return exists
    return {
        name: None if (text := as_text(value)) is None else text.strip(" ")
        for name, value in exists.items()
    }


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Envelopes with exists flags are Arcion's on S3 alone; a bare row might be anybody's."""
    document, _ = object_in(record)
    if is_bare(document):
        is_row = document and not any(type(value) in (dict, list) for value in document.values())
        return Mark("an object of columns without an envelope", is_sure=False) if is_row else None
    names = [name for name in ("tableName", *ENVELOPE_FIELDS) if name in document]
    is_own = "exists" in document and ("opType" in document or "tableName" in document)
    return Mark(", ".join(names)) if is_own else None


FORMAT = SourceFormat(
    name="arcion_s3_json",
    files=JSON_FILES,
    split=split_json,
    decoder=decoder,
    shapes=shapes,
    warnings=(arcion.FLAGS_DISAGREE,),
    operations_so_far=operations_so_far,
    fields=("tableName", *ENVELOPE_FIELDS),
    recognise=recognise,
    unknowable=(
        arcion.NO_COMMITS,
        "a text column's word null: the format writes null the same way.",
    ),
)
