"""What a comparison asks of the live source of a feed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from transforms.change import Key
from transforms.feed.names import StreamName
from transforms.reconcile.judgement import LogPlace, Row
from transforms.reconcile.ranges import SourceCopy
from transforms.reconcile.row_texts import Columns, SourceColumn
from transforms.reconcile.table_names import TableName


class SourceTable(SourceCopy, Protocol):
    """One table of a source within a snapshot."""

    def rows_of(self, keys: Sequence[Key]) -> dict[Key, Row]:
        """The rows of these keys, as far as there are any."""


class Snapshot(Protocol):
    """The source as it was at one moment; ``place`` is where its log stood then."""

    @property
    def place(self) -> LogPlace:
        """Where the log stood."""

    @property
    def database(self) -> str | None:
        """What the database is called of which schemas are parts; None where there are no others than databases."""

    def apart(self) -> AbstractContextManager[None]:
        """What is asked within the block is about one table; the snapshot goes on whatever becomes of it.

        Raises:
            Incomparable: the server refuses a question within it.
        """

    def tables(self, names: Collection[StreamName]) -> dict[StreamName, list[TableName]]:
        """The tables that there are of each of these names; of one without a schema those of all schemas."""

    def columns_of(self, table: TableName) -> dict[str, SourceColumn]:
        """The columns of a table by their names; none where there is no such table.

        Raises:
            Incomparable: what is read of the table is not what its changes are about.
        """

    def table(self, name: TableName, columns: Columns) -> SourceTable:
        """One table of it."""


class TimedSnapshot(Snapshot, Protocol):
    """A snapshot of which it is known when its place was asked for.

    ``read_at``: by the source's clock, in microseconds since 1970 (UTC).
    """

    @property
    def read_at(self) -> int:
        """When that was."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """How far a connector has said that what it read of the log was passed on.

    ``numbers``: the place in the log, as those of a ``LogPlace``. ``reader``: the server's process that serves it,
    which is another one whenever the connector begins again.
    """

    numbers: tuple[int, ...]
    reader: int


class Source(Protocol):
    """A database that can be asked as it was at one moment, as often as one likes."""

    def confirmed(self, slot: str) -> Confirmed | None:
        """How far a connector has come by its slot; None where there is none, or nobody reads it now."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A new snapshot, until the end of the block. No lock is taken that keeps a writer waiting.

        All that it has was written before its place.
        """

    def complete_snapshot(self, wait: float) -> AbstractContextManager[TimedSnapshot]:
        """A new snapshot that has all that was written before its place, and may have more.

        ``wait``: so many seconds it waits for transactions that are open.

        Raises:
            UnreadableSource: they stay open, or the source cannot tell.
        """
