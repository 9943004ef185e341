"""A window is run when it has ended: at 05:00 that is 04."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg
import pytest

from orchestration import definitions, schedules
from orchestration.resources import lake_of
from transforms.feed import Feed, WindowSize


@pytest.mark.parametrize(
    ("size", "at", "window"),
    [
        ("hour", datetime(2026, 11, 20, 5, tzinfo=UTC), "2026-11-20T04"),
        ("hour", datetime(2026, 1, 1, 0, tzinfo=UTC), "2025-12-31T23"),
        ("day", datetime(2026, 11, 20, 0, tzinfo=UTC), "2026-11-19"),
        ("day", datetime(2024, 3, 1, 0, tzinfo=UTC), "2024-02-29"),
    ],
)
def test_the_window_that_just_ended_is_asked_for(
    size: WindowSize, at: datetime, window: str
) -> None:
    feed = Feed("shop", "arcion_s3_json", "/nowhere", window=size)
    repository = definitions.build([feed], lake_of("/nowhere", {})).get_repository_def()
    schedule = repository.get_schedule_def(f"shop_every_{size}")
    context = dg.build_schedule_context(scheduled_execution_time=at, repository_def=repository)
    requests = schedule.evaluate_tick(context).run_requests
    assert requests is not None
    assert [(one.run_key, one.partition_key) for one in requests] == [(window, window)]


def test_it_ticks_in_utc_and_waits_to_be_switched_on() -> None:
    schedule = schedules.build(Feed("shop", "arcion_s3_json", "/nowhere", window="hour"))
    assert schedule.execution_timezone == "UTC"
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED


def test_compaction_is_once_a_day_and_waits_to_be_switched_on() -> None:
    schedule = schedules.build_upkeep(Feed("shop", "arcion_s3_json", "/nowhere"))
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("37 3 * * *", "UTC")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
