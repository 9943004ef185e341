"""A sensor per feed of topics: new records ask for their windows.

It reads the timestamps of what is new, a bounded while per tick, and needs no Spark. A run of any window brings all new
records to bronze; the windows that the others are in are asked for by this sensor, in this tick or a later one. Failed
runs are asked for again as those of other feeds are (``sensors``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json

import dagster as dg

from assets import kafka_peek
from assets.partitions import windows_of
from orchestration.jobs import job_name
from orchestration.sensors import RUNS_AT_ONCE, again
from transforms.feed import Feed


def build(feed: Feed) -> dg.SensorDefinition:
    """Ask for every window that records have come into since the last look."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=60,
        description=f"Looks for new records in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        cursor = json.loads(context.cursor) if context.cursor else {}
        # ``windows``: by which state of the topics a window was asked for; ``waiting``: not asked for yet.
        asked: dict[str, str] = cursor.get("windows", {})
        found, offsets = kafka_peek.new_windows(feed, cursor.get("offsets", {}))
        state = hashlib.sha256(json.dumps(offsets, sort_keys=True).encode()).hexdigest()[:16]
        waiting: dict[str, str] = cursor.get("waiting", {}) | dict.fromkeys(found, state)
        known = windows_of(feed)
        # A timestamp may be of the future: such a window waits until it begins.
        ready = [one for one in sorted(waiting) if known.has_partition_key(one)][:RUNS_AT_ONCE]
        keys = again(context.instance, feed, asked)
        for window in ready:
            asked[window] = waiting.pop(window)
            keys[window] = f"{window}:{asked[window]}"
        told = json.dumps(
            {"offsets": offsets, "windows": asked, "waiting": waiting}, sort_keys=True
        )
        if not keys:
            context.update_cursor(told)
            return dg.SkipReason(f"no new records in {feed.landing}")
        requests = [
            dg.RunRequest(run_key=key, partition_key=window, tags={"feed": feed.name})
            for window, key in sorted(keys.items())
        ]
        return dg.SensorResult(run_requests=requests, cursor=told)

    return drops
