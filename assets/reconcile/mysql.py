"""MySQL and MariaDB as sources: consistent snapshots of InnoDB's tables, computed by the server.

All is read in transactions that are read only and repeatable, by one connection; no lock is taken on rows, and of those
on tables' definitions the one that every SELECT takes.

Vendor: MySQL documentation, "START TRANSACTION, COMMIT, and ROLLBACK Statements" (WITH CONSISTENT SNAPSHOT), "SHOW
BINARY LOG STATUS Statement"; MariaDB documentation, "Enhancements for START TRANSACTION WITH CONSISTENT SNAPSHOT"
(``binlog_snapshot_file``, ``binlog_snapshot_position``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import sleep
from typing import Any, Final

import pymysql
from pymysql.constants import ER
from pymysql.cursors import Cursor

from assets.reconcile.source import Confirmed
from assets.reconcile.sql_table import SqlTable, qualified
from assets.source.database import Address, connection_to, in_words
from transforms.errors import UnreadableSource
from transforms.feed.names import StreamName
from transforms.reconcile.judgement import LogPlace
from transforms.reconcile.ranges import Incomparable
from transforms.reconcile.row_texts import Columns, SourceColumn
from transforms.reconcile.source_sql import MySql
from transforms.reconcile.table_names import TableName, is_read_so

SQL: Final = MySql()

LOCK_SECONDS = 10
"""How long a table may be locked by somebody who alters it."""

_SESSION: Final = (
    "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES', time_zone = '+00:00',"
    f" lock_wait_timeout = {LOCK_SECONDS}",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
)
_BEGIN: Final = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
_CLOCK: Final = "SELECT cast(unix_timestamp(now(6)) * 1000000 AS signed)"

COMMIT_SECONDS = 2.0
"""MySQL writes a transaction into its log, and then makes it seen: so long it is given for the second."""

_PLACES: Final = ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS")
"""What newer and older servers call it. All that a snapshot has was written to the log before."""

_TABLES: Final = """
SELECT table_schema, table_name, @@lower_case_table_names > 0 FROM information_schema.tables
WHERE lower(table_name) IN ({}) AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
"""

_COLUMNS: Final = """
SELECT column_name, lower(data_type), is_nullable = 'YES',
       coalesce(numeric_scale, 0) > 0 OR coalesce(datetime_precision, 0) > 0, character_set_name, collation_name
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""
_CALLED: Final = {"json": "MySQL's json"}
"""Types whose name another database has for one that is written otherwise: this one is sent with other blanks."""

_NO_RIGHT: Final = (ER.TABLEACCESS_DENIED_ERROR, ER.COLUMNACCESS_DENIED_ERROR)

READ_SECONDS = 7200
"""How long an answer may take before the network is taken for dead: far longer than a scan of a large table takes.

Weir's own pauses do not count, for nothing is awaited then.
"""

_FILE: Final = re.compile(r".*\.([0-9]+)")


class _Cursor(Cursor):  # type: ignore[misc]
    """A cursor to which an answer with a value that the server has cut off is an error."""

    def execute(self, query: str, args: Any = None) -> int:
        """Ask, and look whether a text was too long for the server, which makes null of it and only warns."""
        many: int = super().execute(query, args)
        if self.warning_count:
            with self.connection.cursor(Cursor) as cursor:
                cursor.execute("SHOW WARNINGS")
                for _, code, said in cursor.fetchall():
                    if code == ER.WARN_ALLOWED_PACKET_OVERFLOWED:
                        raise pymysql.DataError(code, said)
        return many


