"""Rows that were read again in the live source, as bronze holds them, and the events that they are.

Such a record is Weir's own, whatever the feed's format: a JSON document in an object below ``weir-reconcile/``. Its
row is what the source held at a place in its own log, and stands there: behind every change up to that place, before
every later one. So it goes the way of every record, and every replay finds it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from transforms.change import EPOCH, STREAM, LogPosition
from transforms.event import Event, Pending, StreamSchema, Value
from transforms.fault import Fault
from transforms.feed.names import StreamName
from transforms.record import BronzeRecord
from transforms.shape import ReadShape, Shaped
from transforms.source_format import Decode

FOLDER: Final = "weir-reconcile/"
GENERATION: Final = "weir reconcile"
"""Where such objects are in bronze, and what each has as its generation, as no object of a landing and no topic has."""

FIRST_AT_ITS_POINT: Final = 0
"""Where a row stands at its own point in the log: before the changes there, which it need not know of."""

Operation = Literal["read", "update", "delete"]
"""``read``: the whole row was read; ``update``: some of its columns were; ``delete``: there was no row."""

_EFFECTS: Final[Mapping[Operation, str]] = {
    "read": "replace",
    "update": "update",
    "delete": "remove",
}


class Bytes(msgspec.Struct, frozen=True):
    """A value of bytes, which JSON has not: ``encoded`` in base64."""

    encoded: str

    @classmethod
    def of(cls, value: bytes) -> Bytes:
        """Such a value."""
        return cls(base64.b64encode(value).decode())


class Described(msgspec.Struct, frozen=True):
    """A table that no feed file declares: the names of its key's columns, and each column's name and type."""

    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]


class SourceRow(msgspec.Struct, frozen=True):
    """One key of a table, as the source held it at a place in its log.

    ``table``: as the stream names it, ``catalog.schema.table``; ``names``: the same, each name by itself, for one may
    have a dot in it. ``columns``: by the source's names, those that were
    read, each as a text of gold's type; of a row that was not there the key's. ``read``: these columns and what is in
    them, of which no declared encoding is asked. ``read_at``: in microseconds since 1970 (UTC), by the source's clock.
    ``by``, ``reason``: who had it read again, and why.
    """

    table: str
    operation: Operation
    columns: dict[str, str | Bytes | None]
    log_position: tuple[int, ...]
    read_at: int
    by: str
    reason: str
    read: tuple[str, ...] = ()
    described: Described | None = None
    names: StreamName | None = None

    @property
    def named(self) -> StreamName:
        """What the stream names the table by."""
        *qualifiers, name = self.table.split(".")
        catalog, schema = [None, None, *qualifiers][-2:]
        return self.names or StreamName(catalog, schema, name)


def position_at(numbers: Iterable[int], read_at: int) -> LogPosition:
    """Where a row stands that was read at a place in the log; of two at one place the later reading comes later."""
    return (EPOCH, STREAM, *numbers, FIRST_AT_ITS_POINT, read_at)


def is_of_source(object_name: str, generation: str) -> bool:
    """Whether an object of bronze has such rows."""
    return generation == GENERATION and object_name.startswith(FOLDER)


def written(row: SourceRow) -> bytes:
    """A row as the payload of a record."""
    return msgspec.json.encode(row)


def row_in(payload: bytes | None) -> SourceRow:
    """The row of a record's payload.

    Raises:
        ValueError: it is none.
    """
    return msgspec.json.decode(payload or b"", type=SourceRow)


def event_of(record: BronzeRecord) -> Event:
    """The event of such a record."""
    try:
        row = row_in(record.payload)
    except ValueError as why:
        return Event(
            operation=None, effect="replace", name=None, fault=Fault("malformed_json", str(why))
        )
    image = {column: _value(value) for column, value in row.columns.items()}
    is_gone = row.operation == "delete"
    return Event(
        operation=row.operation,
        effect=_EFFECTS[row.operation],
        **row.named._asdict(),
        before=image if is_gone else {},
        after={} if is_gone else image,
        log_position=row.log_position,
        dedup_prefix=len(row.log_position),
        identity=(GENERATION, *map(str, row.log_position)),
        event_at=row.read_at,
        stream_schema=None
        if row.described is None
        else StreamSchema(row.described.key, row.described.columns),
        read_by_schema=frozenset(row.read),
    )


def _value(value: str | Bytes | None) -> Value:
    return base64.b64decode(value.encoded) if isinstance(value, Bytes) else value


def with_source_rows(decode: Decode) -> Decode:
    """A format's ``decode`` that takes such records, too."""

    def either(record: BronzeRecord) -> Iterable[Event | Pending]:
        if is_of_source(record.object, record.generation):
            return (event_of(record),)
        return decode(record)

    return either


def but_source_rows(read: ReadShape) -> ReadShape:
    """A format's way to read records by their shape, which leaves such records to ``decode``."""

    def others(record: BronzeRecord) -> Shaped | None:
        return None if is_of_source(record.object, record.generation) else read(record)

    return others
