"""A range of windows, backfilled through the real webserver on the real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from orchestration.resources import lake_of
from tests.journeys.dagster_server import Server, running, until

pytestmark = pytest.mark.journey

WINDOWS = ["2026-11-20T03", "2026-11-20T04", "2026-11-20T05"]
FEED = """\
format: arcion_s3_json
landing: {landing}
tables:
  pets:
    key: [id]
    columns: {{id: int, name: string}}
"""
LAUNCH = """
mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }
"""
STATE = """
query($id: String!) { partitionBackfillOrError(backfillId: $id) { __typename
  ... on PartitionBackfill { status error { message } runs(limit: 10) { runId status } } } }
"""


def envelope(op: str, position: int, before: dict[str, str], after: dict[str, str]) -> str:
    """One Arcion record on one line."""
    names = sorted({*before, *after})
    cursor = {
        "timestamp": 1_795_000_000_000 + position,
        "log": "log-bin.000001",
        "position": position,
    }
    record = {
        "tableName": {"namespace": {"catalog": None, "schema": "zoo"}, "name": "pets"},
        "opType": op,
        "cursor": json.dumps(cursor),
        "before": {name: before.get(name, "null") for name in names},
        "after": {name: after.get(name, "null") for name in names},
        "exists": {name: str((name in after) + 2 * (name in before)) for name in names},
        "operationcount": "{}",
    }
    return json.dumps(record) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A feed over three hourly windows: an insert, an update that comes late, a delete."""
    folder = tmp_path_factory.mktemp("backfill")
    drops = {
        "03": envelope("I", 1, {}, {"id": "1", "name": "Ada"})
        + envelope("I", 2, {}, {"id": "2", "name": "Bo"}),
        "04": envelope("U", 9, {"id": "1", "name": "Abe"}, {"id": "1", "name": "Ava"})
        + envelope("D", 10, {"id": "2", "name": "Bo"}, {}),
        "05": envelope("U", 5, {"id": "1", "name": "Ada"}, {"id": "1", "name": "Abe"}) + '{"cut": ',
    }
    for hour, records in drops.items():
        drop = folder / "landing" / "2026-11-20" / hour / "part_1.json"
        drop.parent.mkdir(parents=True)
        drop.write_text(records)
    feeds = folder / "feeds"
    feeds.mkdir()
    (feeds / "zoo.yaml").write_text(FEED.format(landing=folder / "landing"))
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """The server over that feed."""
    with running(folder, folder / "feeds", folder / "warehouse") as server:
        yield server


def test_a_range_of_windows_is_one_run_on_the_daemon_and_gold_is_right(
    server: Server, folder: Path, spark: SparkSession
) -> None:
    assets = [["bronze", "zoo"], ["silver", "zoo"], ["quarantine", "zoo"], ["progress", "zoo"]]
    assets += [["gold", "zoo", "pets"], ["gold", "zoo", "pets__tombstones"]]
    params = {
        "assetSelection": [{"path": path} for path in assets],
        "partitionNames": WINDOWS,
        "title": "three windows",
    }
    launched = server.ask(LAUNCH, {"params": params})["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched

    def state() -> dict[str, object]:
        found: dict[str, object] = server.ask(STATE, {"id": launched["backfillId"]})[
            "partitionBackfillOrError"
        ]
        return found

    def is_done() -> bool:
        return str(state()["status"]).startswith(("COMPLETED", "FAILED", "CANCELED"))

    until(is_done, 420, lambda: f"{state()}\n{(folder / 'dagster.log').read_text()[-3000:]}")
    done = state()
    assert done["status"] == "COMPLETED_SUCCESS", (
        done,
        (folder / "dagster.log").read_text()[-3000:],
    )
    runs = done["runs"]
    assert isinstance(runs, list)
    assert [run["status"] for run in runs] == ["SUCCESS"]

    lake = lake_of(str(folder / "warehouse"))
    rows = lake.table("gold", "zoo", "pets").read().select("id", "name").collect()
    assert [tuple(row) for row in rows] == [(1, "Ava")]
    graves = lake.table("gold", "zoo", "pets__tombstones").read().select("id").collect()
    assert [row["id"] for row in graves] == [2]
    reasons = lake.table("quarantine", "zoo").read().select("window", "reason").collect()
    assert [tuple(row) for row in reasons] == [("2026-11-20T05", "damaged_record")]

    with dg.DagsterInstance.from_config(str(server.home)) as instance:
        made = instance.get_materialized_partitions(dg.AssetKey(["gold", "zoo", "pets"]))
        assert made == set(WINDOWS)
        checks = [
            record.event_log_entry.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
            for record in instance.get_records_for_run(
                runs[0]["runId"], of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION
            ).records
        ]
        passed = {check.check_name: check.passed for check in checks}
        assert passed["accounting_is_exact"]
        assert passed["one_row_per_key"]
        assert not passed["nothing_quarantined"]
