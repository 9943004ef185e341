"""The sensor of a feed of topics: it asks for runs of the windows that new records belong to.

It reads the timestamps of what is new, for a bounded time per tick, and needs no Spark. A run of any window brings
all new records to bronze; the sensor asks for the windows of the others in this tick or a later one. Its cursor keeps
the windows that it asked for last, and as ranges those that it has yet to ask for, so that it does not grow with the
topic.
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import dagster as dg

from assets.control import ledger
from assets.landing import kafka
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.automation import missing_windows
from orchestration.automation.jobs import job_name, seconds_between_looks, sensor_status
from orchestration.automation.missing_windows import before_start
from orchestration.automation.run_requests import (
    RUNS_AT_ONCE,
    WINDOWS_AT_ONCE,
    ranges_of,
    request_for,
    requests_after_failure,
)
from orchestration.observability.run_tags import name_of
from transforms.feed.feed import Feed
from transforms.feed.windows import bounds, contiguous_ranges, windows_between


def build(feed: Feed, lake: Lake) -> dg.SensorDefinition:
    """Ask for every window that records have come into since the last look."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=seconds_between_looks(feed),
        default_status=sensor_status(feed),
        description=f"Looks for new records in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        cursor = json.loads(context.cursor) if context.cursor else {}
        # ``windows``: the state of the topics that each was asked for in; ``waiting``: those not asked for yet.
        asked: dict[str, str] = cursor.get("windows", {})
        found, offsets, undecided = kafka.new_windows(feed, cursor.get("offsets", {}))
        state = hashlib.sha256(json.dumps(offsets, sort_keys=True).encode()).hexdigest()[:16]
        left = cursor.get("waiting", [])
        waiting = found.union(*(windows_between(one, last, feed.window) for one, last in left))
        first, last = bounds(feed, datetime.now(UTC))
        # A timestamp may be of the future: such a window waits until it begins.
        ready = [window for window in sorted(waiting) if first <= window <= last]
        # Windows that bronze has, and that have no new records, are in no range.
        read = {one.window for one in ledger.noted_objects(lake, feed)}
        ranges = ranges_of(ready[:WINDOWS_AT_ONCE], feed.window, read)[:RUNS_AT_ONCE]
        ready = [window for window in ready if ranges and window <= ranges[-1][1]]
        if early := before_start(feed, waiting):
            context.log.warning(early)
        requests = [request_for(feed, *ends, f"{name_of(*ends)}:{state}") for ends in ranges]

        def still_due(windows: Collection[str]) -> set[str]:
            # A run that failed may have read nothing: by what was asked for alone, it is not known whether it has.
            return {*windows}.intersection(asked).difference(ready)

        requests += requests_after_failure(context.instance, feed, still_due)
        # Last in the order, behind those that were asked for before.
        asked = {one: asked[one] for one in asked if one not in ready} | dict.fromkeys(ready, state)
        remembered = dict([*asked.items()][-WINDOWS_AT_ONCE:])
        rest = contiguous_ranges(waiting - {*ready}, feed.window)
        new_cursor = json.dumps({"offsets": offsets, "windows": remembered, "waiting": rest})
        if not requests:
            context.update_cursor(new_cursor)
            nothing = f"no new records in {feed.landing}: {looked_at(offsets)}"
            quiet = missing_windows.mark_quiet(context, feed, {*read, *asked, *waiting})
            return dg.SkipReason("; ".join([nothing, *quiet, *undecided]))
        return dg.SensorResult(run_requests=requests, cursor=new_cursor)

    return drops


def looked_at(offsets: Mapping[str, int]) -> str:
    """Up to where a look has come: ``orders/0 up to offset 12``; of many partitions the first few."""
    few = [f"{name.split()[0]} up to offset {end:,}" for name, end in sorted(offsets.items())[:3]]
    more = len(offsets) - len(few)
    return ", ".join([*few, *([f"and {counted(more, 'more partition')}"] if more else [])])
