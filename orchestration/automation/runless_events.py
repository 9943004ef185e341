"""Materializations that no run made, stored many at a time: Dagster's own call stores one, in some milliseconds.

Put here how such events are made. Not here: which events those are (``quiet_windows``).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg
from dagster._core.events import StepMaterializationData
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID

from orchestration.runs import event_batches


def store(instance: dg.DagsterInstance, made: Sequence[dg.AssetMaterialization]) -> None:
    """Store materializations of one asset, without tags, in the order given; the last one is the asset's newest.

    What watches an instance's events of a run is not told, as no run has these.
    """
    if not made:
        return
    event_batches.store_together(instance.event_log_storage, [_entry(one) for one in made])


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
