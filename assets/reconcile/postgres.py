"""Postgres as a source: snapshots, and digests and rows of ranges of keys, computed by the server.

All is read in transactions that are read only and repeatable, by one connection and one process of the server. Of
locks they take ``ACCESS SHARE`` alone, as every SELECT does; where somebody alters the table, they give up waiting.

Vendor: PostgreSQL documentation, "Transaction Isolation" (Repeatable Read), "System Administration Functions"
(``pg_current_wal_insert_lsn``, ``pg_last_wal_replay_lsn``), "Row-wise Comparison", "pg_locks" (``transactionid``),
"pg_replication_slots" (``confirmed_flush_lsn``, ``active_pid``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import Any, Final

import psycopg2
from psycopg2 import errorcodes

from assets.reconcile.source import Confirmed
from assets.reconcile.sql_table import SqlTable, qualified
from assets.source.database import Address, connection_to, in_words
from assets.wording import counted
from transforms.errors import UnreadableSource
from transforms.feed.names import StreamName
from transforms.reconcile.judgement import LogPlace, lsn_text
from transforms.reconcile.ranges import Incomparable
from transforms.reconcile.row_texts import Columns, SourceColumn
from transforms.reconcile.source_sql import PostgresSql
from transforms.reconcile.table_names import TableName, is_read_so

LOCK_SECONDS = 10
"""How long a table may be locked by somebody who alters it."""

_SETTINGS: Final = {
    "timezone": "UTC",
    "datestyle": "ISO",
    "extra_float_digits": "1",
    "lock_timeout": f"{LOCK_SECONDS}s",
    # A policy that hides rows is an error: else they would seem to be gone, and a repair would remove them.
    "row_security": "off",
    # Between two questions gold is read, or the pace is kept.
    "idle_in_transaction_session_timeout": "0",
    # One process of the server's, whatever it has to spare.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}

_PLACE: Final = """
SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END
        - '0/0'::pg_lsn)::text, current_setting('server_encoding'), current_database()
"""

_OPEN: Final = """
SELECT virtualtransaction || ' ' || transactionid FROM pg_locks
WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
"""
"""Every transaction that has written anything, prepared ones included: each holds the lock on its own number."""

_CONFIRMED: Final = """
SELECT (confirmed_flush_lsn - '0/0'::pg_lsn)::text, active_pid FROM pg_replication_slots
WHERE slot_name = %s AND slot_type = 'logical' AND database = current_database()
    AND confirmed_flush_lsn IS NOT NULL AND active_pid IS NOT NULL
"""

_LOOK_SECONDS = 0.2
"""How long lies between two looks at which transactions are open."""

_BASE: Final = """
(WITH RECURSIVE step(oid, typtype, typbasetype) AS (
    SELECT oid, typtype, typbasetype FROM pg_type WHERE oid = {}
    UNION ALL SELECT t.oid, t.typtype, t.typbasetype
    FROM step JOIN pg_type t ON step.typtype = 'd' AND t.oid = step.typbasetype
) SELECT oid FROM step WHERE typtype <> 'd')
"""
"""What a type is at last, if it is a domain, or one over another."""

_COLUMNS: Final = f"""
SELECT a.attname, format_type(base.oid, NULL), format_type(element.oid, NULL),
       NOT a.attnotnull, base.typtype = 'e', base.typcategory = 'A',
       CASE WHEN a.attcollation = 0 THEN true
            -- Whatever its LC_COLLATE is, ICU orders a database whose provider it is (from Postgres 15 on).
            WHEN coalesce(nullif(c.collprovider::text, 'd'), to_jsonb(d) ->> 'datlocprovider', 'c') <> 'c' THEN false
            WHEN c.collname = 'default' THEN d.datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8', 'C.UTF8')
            ELSE c.collcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8', 'C.UTF8') END
FROM pg_attribute a
JOIN pg_type base ON base.oid = {_BASE.format("a.atttypid")}
LEFT JOIN pg_type element ON element.oid = {_BASE.format("base.typelem")}
JOIN pg_database d ON d.datname = current_database()
LEFT JOIN pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""

