"""Dagster's SQLite files while a run writes them: kept open, so that an entry costs no wait for the disk.

Dagster opens and closes a file for each of the hundreds of entries of a run. The last one who closes a file in WAL mode
has to bring it up to date and wait for the disk, which takes longer than the work on a small window.
Put here what is done to those files. Not here: where they are (``history``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection


@contextmanager
def kept_open() -> Iterator[None]:
    """Keep every SQLite file open that this process opens meanwhile, and bring them up to date once, at the end."""
    kept: dict[str, sqlite3.Connection] = {}

    def opened(connection: DBAPIConnection, _: object) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        # In WAL mode this is safe: a process that dies loses nothing, and a machine that loses power loses the last
        # entries, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        for file in _files(connection):
            if file not in kept:
                kept[file] = sqlite3.connect(file, check_same_thread=False)
            _look(kept[file])

    event.listen(Engine, "connect", opened)
    try:
        yield
    finally:
        event.remove(Engine, "connect", opened)
        for connection in kept.values():
            connection.close()


def _files(connection: sqlite3.Connection) -> list[str]:
    """The files of a connection; none where it is to a database in memory."""
    return [file for _, _, file in connection.execute("PRAGMA database_list") if file]


def _look(connection: sqlite3.Connection) -> None:
    """Read something: only who has read a file counts as one who has it open, in the mode that it is in now."""
    with suppress(sqlite3.OperationalError):  # somebody has it for himself at this moment
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
