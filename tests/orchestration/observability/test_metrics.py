"""The metrics of a run: what is counted, both forms of writing it down, and the folder that it goes to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from prometheus_client import parser as prometheus
from prometheus_client.openmetrics import parser as openmetrics

from assets.control.run_history import TableSize
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from orchestration import definitions
from orchestration.automation.jobs import job_name
from orchestration.observability import metrics
from orchestration.observability.metrics import RunMetrics, text_of
from orchestration.observability.run_tags import RANGE
from tests.support.pet_feed import PETS, change, drop, lay
from transforms.feed.feed import Feed

# Dagster's own, of its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NOW = datetime(2025, 11, 20, 9, tzinfo=UTC)
FIRST, SECOND = "2025-11-20T00", "2025-11-20T01"
MADE = RunMetrics(
    *("zoo", "0123456789", [FIRST, SECOND], NOW, NOW + timedelta(seconds=2.5)),
    events={"events": 7, "changes": 5, "quarantined": 2},
    steps={"bronze__zoo": 0.25, 'odd "name"\\\n': 1.0},
    checks={"passed": 9, "warned": 1, "failed": 0},
    gold=[TableSize("pets", 12_345_678, 3), TableSize('od"d\\', 1, 0)],
    newest_in_gold=NOW,
)


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    ada = {"id": "1", "name": "Ada"}
    lay(tmp_path / "drops", "2025-11-20/00/a.json", drop(change("I", 1, after=ada), "{"))
    lay(tmp_path / "drops", "2025-11-20/01/a.json", drop(change("D", 2, before=ada)))
    return Feed("zoo", "arcion_s3_json", str(tmp_path / "drops"), tables={"pets": PETS})


Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read_strictly(text: str) -> Numbers:
    """What a strict reader of OpenMetrics finds: the number of each metric and its labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in openmetrics.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for sample in family.samples
    }


def of(numbers: Numbers, name: str, **labels: str) -> float:
    return numbers[f"weir_{name}", frozenset({"feed": "zoo", **labels}.items())]


def test_the_text_is_openmetrics_and_prometheus_reads_it_too() -> None:
    text = text_of(MADE)
    found = read_strictly(text)
    assert of(found, "run_succeeded") == 1
    assert of(found, "run_duration_seconds") == 2.5
    assert of(found, "run_events", outcome="quarantined") == 2
    assert of(found, "gold_rows", table="pets") == 12_345_678
    assert of(found, "gold_rows", table='od"d\\') == 1
    assert of(found, "run_step_duration_seconds", step='odd "name"\\\n') == 1
    assert of(found, "gold_newest_window_end_time_seconds") == NOW.timestamp()
    # node_exporter reads the older form, of which this is a part.
    older = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in prometheus.text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert older == found
    with pytest.raises(ValueError, match="EOF"):
        read_strictly(text.removesuffix("# EOF\n"))


def test_a_failed_run_says_so() -> None:
    failed = replace(MADE, failed=["gold_zoo"], newest_in_gold=None)
    found = read_strictly(text_of(failed))
    assert of(found, "run_succeeded") == 0
    assert "newest_window" not in text_of(failed)
    read = json.loads(metrics.json_of(failed))
    assert (read["succeeded"], read["failed"]) == (False, ["gold_zoo"])


def ran(lake: Lake, feed: Feed, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = definitions.build([feed], lake).resolve_job_def(job_name(feed))
    tags = dict(zip(RANGE, (FIRST, SECOND), strict=True))
    return job.execute_in_process(instance=instance, raise_on_error=False, tags=tags)


def test_each_run_keeps_its_json_and_puts_its_text_in_place_of_the_last(
    tmp_path: Path,
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "metrics"
    monkeypatch.setenv(metrics.FOLDER, str(folder))
    first = ran(lake, feed, instance)
    (kept,) = (folder / "runs" / "zoo").iterdir()
    read = json.loads(kept.read_text())
    assert read["run"] == first.run_id
    assert read["succeeded"] is True
    assert read["windows"] == {"first": FIRST, "last": SECOND, "count": 2}
    assert read["events"]["events"] == 3
    assert read["events"]["quarantined"] == 1
    assert read["gold"] == [{"name": "pets", "rows": 0, "tombstones": 1}]
    assert read["newest_in_gold"] == "2025-11-20T02:00:00.000Z"
    assert read["checks"]["passed"] > 10
    assert read["checks"]["warned"] == 1
    assert set(read["steps"]) >= {"bronze_zoo", "silver_zoo", "gold_zoo", "progress_zoo"}
    text = folder / "weir_zoo.prom"
    found = read_strictly(text.read_text())
    assert of(found, "run_events", outcome="changes") == 2

    # A run that fails: its metrics say so, and the text is its own.
    with writing(lake, Layer.GOLD, "zoo", "pets"):
        second = ran(lake, feed, instance)
    assert not second.success
    assert len([*(folder / "runs" / "zoo").iterdir()]) == 2
    (newest,) = (folder / "runs" / "zoo").glob(f"*{second.run_id[:8]}*")
    assert json.loads(newest.read_text())["failed"] == ["gold_zoo"]
    assert of(read_strictly(text.read_text()), "run_succeeded") == 0
    assert sorted(one.name for one in folder.iterdir()) == ["runs", "weir_zoo.prom"]


def test_metrics_that_cannot_be_written_fail_no_run(
    tmp_path: Path,
    lake: Lake,
    feed: Feed,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a_file").write_text("in the way")
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path / "a_file"))
    result = ran(lake, feed, instance)
    assert result.success
    logged = [entry.user_message for entry in instance.all_logs(result.run_id)]
    assert any(re.match(r"zoo: the metrics were not written to .*a_file: ", one) for one in logged)
