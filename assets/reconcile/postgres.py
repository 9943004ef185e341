"""Postgres as a source: snapshots, and digests and rows of ranges of keys, computed by the server.

All is read in transactions that are read only and repeatable, by one connection and one process of the server. Of
locks they take ``ACCESS SHARE`` alone, as every SELECT does; where somebody alters the table, they give up waiting.

Vendor: PostgreSQL documentation, "Transaction Isolation" (Repeatable Read), "System Administration Functions"
(``pg_current_wal_insert_lsn``, ``pg_last_wal_replay_lsn``), "Row-wise Comparison".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import psycopg2

from assets.reconcile.sql_table import SqlTable, qualified
from assets.source.database import Address, connection_to, in_words
from transforms.errors import UnreadableSource
from transforms.reconcile.judgement import LogPlace, lsn_text
from transforms.reconcile.row_texts import Columns, SourceColumn
from transforms.reconcile.source_sql import PostgresSql

LOCK_SECONDS = 10
"""How long a table may be locked by somebody who alters it."""

_SETTINGS: Final = {
    "timezone": "UTC",
    "datestyle": "ISO",
    "extra_float_digits": "1",
    "lock_timeout": f"{LOCK_SECONDS}s",
    # One process of the server's, whatever it has to spare.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}

_PLACE: Final = """
SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END
        - '0/0'::pg_lsn)::text, current_setting('server_encoding')
"""

_COLUMNS: Final = """
SELECT a.attname, format_type(base.oid, NULL), format_type(nullif(base.typelem, 0), NULL),
       NOT a.attnotnull, base.typtype = 'e', base.typcategory = 'A',
       CASE WHEN a.attcollation = 0 THEN true
            WHEN c.collname = 'default' THEN d.datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8', 'C.UTF8')
            ELSE c.collcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8', 'C.UTF8') END
FROM pg_attribute a
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type base ON base.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
JOIN pg_database d ON d.datname = current_database()
LEFT JOIN pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""


@dataclass(frozen=True, slots=True)
class PostgresSource:
    """One database; ``feed`` is for messages."""

    feed: str
    address: Address

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """A new snapshot, until the end of the block."""
        connection = None
        try:
            connection = self._connected()
            with connection.cursor() as cursor:
                for name, value in _SETTINGS.items():
                    cursor.execute("SELECT set_config(%s, %s, true)", (name, value))
                # The snapshot is that of the first statement: all that it sees was committed before this place.
                cursor.execute(_PLACE)
                place, encoding = cursor.fetchone()
                place_of = LogPlace((int(place),), lsn_text(int(place)))
                yield PostgresSnapshot(cursor, place_of, encoding == "UTF8")
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


@dataclass(frozen=True, slots=True)
class PostgresSnapshot:
    """The database as it was at one moment; ``place``: where its log stood."""

    cursor: Any
    place: LogPlace
    is_utf8: bool

    def columns_of(self, table: str) -> dict[str, SourceColumn]:
        """The columns of a table by their names; none where there is no such table."""
        self.cursor.execute(_COLUMNS, (qualified(table).replace("%%", "%"),))
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

    def table(self, name: str, columns: Columns) -> SqlTable:
        """One table of it."""
        return SqlTable(self.cursor, qualified(name), columns, PostgresSql(self.is_utf8))
