"""Where metrics go: into the folder that ``WEIR_METRICS`` names, or below that address in S3; nowhere by default.

``weir_<feed>.prom`` is overwritten by each run; ``runs/<feed>/<when>-<run>.json`` stays. Put here how they are stored,
and when. Not here: what they say (``run_metrics``, ``open_metrics``).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime

import dagster as dg

from assets.bookkeeping.gold_sizes import EndedRun
from assets.lake import Lake
from orchestration.watching.metrics.open_metrics import text_of
from orchestration.watching.metrics.run_metrics import RunMetrics, metrics_of
from orchestration.watching.pages import store
from orchestration.watching.run_windows import windows_of_run
from transforms.addresses import has_credentials
from transforms.feed.feed import Feed

FOLDER = "WEIR_METRICS"


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
        store(f"{folder}/runs/{feed.name}/{name}.json", json_of(metrics), "application/json")
        store(f"{folder}/weir_{feed.name}.prom", text_of(metrics), OPEN_METRICS)
    except Exception as fault:  # a run that is over has not failed because of its metrics
        return f"{feed.name}: the metrics were not written to {folder}: {fault}"
    return None


OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


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
