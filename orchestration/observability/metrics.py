"""The metrics of each run, for programs that watch: JSON, and OpenMetrics text for Prometheus.

They go into the folder that ``WEIR_METRICS`` names, or below that address in S3; nowhere by default.
``weir_<feed>.prom`` is overwritten by each run; ``runs/<feed>/<when>-<run>.json`` stays.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import dagster as dg

from assets.control import run_history
from assets.control.run_history import EndedRun, TableSize
from assets.quality.checks import fails_run
from assets.storage.lake import Lake, Layer
from assets.storage.stored_text import store_text
from orchestration.observability.run_tags import windows_of_run
from transforms.addresses import has_credentials
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.silver.accounting import OUTCOMES

FOLDER = "WEIR_METRICS"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """One run of a feed.

    ``failed``: the steps that failed. ``events``: what became of the events of the run's windows, with ``events`` their
    sum. ``steps``: how many seconds each step took. ``checks``: how many passed, warned and failed. ``gold``: the
    tables as they are now. ``newest_in_gold``: when the newest window that is in gold ended.
    """

    feed: str
    run: str
    windows: Sequence[str]
    started_at: datetime
    ended_at: datetime
    failed: Sequence[str] = ()
    events: Mapping[str, int] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    checks: Mapping[str, int] = field(default_factory=dict)
    gold: Sequence[TableSize] = ()
    newest_in_gold: datetime | None = None

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return (self.ended_at - self.started_at).total_seconds()


def metrics_of(lake: Lake, feed: Feed, ended: EndedRun, instance: dg.DagsterInstance) -> RunMetrics:
    """The metrics of a run that is over, or as good as."""
    stats = instance.get_run_step_stats(ended.run)
    begun = [one.start_time for one in stats if one.start_time is not None]
    in_gold = lake.in_process_table(Layer.PROGRESS, feed.name).rows(["window"])
    newest = max((row["window"] for row in in_gold), default=None)
    return RunMetrics(
        feed=feed.name,
        run=ended.run,
        windows=[*ended.windows],
        started_at=datetime.fromtimestamp(min(begun), UTC) if begun else ended.ended_at,
        ended_at=ended.ended_at,
        failed=[one.step_key for one in stats if one.status and one.status.value == "FAILURE"],
        events=_events(lake, feed, ended.windows),
        steps={
            one.step_key: round(one.end_time - one.start_time, 3)
            for one in stats
            if one.start_time is not None and one.end_time is not None
        },
        checks=_checks(instance, ended.run),
        gold=run_history.sizes_now(lake, feed),
        newest_in_gold=None
        if newest is None
        else parse_window(newest, feed.window) + STEPS[feed.window],
    )


def _events(lake: Lake, feed: Feed, windows: Sequence[str]) -> dict[str, int]:
    names = ("events", *OUTCOMES)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    rows = accounts.rows(["window", *names], {"window": windows})
    return {name: sum(row[name] for row in rows) for name in names}


def _checks(instance: dg.DagsterInstance, run: str) -> dict[str, int]:
    counts = Counter({"passed": 0, "warned": 0, "failed": 0})
    for entry in instance.all_logs(run, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        event = entry.dagster_event
        if event is None:
            continue
        found = event.asset_check_evaluation_data
        counts["failed" if fails_run(found) else "passed" if found.passed else "warned"] += 1
    return dict(counts)


class Family(NamedTuple):
    """One metric: its name behind ``weir_``, what it says, and its numbers by the values of its ``label``, if any."""

    name: str
    says: str
    numbers: Sequence[tuple[str, float]]
    label: str = ""


def text_of(run: RunMetrics) -> str:
    """The metrics of a run as OpenMetrics text: gauges, of which the next run's take the place."""
    return in_open_metrics(run.feed, _families(run))


