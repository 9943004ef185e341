"""Where Dagster keeps the history of runs, and how a run writes it without a wait for each entry."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

import dagster as dg
from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.events import ASSET_EVENTS
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.event_log import EventLogStorage
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage, sqlite_event_log
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.sql import get_alembic_config
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from sqlalchemy import Connection, CursorResult, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError

from orchestration.console import say
from orchestration.resources import ROOT
from transforms.errors import HistoryFailed

HOME: Final = "DAGSTER_HOME"

OF_LOCATION: Final = {".dagster/repository": "__repository__@weir"}
"""The tag by which Dagster's pages find a code location's runs: without it a run is in no job."""

_ORIGIN: Final = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("weir"), "__repository__")

_SETTINGS: Final = ROOT / "orchestration" / "dagster.yaml"


def home_of(environment: Mapping[str, str], feeds: Path) -> Path | None:
    """The folder of Dagster's history: ``DAGSTER_HOME``, else ``.dagster`` beside the folder of the feed files.

    So the runs of some feeds are in one history, whoever starts them. None where ``DAGSTER_HOME`` is empty.
    """
    if HOME in environment:
        return Path(environment[HOME]).expanduser().resolve() if environment[HOME] else None
    return feeds.expanduser().resolve().parent / ".dagster"


def make_home(home: Path) -> None:
    """Make the folder where it is missing, and give it Dagster's settings where it has none.

    Raises:
        OSError: it cannot be made or written.
    """
    home.mkdir(parents=True, exist_ok=True)
    settings = home / _SETTINGS.name
    if not settings.exists():
        # Beside it first: half of the settings, where the disk is full, would be those of every run from then on.
        beside = settings.with_suffix(f".{os.getpid()}")
        shutil.copy(_SETTINGS, beside)
        beside.replace(settings)


def open_history(environment: Mapping[str, str], feeds: Path) -> dg.DagsterInstance:
    """Dagster's instance with the history, made where it is missing; with no history, one that is gone afterwards."""
    home = home_of(environment, feeds)
    if home is None:
        return dg.DagsterInstance.ephemeral()
    try:
        make_home(home)
        instance = on_the_timeline(dg.DagsterInstance.from_config(str(home)))
    except (OSError, DatabaseError) as thrown:
        fault = thrown.orig if isinstance(thrown, DatabaseError) else thrown
        say(f"this run is in no history, because {home} cannot be used: {fault}; set {HOME}")
        return dg.DagsterInstance.ephemeral()
    if HOME not in environment:
        say(f"the history of runs is in {home} (set {HOME} for another folder)")
    return instance


@contextmanager
def naming_faults(instance: dg.DagsterInstance) -> Iterator[None]:
    """Say of a history that cannot be written where it is, and what to do.

    Raises:
        HistoryFailed: its database refuses what a run has to write.
    """
    try:
        yield
    except DatabaseError as fault:
        raise HistoryFailed(instance.root_directory, str(fault.orig)) from fault