@dataclass(frozen=True, slots=True)
class MySqlSource:
    """One server; ``feed`` is for messages."""

    feed: str
    address: Address

    def confirmed(self, slot: str) -> Confirmed | None:
        """Nothing: such a server does not know what those who read its log have done with it."""
        return None

    @contextmanager
    def snapshot(self) -> Iterator[MySqlSnapshot]:
        """A new snapshot, until the end of the block."""
        with self._cursor() as cursor:
            cursor.execute(_BEGIN)
            yield MySqlSnapshot(cursor, self._place(cursor))

    @contextmanager
    def complete_snapshot(self, wait: float) -> Iterator[MySqlSnapshot]:
        """A new snapshot that has all that was written before its place, until the end of the block.

        MariaDB keeps the very place of a snapshot. In MySQL the place is asked for first, and the snapshot comes so
        much later that all of the log up to there is seen by then.
        """
        with self._cursor() as cursor:
            cursor.execute(_CLOCK)
            ((read_at,),) = cursor.fetchall()
            before = self._place(cursor)
            cursor.execute(_BEGIN)
            if not _kept(cursor)[0]:
                cursor.execute("ROLLBACK")
                sleep(COMMIT_SECONDS)
                cursor.execute(_BEGIN)
                yield MySqlSnapshot(cursor, before, read_at)
            else:
                yield MySqlSnapshot(cursor, self._place(cursor), read_at)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A cursor of a session in which a snapshot can be taken."""
        connection = None
        try:
            connection = connection_to(
                self.address,
                charset="utf8mb4",
                read_timeout=READ_SECONDS,
                write_timeout=READ_SECONDS,
            )
            with connection.cursor(_Cursor) as cursor:
                for statement in _SESSION:
                    cursor.execute(statement)
                yield cursor
        except pymysql.MySQLError as fault:
            # The cause is left behind: its text may quote how it was called.
            raise UnreadableSource(self.feed, *in_words(fault, self.address)) from None
        finally:
            if connection is not None:
                with suppress(pymysql.MySQLError):
                    connection.close()

    def _place(self, cursor: Any) -> LogPlace:
        place = _place(cursor)
        if place is None:
            fault = "its user may not ask where the log stands, or the server writes none"
            remedy = "GRANT REPLICATION CLIENT (in MariaDB: BINLOG MONITOR) to it, and turn the binary log on."
            raise UnreadableSource(self.feed, f"{self.address}: {fault}", remedy)
        return place


def _kept(cursor: Any) -> tuple[str | None, str | None]:
    """Where the log stood when the open snapshot was taken, file and point, which MariaDB alone keeps."""
    cursor.execute("SHOW STATUS LIKE 'binlog_snapshot_%'")
    kept = {name.lower(): value for name, value in cursor.fetchall()}
    return kept.get("binlog_snapshot_file"), kept.get("binlog_snapshot_position")


def _place(cursor: Any) -> LogPlace | None:
    """Where the binary log stands, or stood when the snapshot was taken, which MariaDB keeps."""
    file, point = _kept(cursor)
    for statement in () if file else _PLACES:
        with suppress(pymysql.MySQLError):
            cursor.execute(statement)
            if (row := cursor.fetchone()) is not None:
                file, point = row[0], row[1]
                break
    number = _FILE.fullmatch(file or "")
    if number is None or point is None:
        return None
    return LogPlace((int(number[1]), int(point)), f"{file}, position {point}")


@dataclass(frozen=True, slots=True)
class MySqlSnapshot:
    """The database as it was at one moment; ``place``: where its log stood; ``read_at``: when, where that is asked."""

    cursor: Any
    place: LogPlace
    read_at: int = 0

    @property
    def database(self) -> None:
        """A database has tables, and is what others call a schema."""
        return None

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is asked within the block is about one table; the snapshot goes on whatever becomes of it.

        Raises:
            Incomparable: the server refuses a question within it.
        """
        try:
            yield
        except pymysql.MySQLError as fault:
            if not self.cursor.connection.open:
                raise
            code, said = (*fault.args, "", "")[:2]
            remedy = ". GRANT SELECT on it to the user" if code in _NO_RIGHT else ""
            raise Incomparable(f"the source refuses: {said or code}{remedy}") from None

    def tables(self, names: Collection[StreamName]) -> dict[StreamName, list[TableName]]:
        """The tables that there are of each of these names; of one without a database those of all databases."""
        # By itself MariaDB takes two names of a list for one that differ in capitals, and looks for the first.
        wanted = [(one.name or "").lower() for one in names]
        self.cursor.execute(_TABLES.format(", ".join(["%s"] * len(wanted))), wanted)
        rows = self.cursor.fetchall()
        # Where the server takes capitals and small letters for one, it may keep a name otherwise than changes have it.
        are_one = any(are_one for _, _, are_one in rows)

        def spelled(name: str | None) -> str | None:
            return name.lower() if name is not None and are_one else name

        return {
            one: [
                TableName(schema, name)
                for schema, name, _ in rows
                if is_read_so(
                    TableName(spelled(schema) or "", spelled(name) or ""),
                    StreamName(*map(spelled, one)),
                )
            ]
            for one in names
        }

    def columns_of(self, table: TableName) -> dict[str, SourceColumn]:
        """The columns of a table by their names; none where there is no such table."""
        self.cursor.execute(_COLUMNS, table)
        return {
            name: SourceColumn(
                name,
                _CALLED.get(kind, kind),
                is_nullable=bool(is_nullable),
                has_fraction=bool(has_fraction),
                charset=charset,
                collation=collation,
            )
            for name, kind, is_nullable, has_fraction, charset, collation in self.cursor.fetchall()
        }

    def table(self, name: TableName, columns: Columns) -> SqlTable:
        """One table of it."""
        return SqlTable(self.cursor, qualified(name), columns, SQL)