def _families(run: RunMetrics) -> Iterator[Family]:
    def single(name: str, says: str, number: float) -> Family:
        return Family(name, says, [("", number)])

    yield single("run_succeeded", "1 where the last run ended well, else 0", not run.failed)
    yield single("run_end_time_seconds", "When the last run ended", run.ended_at.timestamp())
    yield single("run_duration_seconds", "How long the last run took", run.seconds)
    yield single("run_windows", "How many windows the last run had", len(run.windows))
    events = [(name, run.events.get(name, 0)) for name in OUTCOMES]
    says = "Source events of the windows of the last run, by what became of them"
    yield Family("run_events", says, events, "outcome")
    says = "How long each step of the last run took"
    yield Family("run_step_duration_seconds", says, [*run.steps.items()], "step")
    says = "Checks of the last run, by their result"
    yield Family("run_checks", says, [*run.checks.items()], "result")
    rows = [(one.name, one.rows) for one in run.gold]
    yield Family("gold_rows", "Rows of each gold table", rows, "table")
    dead = [(one.name, one.tombstones) for one in run.gold]
    yield Family("gold_tombstones", "Tombstones of each gold table", dead, "table")
    if run.newest_in_gold is not None:
        says = "When the newest window that is in gold ended"
        moment = run.newest_in_gold.timestamp()
        yield single("gold_newest_window_end_time_seconds", says, moment)


def in_open_metrics(feed: str, families: Iterable[Family]) -> str:
    """Metrics of a feed as OpenMetrics text: gauges, each with the unit that ends its name."""
    # Imported late: a run of which nobody wants metrics need not wait for it.
    from prometheus_client import CollectorRegistry, Gauge
    from prometheus_client.openmetrics.exposition import generate_latest

    registry = CollectorRegistry()
    for one in families:
        unit = next((unit for unit in _UNITS if one.name.endswith(f"_{unit}")), "")
        labels = ["feed", *([one.label] if one.label else [])]
        made = Gauge(f"weir_{one.name}", one.says, labels, unit=unit, registry=registry)
        for value, number in one.numbers:
            made.labels(feed, *([value] if one.label else [])).set(number)
    text: str = generate_latest(registry).decode()  # type: ignore[no-untyped-call]
    return text


_UNITS = ("seconds", "bytes")


def write(lake: Lake, feed: Feed, ended: EndedRun, instance: dg.DagsterInstance) -> str | None:
    """Write the metrics of a run, if somebody wants them; returns why they could not be written, else None."""
    folder = os.environ.get(FOLDER, "").strip().rstrip("/")
    if not folder:
        return None
    if has_credentials(folder):
        return f"{feed.name}: the metrics were not written: {FOLDER} has credentials in it; a store's belong into AWS_…"
    try:
        metrics = metrics_of(lake, feed, ended, instance)
        name = f"{metrics.ended_at:%Y%m%dT%H%M%SZ}-{metrics.run[:8]}"
        store_text(f"{folder}/runs/{feed.name}/{name}.json", json_of(metrics), "application/json")
        store_text(f"{folder}/weir_{feed.name}.prom", text_of(metrics), OPEN_METRICS)
    except Exception as fault:  # a run that is over has not failed because of its metrics
        return f"{feed.name}: the metrics were not written to {folder}: {fault}"
    return None


def json_of(metrics: RunMetrics) -> str:
    """The metrics of a run as JSON: the parts of ``RunMetrics`` under their names, and ``succeeded``, ``seconds``."""
    parts = asdict(metrics) | {"succeeded": not metrics.failed, "seconds": metrics.seconds}
    windows = metrics.windows
    parts["windows"] = {"first": windows[0], "last": windows[-1], "count": len(windows)}
    return json.dumps(parts, indent=2, default=_as_text) + "\n"


def _as_text(moment: object) -> str:
    assert isinstance(moment, datetime)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def on_failure(feed: Feed) -> dg.HookDefinition:
    """What a job of the feed does where a step of it fails: the metrics of the run say so."""

    @dg.failure_hook(name=f"metrics_of_failed_{feed.name}", required_resource_keys={"lake"})
    def metrics_of_failed(context: dg.HookContext) -> None:
        run = context.instance.get_run_by_id(context.run_id)
        windows = windows_of_run(feed, {} if run is None else run.tags)
        ended = EndedRun(context.run_id, datetime.now(UTC), windows)
        fault = write(context.resources.lake, feed, ended, context.instance)
        if fault:
            context.log.warning(fault)

    return metrics_of_failed
