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
        self, feed: Feed, read: Callable[[BronzeRecord], Sequence[KeyBeside]], *, describes: bool
    ) -> None:
        self._read = read
        self._conform = Conformer(feed, describes_tables=describes)

    @classmethod
    def of(cls, feed: Feed, source: SourceFormat) -> KeysBeside | None:
        """What reads them; None where records of the format hold none."""
        if source.keys_beside is None:
            return None
        return cls(feed, source.keys_beside(feed), describes=source.describes_tables)

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
    # A note's position is its place in the topic, which says nothing of when its row was deleted.
    position = None if row.effect == "note" else row.log_position
    return erased.has(row.table, (row.key, row.moved_from), row.stream, position, row.event_at)
