"""A sensor per feed of topics: the windows of new records are run.

It reads the timestamps of what is new, for a bounded time per tick, and needs no Spark. A run of any window brings all
new records to bronze; the sensor asks for the windows of the others in this tick or a later one. Its cursor keeps the
windows that it asked for last, and as ranges those that it has yet to ask for, so that it does not grow with the topic.
Put here what topics ask for. Not here: files (``object_sensor``), and runs that failed (``failed_runs``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg

from assets.landing.kafka import peek
from assets.partitions import bounds
from orchestration.automation.failed_runs import LOOKED_AT, RUNS_AT_ONCE, again
from orchestration.automation.jobs import job_name, sensor_status
from orchestration.runs.first_window import before_start
from transforms.feed.feed import Feed
from transforms.feed.windows import contiguous_ranges, windows_between

REMEMBERED = LOOKED_AT
"""For how many windows the cursor keeps the state they were asked for in: no more runs are looked at, either."""


def build(feed: Feed) -> dg.SensorDefinition:
    """Ask for every window that records have come into since the last look."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=60,
        default_status=sensor_status(feed),
        description=f"Looks for new records in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        cursor = json.loads(context.cursor) if context.cursor else {}
        # ``windows``: the state of the topics that each was asked for in; ``waiting``: those not asked for yet.
        asked: dict[str, str] = cursor.get("windows", {})
        found, offsets, undecided = peek.new_windows(feed, cursor.get("offsets", {}))
        state = hashlib.sha256(json.dumps(offsets, sort_keys=True).encode()).hexdigest()[:16]
        waiting = found | windows_in(cursor.get("waiting", []), feed)
        first, last = bounds(feed, datetime.now(UTC))
        # A timestamp may be of the future: such a window waits until it begins.
        ready = [window for window in sorted(waiting) if first <= window <= last][:RUNS_AT_ONCE]
        if early := before_start(feed, waiting):
            context.log.warning(early)
        keys = again(context.instance, feed, asked)
        for window in ready:
            # Last in the order, behind those that were asked for before.
            asked.pop(window, None)
            asked[window] = state
            keys[window] = f"{window}:{state}"
        new_cursor = json.dumps(
            {
                "offsets": offsets,
                "windows": dict([*asked.items()][-REMEMBERED:]),
                "waiting": contiguous_ranges(waiting - {*ready}, feed.window),
            }
        )
        if not keys:
            context.update_cursor(new_cursor)
            return dg.SkipReason("; ".join([f"no new records in {feed.landing}", *undecided]))
        requests = [
            dg.RunRequest(run_key=key, partition_key=window, tags={"feed": feed.name})
            for window, key in sorted(keys.items())
        ]
        return dg.SensorResult(run_requests=requests, cursor=new_cursor)

    return drops


def windows_in(ranges: Mapping[str, str] | Sequence[tuple[str, str]], feed: Feed) -> set[str]:
    """The windows of some ranges; an earlier version named each with a state."""
    if isinstance(ranges, Mapping):
        return {*ranges}
    return {
        window for first, last in ranges for window in windows_between(first, last, feed.window)
    }
