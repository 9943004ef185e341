"""A window is run when it has ended (the window 04 at 05:00), and with it older windows that have something new."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from assets.control import ledger
from assets.landing.landings import open_landing
from assets.storage.lake import Layer
from orchestration import definitions
from orchestration.automation import schedules
from orchestration.observability.run_tags import WINDOW, windows_of_run
from orchestration.resources import lake_of
from tests.support.made_bronze import append
from transforms.feed.digest import feed_digest
from transforms.feed.feed import Feed, WindowSize
from transforms.feed.windows import windows_between


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


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """One with storage, as a schedule needs it; Dagster keeps hold of the first that definitions were loaded with."""
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("dagster"))) as made:
        yield made


class Ticks:
    """The schedule of a feed over a folder, with the runs that there were."""

    def __init__(self, instance: dg.DagsterInstance, landing: Path, warehouse: Path) -> None:
        self.instance = instance
        self.feed = Feed("shop", "arcion_s3_json", str(landing), window="hour")
        self.lake = lake_of(str(warehouse), {})
        self.repository = definitions.build([self.feed], self.lake).get_repository_def()
        self.runs: list[tuple[str, dg.DagsterRunStatus]] = []
        self.skip_message: str | None = None

    def __call__(self, hour: int) -> list[tuple[str | None, list[str]]]:
        """Run key and windows of each run that is asked for at this hour."""
        schedule = self.repository.get_schedule_def("shop_every_hour")
        at = datetime(2025, 11, 20, hour, tzinfo=UTC)
        for run in self.instance.get_runs():
            self.instance.delete_run(run.run_id)
        for window, status in self.runs:
            tags = {"feed": "shop", "dagster/partition": window}
            self.instance.add_run(dg.DagsterRun(job_name="shop_to_gold", status=status, tags=tags))
        context = dg.build_schedule_context(
            instance=self.instance, scheduled_execution_time=at, repository_def=self.repository
        )
        tick = schedule.evaluate_tick(context)
        self.skip_message = tick.skip_message
        return [
            (one.run_key, windows_of_run(self.feed, tags_of(one)))
            for one in tick.run_requests or []
        ]


def tags_of(request: dg.RunRequest) -> dict[str, str]:
    """The tags that the run has: Dagster adds that of its partition."""
    window = request.partition_key
    return {**request.tags, **({} if window is None else {WINDOW: window})}


def between(first: str, last: str) -> list[str]:
    return windows_between(first, last, "hour")


def lay(landing: Path, *windows: str) -> None:
    for window in windows:
        file = landing / window.replace("T", "/") / "a.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")


def test_older_windows_with_something_new_are_asked_for_too_and_under_keys_of_their_own(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    landing = tmp_path / "landing"
    lay(landing, "2025-11-18T03", "2025-11-20T02", "2025-11-20T04", "2025-11-20T05")
    tick = Ticks(instance, landing, tmp_path / "warehouse")
    # Neither the window that is open nor one that is to come; between 02 and 04 nothing landed.
    assert tick(5) == [
        ("2025-11-18T03..2025-11-20T04@2025-11-20T04", between("2025-11-18T03", "2025-11-20T04")),
    ]
    # Dagster would start no second run for a key that it has seen.
    assert tick(6) == [
        ("2025-11-18T03..2025-11-20T05@2025-11-20T05", between("2025-11-18T03", "2025-11-20T05")),
    ]


def test_a_window_that_was_read_and_not_finished_is_asked_for_until_it_is(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    landing = tmp_path / "landing"
    lay(landing, "2025-11-19T03")
    tick = Ticks(instance, landing, tmp_path / "warehouse")
    (one,) = open_landing(tick.feed).list()
    append(tick.lake, tick.feed, (one.window, one.name, one.generation, 1))
    ledger.catch_up(tick.lake, tick.feed)
    lay(landing, "2025-11-19T02", "2025-11-19T04")
    assert [windows for _, windows in tick(5)] == [between("2025-11-19T02", "2025-11-19T04")]
    done = {
        "window": one.window,
        "objects": 1,
        "declaration": feed_digest(tick.feed, one.window),
        "finished_at": datetime.now(UTC),
    }
    tick.lake.in_process_table(Layer.PROGRESS, "shop").append([done])
    # It is left out of every range.
    assert [windows for _, windows in tick(5)] == [["2025-11-19T02"], ["2025-11-19T04"]]


def test_a_window_that_ended_without_a_drop_is_a_reason_and_no_run(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    landing = tmp_path / "landing"
    lay(landing, "2025-11-20T05")
    tick = Ticks(instance, landing, tmp_path / "warehouse")
    assert tick(5) == []
    assert tick.skip_message == (
        f"1 drop in {landing}: none of 2025-11-20T04 or before is left to do"
    )


def test_one_tick_asks_for_a_few_and_those_that_fail_keep_no_other_waiting(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    landing = tmp_path / "landing"
    windows = [f"2025-11-18T{hour:02}" for hour in range(24)]
    lay(landing, *windows)
    tick = Ticks(instance, landing, tmp_path / "warehouse")

    def older() -> list[list[str]]:
        return [windows for _, windows in tick(5)]

    assert older() == [windows]
    # A window whose run failed has a run of its own, behind those that have not been tried.
    tick.runs = [(one, dg.DagsterRunStatus.FAILURE) for one in windows[:20]]
    assert older() == [*([one] for one in windows[:12]), windows[20:]]
    tick.runs += [(one, dg.DagsterRunStatus.FAILURE) for one in windows[:12]]
    assert older() == [*([one] for one in (*windows[:4], *windows[12:20])), windows[20:]]
    # What is on its way is not asked for again.
    tick.runs = [(one, dg.DagsterRunStatus.STARTING) for one in windows[5:]]
    assert older() == [windows[:5]]
    tick.runs = [(one, dg.DagsterRunStatus.STARTED) for one in windows]
    assert older() == []
    assert str(tick.skip_message).endswith("runs of 24 windows that are due are on their way")


def test_a_landing_that_cannot_be_read_leaves_the_window_that_ended(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    tick = Ticks(instance, tmp_path / "none", tmp_path / "warehouse")
    assert tick(5) == [("2025-11-20T04", ["2025-11-20T04"])]


def test_schedules_tick_in_utc_and_wait_to_be_switched_on() -> None:
    feed = Feed("shop", "arcion_s3_json", "/nowhere", window="hour")
    compaction = schedules.build_compaction(feed)
    assert compaction.cron_schedule == "37 3 * * *"
    for schedule in (schedules.build(feed, lake_of("/nowhere", {})), compaction):
        assert schedule.execution_timezone == "UTC"
        assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
