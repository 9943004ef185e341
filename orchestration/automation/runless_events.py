"""Materializations that no run made, stored many at a time.

Dagster's own call stores one, and opens its SQLite files anew for each: six to eight milliseconds. Its storage on
Postgres takes a batch; that on SQLite, which Dagster has by default, would store a batch event by event, so that here
its statements are put into one transaction. Put here how such events reach the storage. Not here: which events those
are (``quiet_windows``).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg
from dagster._core.events import StepMaterializationData
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage


def store(instance: dg.DagsterInstance, made: Sequence[dg.AssetMaterialization]) -> None:
    """Store materializations of one asset, without tags, in the order given; the last one is the asset's newest.

    What watches an instance's events of a run is not told, as no run has these.
    """
    if not made:
        return
    events = [_entry(one) for one in made]
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        storage.store_event_batch(events)
        return
    rows = storage.prepare_insert_event_batch(events[:-1]) if len(events) > 1 else None
    newest = storage.prepare_insert_event(events[-1])
    # As its own method does: into the file of the run, and into the one of all assets, where it is asked for.
    with storage.run_connection(RUNLESS_RUN_ID) as connection:
        for statement in (rows, newest):
            if statement is not None:
                connection.execute(statement)
    with storage.index_connection() as connection:
        if rows is not None:
            connection.execute(rows)
        key = connection.execute(newest).inserted_primary_key
    assert key is not None  # the table counts its rows
    storage.store_asset_event(events[-1], key[0])


def _entry(made: dg.AssetMaterialization) -> dg.EventLogEntry:
    event = dg.DagsterEvent(
        event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
        event_specific_data=StepMaterializationData(made),
        job_name=RUNLESS_JOB_NAME,
    )
    return dg.EventLogEntry(  # type: ignore[no-untyped-call]
        error_info=None,
        level=logging.INFO,
        user_message="",
        run_id=RUNLESS_RUN_ID,
        timestamp=datetime.now(UTC).timestamp(),
        job_name=RUNLESS_JOB_NAME,
        dagster_event=event,
    )
