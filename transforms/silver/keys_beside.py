"""Keys that records hold beside their values, canonical: of rows that are gone already, and of rows that were moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from transforms.change import Key
from transforms.event import Event
from transforms.feed.erasures import ErasedKeys
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord
from transforms.silver.changes import Row
from transforms.silver.conform import Conformer
from transforms.source_format import KeyBeside, SourceFormat


class LinkBeside(NamedTuple):
    """A key change that a record tells of: from ``old`` to ``new``; None for one that cannot be read in ``said``."""

    row: Row
    old: Key | None
    new: Key | None
    said: bytes


class KeysBeside:
    """Reads such keys; for one process to keep."""

    def __init__(
        self, feed: Feed, source: SourceFormat, read: Callable[[BronzeRecord], Sequence[KeyBeside]]
    ) -> None:
        self._read, self._mark = read, source.marks_of_headers
        self._conform = Conformer(feed, describes_tables=source.describes_tables)

    @classmethod
    def of(cls, feed: Feed, source: SourceFormat) -> KeysBeside | None:
        """What reads them; None where records of the format hold none."""
        if source.keys_beside is None:
            return None
        return cls(feed, source, source.keys_beside(feed))

    def name(self, note: Row, record: BronzeRecord, erased: ErasedKeys | None) -> None:
        """Have a note that follows a delete say of which row of which table it is.

        ``erased``: only where it is of one of these; None for any.
        """
        for one in self._read(record):
            row = self._row(record, one.event)
            if one.key_is != "own" or row.key is None or row.fault is not None:
                continue
            if erased is None or erased.has(row.table, (row.key,), None, None, None):
                note.table, note.key = row.table, row.key
                note.source_table, note.declared = row.table or "", None

    def trace(self, row: Row, record: BronzeRecord, erased: ErasedKeys) -> None:
        """Have an insert of a key change say which key its row had, where it is that of an erased key, and as old."""
        for one in self.links(record) if self.may_link(record) else ():
            if one.old is not None and one.new == row.key and one.row.table == row.table:
                row.moved_from = one.old
                if not is_of_erased(erased, row):
                    row.moved_from = None

    def may_link(self, record: BronzeRecord) -> bool:
        """Whether a record has a header, or in a dump may say one, by whose name it tells of a key change."""
        if not self._mark:
            return False
        if record.headers is None:
            return self._mark.encode() in (record.payload or b"")
        return any(name.startswith(self._mark) for name, _ in record.headers)

    def links(self, record: BronzeRecord) -> Iterator[LinkBeside]:
        """The key changes that a record tells of beside its value."""
        for one in self._read(record):
            if one.key_is != "own":
                own, other = self._row(record, one.of), self._row(record, one.event)
                key = None if other.fault is not None else other.key
                keys = (key, own.key) if one.key_is == "old" else (own.key, key)
                yield LinkBeside(own, *keys, one.said or b"")

    def _row(self, record: BronzeRecord, event: Event) -> Row:
        return self._conform(record, [event])[-1]


def is_of_erased(erased: ErasedKeys, row: Row) -> bool:
    """Whether a row is of an erased key, or comes from one, and no newer than its erasure."""
    # A tombstone of Kafka says nothing of when its row was deleted: it stands before all changes.
    position = row.log_position
    if position is not None and row.dedup_prefix:
        # What is behind it differs between deliveries of one event, as the offsets of a topic that was made again do.
        position = position[: row.dedup_prefix]
    return erased.has(row.table, (row.key, row.moved_from), row.stream, position, row.event_at)
