"""What a run came to, in numbers: from Weir's own small tables, and from what Dagster noted of its steps and checks.

Put here a number that a run has. Not here: how the numbers are written down (``open_metrics``, ``metrics_files``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import dagster as dg

from assets.bookkeeping import accounting, gold_sizes, window_progress
from assets.bookkeeping.gold_sizes import EndedRun, TableSize
from assets.lake import Lake
from assets.layers import Layer
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.silver.accounting import OUTCOMES


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
    in_gold = lake.in_process_table(
        Layer.PROGRESS, feed.name, columns=window_progress.PROGRESS
    ).rows(["window"])
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
        gold=gold_sizes.sizes_now(lake, feed),
        newest_in_gold=None
        if newest is None
        else parse_window(newest, feed.window) + STEPS[feed.window],
    )


def _events(lake: Lake, feed: Feed, windows: Sequence[str]) -> dict[str, int]:
    names = ("events", *OUTCOMES)
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    rows = accounts.rows(["window", *names], {"window": windows})
    return {name: sum(row[name] or 0 for row in rows) for name in names}


def _checks(instance: dg.DagsterInstance, run: str) -> dict[str, int]:
    counts = Counter({"passed": 0, "warned": 0, "failed": 0})
    for entry in instance.all_logs(run, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        event = entry.dagster_event
        if event is None:
            continue
        found = event.asset_check_evaluation_data
        is_warning = found.severity == dg.AssetCheckSeverity.WARN
        counts["passed" if found.passed else "warned" if is_warning else "failed"] += 1
    return dict(counts)