def on_the_timeline(instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """The same instance, whose new runs have the origin by which Dagster's timeline places them.

    A job that is executed in this process has none, and no public function gives it one: the timeline leaves out
    runs without an origin, whatever their tags.
    """
    create = instance.create_run_for_job

    def with_origin(job_def: dg.JobDefinition, **given: Any) -> dg.DagsterRun:
        origin = RemoteJobOrigin(_ORIGIN, job_def.name)
        return create(job_def=job_def, **{"remote_job_origin": origin, **given})

    instance.create_run_for_job = with_origin  # type: ignore[assignment, method-assign]
    return instance


# Dagster opens and closes an SQLite file for each of the hundreds of entries of a run. Who closes one last in WAL mode
# has to bring it up to date and wait for the disk, which takes longer than the work on a small window.


@contextmanager
def kept_open() -> Iterator[None]:
    """Keep every SQLite file open that this process opens meanwhile, and bring them up to date once, at the end."""
    kept: dict[str, sqlite3.Connection] = {}

    def opened(connection: DBAPIConnection, _: object) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        _wait_less(connection, None)
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


def _wait_less(connection: DBAPIConnection, _: object) -> None:
    """Do not wait for the disk with each entry.

    In WAL mode this is safe: a process that dies loses nothing, and a machine that loses power loses the last entries,
    never the file.
    """
    connection.execute("PRAGMA synchronous = NORMAL")


def _files(connection: sqlite3.Connection) -> list[str]:
    """The files of a connection; none where it is to a database in memory."""
    return [file for _, _, file in connection.execute("PRAGMA database_list") if file]


def _look(connection: sqlite3.Connection) -> None:
    """Read something: only who has read a file counts as one who has it open, in the mode that it is in now."""
    with suppress(sqlite3.OperationalError):  # somebody has it for himself at this moment
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()


# What follows is for SQLite, where Dagster has its history unless told otherwise. It opens and closes one file or two
# for each of the hundred events of a small run, compiles each statement again for it, and reads all migrations that it
# ever had to know that a file needs none: most of the time of such a run, and of who asks for it.


def write_quickly() -> None:
    """Let Dagster keep its files open and store events in batches, for as long as this process lives."""
    # Dagster hands them over in batches only where its own variable says how large these are. A run over a range has
    # two events for each of its assets and windows.
    os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", "1000")
    SqliteEventLogStorage.store_event_batch = store_together  # type: ignore[assignment,method-assign]
    SqliteEventLogStorage._connect = _connected_to_events  # type: ignore[assignment,method-assign]
    SqliteRunStorage.connect = _connected_to_runs  # type: ignore[assignment,method-assign]
    ScriptDirectory.from_config = staticmethod(_migrations_of)  # type: ignore[method-assign]
    atexit.register(close_files)


_ENGINES: Final[WeakKeyDictionary[object, dict[str, Engine]]] = WeakKeyDictionary()
"""The engines of a storage by their addresses: as long as it lives, so do their connections."""

_MAKING: Final = Lock()

OPEN_AT_ONCE: Final = 8
"""How many files a storage has open at most, the newest: each run has its own."""


def _engine_of(storage: object, address: str, **how: float) -> Engine:
    """The storage's engine for a file; made once, with ``how`` as what the driver is told."""
    with _MAKING:
        made = _ENGINES.setdefault(storage, {})
        if address not in made:
            if len(made) == OPEN_AT_ONCE:
                made.pop(next(iter(made))).dispose()
            made[address] = create_engine(address, connect_args=how)
            event.listen(made[address], "connect", _wait_less)
        return made[address]


def close_files() -> None:
    """Close all files: who closes one last puts all that was written into the file itself."""
    for made in _ENGINES.values():
        for engine in made.values():
            engine.dispose()


@contextmanager
def _connected_to_events(storage: SqliteEventLogStorage, shard: str) -> Iterator[Connection]:
    """What its ``_connect`` does; ``shard``: the id of a run, or the name of the file of all assets."""
    address = storage.conn_string_for_shard(shard)
    with storage._db_lock:
        engine = _engine_of(storage, address, timeout=SQLITE_BUSY_TIMEOUT_SECONDS)
        if shard not in storage._initialized_dbs:
            storage._initdb(engine)
            storage._initialized_dbs.add(shard)
        with engine.connect() as connection, connection.begin():
            yield connection


@contextmanager
def _connected_to_runs(storage: SqliteRunStorage) -> Iterator[Connection]:
    """What its ``connect`` does."""
    with _engine_of(storage, storage._conn_string).connect() as connection, connection.begin():
        yield connection


_read_migrations: Final = ScriptDirectory.from_config
_MIGRATIONS: Final[dict[str | None, ScriptDirectory]] = {}


def _migrations_of(config: Config) -> ScriptDirectory:
    """The migrations that lie where the settings say, read once."""
    place = config.get_main_option("script_location")
    if place not in _MIGRATIONS:
        _MIGRATIONS[place] = _read_migrations(config)
    return _MIGRATIONS[place]


def know_migrations() -> None:
    """Read Dagster's migrations, before anybody asks for them."""
    _migrations_of(get_alembic_config(sqlite_event_log.__file__)).as_revision_number("head")


def store_together(storage: EventLogStorage, events: Sequence[dg.EventLogEntry]) -> None:
    """Store events of one run, in the order given."""
    if not isinstance(storage, SqliteEventLogStorage):
        storage.store_event_batch(events)
        return
    for is_of_asset, some in groupby(events, _is_of_asset):
        if is_of_asset:
            _store_of_assets(storage, [*some])
        else:
            for event in some:
                storage.store_event(event)


def _is_of_asset(event: dg.EventLogEntry) -> bool:
    return event.dagster_event is not None and event.dagster_event.event_type in ASSET_EVENTS


def _key_of(inserted: CursorResult[Any]) -> int:
    """The number of the row: the table counts its rows."""
    key = inserted.inserted_primary_key
    assert key is not None
    return int(key[0])


def _store_of_assets(storage: SqliteEventLogStorage, events: Sequence[dg.EventLogEntry]) -> None:
    """What its ``store_event`` does: into the file of the run, and into that of all assets, where it is asked for."""
    inserts = [storage.prepare_insert_event(event) for event in events]
    with storage.run_connection(events[0].run_id) as connection:
        for insert in inserts:
            connection.execute(insert)
    with storage.index_connection() as connection:
        keys = [_key_of(connection.execute(insert)) for insert in inserts]
    storage.store_asset_event_tags(events, keys)
    # Of each asset the row of the newest event is what counts.
    newest = {
        (event.get_dagster_event().asset_key, event.get_dagster_event().event_type): (event, key)
        for event, key in zip(events, keys, strict=True)
    }
    for one, key in newest.values():
        storage.store_asset_event(one, key)
