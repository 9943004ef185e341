"""What Dagster takes for missing is what is due: from the first drop on, and no window in which nothing landed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage

from assets import feed_assets
from assets.storage.lake import Layer
from orchestration import definitions
from orchestration.automation import missing_windows
from orchestration.resources import lake_of
from transforms.feed.feed import Feed, Freshness
from transforms.feed.windows import window_at


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.local_temp(str(home)) as made:
        yield made


def hours_ago(hours: int) -> str:
    return window_at(datetime.now(UTC) - timedelta(hours=hours), "hour")


def feed_from(start: str | None, landing: Path) -> Feed:
    feed = Feed("shop", "arcion_s3_json", str(landing), window="hour")
    return replace(feed, running=replace(feed.running, start=start))


def lay(landing: Path, window: str) -> None:
    file = landing / window.replace("T", "/") / "a.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}")


class Tick:
    """The sensor over a folder, and what Dagster shows after it."""

    def __init__(self, feed: Feed, warehouse: Path, instance: dg.DagsterInstance) -> None:
        self.instance, self.feed = instance, feed
        lake = lake_of(str(warehouse), {})
        self.repository = definitions.build([feed], lake).get_repository_def()
        self.skip_message: str | None = None
        self.cursor: str | None = None

    def __call__(self) -> int:
        """How many runs are asked for."""
        context = dg.build_sensor_context(
            instance=self.instance, cursor=self.cursor, repository_def=self.repository
        )
        tick = self.repository.get_sensor_def("shop_drops").evaluate_tick(context)
        self.skip_message, self.cursor = tick.skip_message, tick.cursor
        return len(tick.run_requests or [])

    def shown(self) -> dict[str, set[str]]:
        """The windows that Dagster has of each asset that is made window by window."""
        graph = self.repository.asset_graph
        return {
            key.path[0]: self.instance.get_materialized_partitions(key)
            for key in graph.get_all_asset_keys()
            if graph.get(key).partitions_def is not None
        }


def test_windows_that_ended_without_a_drop_are_marked_and_no_others(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_windows, "TICK_SECONDS", 600.0)
    landing = tmp_path / "landing"
    lay(landing, hours_ago(3))
    tick = Tick(feed_from(hours_ago(5), landing), tmp_path / "warehouse", instance)
    assert tick() == 1
    # The run that is asked for does not wait for it.
    assert tick.shown()["progress"] == set()
    assert tick() == 0
    # Neither the window with a drop nor the one that is open.
    quiet = {hours_ago(5), hours_ago(4), hours_ago(2), hours_ago(1)}
    shown = tick.shown()
    assert {"bronze", "silver", "quarantine", "progress", "report"} <= {*shown}
    assert all(windows == quiet for windows in shown.values())

    # A drop that comes late makes its window due again.
    lay(landing, hours_ago(4))
    assert tick() == 1
    assert tick() == 0
    assert str(tick.skip_message).endswith("2 asked for and not read yet")


def test_a_tick_reports_for_a_short_time_and_the_newest_first(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing = tmp_path / "landing"
    landing.mkdir()
    monkeypatch.setattr(missing_windows, "AT_ONCE", 1)
    tick = Tick(feed_from(hours_ago(3), landing), tmp_path / "warehouse", instance)
    moments = iter([0.0, 1.0, 600.0])
    monkeypatch.setattr(missing_windows, "monotonic", lambda: next(moments))
    assert tick() == 0
    assert str(tick.skip_message).endswith("; 1 window without a drop marked as done")
    assert tick.shown()["silver"] == {hours_ago(1)}


def test_only_windows_of_the_last_weeks_are_marked() -> None:
    now = datetime(2025, 11, 20, 5, 30, tzinfo=UTC)
    old = feed_from("2021-01-01T00", Path("/nowhere"))
    windows = [*missing_windows.quiet_windows(old, [], now)]
    assert len(windows) == missing_windows.LOOKED_AT
    assert (windows[0], windows[-1]) == ("2025-11-20T04", "2025-08-28T21")


def test_a_mark_does_not_make_a_dead_source_fresh(tmp_path: Path) -> None:
    feed = feed_from(hours_ago(9), tmp_path)
    now = datetime.now(UTC)
    watched = replace(feed, running=replace(feed.running, freshness=Freshness(timedelta(hours=6))))
    landed = {hours_ago(8), hours_ago(5)}
    gaps = [hours_ago(7), hours_ago(6)]
    ended = [hours_ago(hours) for hours in (1, 2, 3, 4)]
    assert [*missing_windows.quiet_windows(feed, landed, now)] == [
        *ended,
        *gaps[::-1],
        hours_ago(9),
    ]
    assert [*missing_windows.quiet_windows(watched, landed, now)] == [*gaps[::-1], hours_ago(9)]
    assert [*missing_windows.quiet_windows(watched, (), now)] == []


def test_marks_are_stored_as_dagster_stores_them_and_fewer_commits_than_marks(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, windows = dg.AssetKey(["bronze", "shop"]), [hours_ago(hours) for hours in range(1, 21)]
    marks = [dg.AssetMaterialization(key, "Nothing.", partition=window) for window in windows]
    (tmp_path / "other").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "other")) as other:
        for mark in marks:
            other.report_runless_asset_event(mark)
        opened: list[str] = []
        connect = SqliteEventLogStorage._connect

        def counted(storage: SqliteEventLogStorage, shard: str) -> Any:
            opened.append(shard)
            return connect(storage, shard)

        monkeypatch.setattr(SqliteEventLogStorage, "_connect", counted)
        missing_windows.store_without_run(instance, marks)
        # The run's file, the assets' file, the tags, and the asset's own row; not once per mark.
        assert len(opened) <= 4
        for one in (other, instance):
            assert one.get_materialized_partitions(key) == {*windows}
            newest = one.get_latest_materialization_event(key)
            assert newest is not None
            assert newest.asset_materialization == marks[-1]
            assert (newest.run_id, newest.job_name, newest.level) == ("", "", 20)
        found = [
            [
                (record.partition_key, record.asset_materialization, record.storage_id)
                for record in one.fetch_materializations(key, limit=100).records
            ]
            for one in (other, instance)
        ]
        assert found[0] == found[1]
        assert len(found[0]) == len(marks)
        assert len(instance.all_logs("")) == len(other.all_logs("")) == len(marks)


def test_partitions_begin_with_the_start_or_the_first_drop_that_is_known(tmp_path: Path) -> None:
    lake, feed = lake_of(str(tmp_path / "warehouse"), {}), feed_from(None, tmp_path / "landing")

    def first(feed: Feed) -> str | None:
        begun = missing_windows.from_first_drop(lake, feed)
        return feed_assets.partitions_of(begun).get_first_partition_key()

    assert first(feed) == "2020-01-01T00"
    for window in ("2025-11-20T04", "2025-11-20T03", "2019-11-20T03"):
        lay(tmp_path / "landing", window)
    assert first(feed) == "2025-11-20T03"
    assert first(feed_from("2025-11-20T04", tmp_path / "landing")) == "2025-11-20T04"
    log = Path(lake.path(Layer.LEDGER, "shop")) / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("no commit")
    # Pages come up all the same.
    with pytest.warns(UserWarning, match="its first window is not known"):
        assert first(feed) == "2020-01-01T00"


def test_drops_before_the_first_partition_are_named() -> None:
    begun = feed_from("2025-11-20T03", Path("/nowhere"))
    assert missing_windows.before_start(begun, ["2025-11-20T03", "2025-11-20T04"]) is None
    said = missing_windows.before_start(begun, ["2025-11-20T02", "2025-11-20T03"])
    assert "2025-11-20T03, are not asked for: 2025-11-20T02." in str(said)