_TABLES: Final = """
SELECT n.nspname, c.relname, c.relkind NOT IN ('r', 'p') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = ANY(%s::name[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT pg_is_other_temp_schema(n.oid)
    AND n.oid <> pg_my_temp_schema() AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""

_HEIRS: Final = """
SELECT count(*), min(i.inhrelid::regclass::text) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
WHERE i.inhparent = to_regclass(%s) AND c.relkind = 'r'
"""
"""The tables that inherit from a table that is not partitioned."""


@dataclass(frozen=True, slots=True)
class PostgresSource:
    """One database; ``feed`` is for messages."""

    feed: str
    address: Address

    def confirmed(self, slot: str) -> Confirmed | None:
        """How far the connector that reads a slot has confirmed it; None where there is none, or nobody reads it."""
        with self._cursor() as cursor:
            cursor.execute(_CONFIRMED, (slot,))
            row = cursor.fetchone()
        return None if row is None else Confirmed((int(row[0]),), row[1])

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """A new snapshot, until the end of the block."""
        with self._cursor() as cursor:
            # The snapshot is that of the first statement: all that it sees was committed before this place.
            yield _snapshot(cursor)

    @contextmanager
    def complete_snapshot(self, wait: float) -> Iterator[PostgresSnapshot]:
        """A new snapshot that has all that was written before its place, until the end of the block.

        The place comes first. What was written before it is of transactions that are finished, or hold the lock on
        their own number: a snapshot that is taken once those have ended sees the work of them all.
        """
        with self._cursor() as cursor:
            cursor.execute(
                "SELECT pg_is_in_recovery(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
            )
            is_replica, read_at = cursor.fetchone()
            if is_replica:
                fault = "it is a replica, which does not say which transactions are open"
                remedy = f"Name the primary for this command: WEIR_SOURCE_{self.feed.upper()}."
                raise UnreadableSource(self.feed, f"{self.address}: {fault}", remedy)
            before = _snapshot(cursor)
            cursor.execute(_OPEN)
            waited_for = {*cursor.fetchall()}
            deadline = monotonic() + wait
            while waited_for:
                cursor.execute(_OPEN)
                waited_for.intersection_update(cursor.fetchall())
                if waited_for and monotonic() >= deadline:
                    fault = f"{counted(len(waited_for), 'transaction')} stayed open for {wait:g} seconds"
                    remedy = "Wait for longer (--wait), or see in pg_stat_activity whose they are."
                    raise UnreadableSource(self.feed, f"{self.address}: {fault}", remedy)
                if waited_for:
                    sleep(_LOOK_SECONDS)
        with self._cursor() as cursor:
            now = _snapshot(cursor)
            yield replace(now, place=before.place, read_at=read_at)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A cursor within a transaction that only reads."""
        connection = None
        try:
            connection = self._connected()
            with connection.cursor() as cursor:
                for name, value in _SETTINGS.items():
                    cursor.execute("SELECT set_config(%s, %s, true)", (name, value))
                yield cursor
        except psycopg2.Error as fault:
            # The cause is left behind: its text may quote how it was called.
            raise UnreadableSource(self.feed, *in_words(fault, self.address)) from None
        finally:
            if connection is not None:
                with suppress(psycopg2.Error):
                    connection.close()

    def _connected(self) -> Any:
        connection = connection_to(self.address, application_name="weir reconcile")
        connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
        return connection


def _snapshot(cursor: Any) -> PostgresSnapshot:
    cursor.execute(_PLACE)
    place, encoding, database = cursor.fetchone()
    return PostgresSnapshot(
        cursor, LogPlace((int(place),), lsn_text(int(place))), database, encoding == "UTF8"
    )


def _refusal(fault: psycopg2.Error) -> str:
    """Why the server does not answer, and what helps where it is a right."""
    said = str(fault).strip().splitlines()[0]
    if fault.pgcode != errorcodes.INSUFFICIENT_PRIVILEGE:
        return said
    if "row-level security" in said:
        return f"{said}. Give the user BYPASSRLS"
    return f"{said}. GRANT SELECT on the table to its user, and USAGE on the schema"


@dataclass(frozen=True, slots=True)
class PostgresSnapshot:
    """The database as it was at one moment; ``place``: where its log stood; ``read_at``: when, where that is asked."""

    cursor: Any
    place: LogPlace
    database: str
    is_utf8: bool
    read_at: int = 0

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is asked within the block is about one table; the snapshot goes on whatever becomes of it.

        Raises:
            Incomparable: the server refuses a question within it.
        """
        self.cursor.execute("SAVEPOINT apart")
        try:
            yield
        except psycopg2.Error as fault:
            if self.cursor.connection.closed:
                raise
            self._go_back()
            raise Incomparable(f"the source refuses: {_refusal(fault)}") from None
        except Incomparable:
            self._go_back()
            raise
        else:
            self.cursor.execute("RELEASE SAVEPOINT apart")

    def _go_back(self) -> None:
        self.cursor.execute("ROLLBACK TO SAVEPOINT apart")
        self.cursor.execute("RELEASE SAVEPOINT apart")

    def tables(self, names: Collection[StreamName]) -> dict[StreamName, list[TableName]]:
        """The tables that there are of each of these names; of one without a schema those of all schemas."""
        self.cursor.execute(_TABLES, ([one.name for one in names],))
        there = {TableName(schema, name): is_view for schema, name, is_view in self.cursor}
        return {
            one: [
                table
                for table, is_view in there.items()
                # Changes come from tables; a view is read where somebody has named it whole.
                if is_read_so(table, one) and not (is_view and one.schema is None)
            ]
            for one in names
        }

    def columns_of(self, table: TableName) -> dict[str, SourceColumn]:
        """The columns of a table by their names; none where there is no such table.

        Raises:
            Incomparable: others inherit from it, whose rows would be read as its own.
        """
        name = qualified(table).replace("%%", "%")
        self.cursor.execute(_HEIRS, (name,))
        heirs, first = self.cursor.fetchone()
        if heirs:
            raise Incomparable(
                f"{first} inherits from it{', and others do' if heirs > 1 else ''}: whoever reads it reads those rows,"
                " too, which the connector sends under the name of their own table"
            )
        self.cursor.execute(_COLUMNS, (name,))
        return {
            name: SourceColumn(
                name,
                kind,
                element=element if is_array else None,
                is_nullable=is_nullable,
                is_enum=is_enum,
                is_by_bytes=is_by_bytes,
            )
            for name, kind, element, is_nullable, is_enum, is_array, is_by_bytes in self.cursor
        }

    def table(self, name: TableName, columns: Columns) -> SqlTable:
        """One table of it."""
        return SqlTable(self.cursor, qualified(name), columns, PostgresSql(self.is_utf8))
