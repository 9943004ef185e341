"""Dagster's events about many windows, stored together: in one transaction, not one for each.

A run over a range has two events for each of its assets and windows, also for windows in which nothing has landed:
Dagster takes a backfill for failed that does not materialize each of its partitions. Its storage on Postgres takes a
batch of such events; that on SQLite, which Dagster has by default, opens and commits two files for each event.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

import dagster as dg
from dagster._core.events import ASSET_EVENTS
from dagster._core.storage.event_log import EventLogStorage
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from sqlalchemy import CursorResult

SIZE: Final = "DAGSTER_EVENT_BATCH_SIZE"
"""Dagster's own variable: it hands over events in batches only where this says of how many they are."""

MANY: Final = 1_000


def begin() -> None:
    """Let Dagster store events in batches, for as long as this process lives."""
    os.environ.setdefault(SIZE, str(MANY))
    SqliteEventLogStorage.store_event_batch = store_together  # type: ignore[assignment,method-assign]


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
    for event, key in newest.values():
        storage.store_asset_event(event, key)
