"""A sensor per feed: new drops ask for their window again, old windows too.

It lists the landing and compares each window's objects with those it saw last; it needs no Spark, and a run that it
asks for once too often is harmless, since bronze reads every object generation once. A window whose run failed is asked
for again, a few times and with more patience each time: a store that was away for a while costs nobody a backfill.
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json
import time
from collections.abc import Iterable

import dagster as dg

from assets.landing import LandedObject, open_landing
from assets.partitions import windows_of
from orchestration.jobs import job_name
from transforms.feed import Feed
from transforms.formats import FORMATS

RUNS_AT_ONCE = 24
"""How many windows one tick asks for: the rest follow on the next, so that a first look does not flood the queue."""

ATTEMPTS = 5
FIRST_PATIENCE = 300.0
"""How often one state of a window is asked for, and how many seconds after its first failure; then twice as many."""


def build(feed: Feed) -> dg.SensorDefinition:
    """Ask for every window whose objects are not those of the last look."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=60,
        description=f"Looks for new drops in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        seen: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
        now = digests(open_landing(feed, FORMATS[feed.format].files).list())
        known = windows_of(feed)
        asked = [
            window
            for window, digest in sorted(now.items())
            # A date in a path may be wrong or still to come: what is no partition would stop the whole tick.
            if seen.get(window) != digest and known.has_partition_key(window)
        ][:RUNS_AT_ONCE]
        keys = {window: f"{window}:{now[window]}" for window in asked}
        keys |= again(
            context.instance, feed, {window: now[window] for window in seen if window in now}
        )
        if not keys:
            return dg.SkipReason(f"no new drops in {feed.landing}")
        requests = [
            dg.RunRequest(run_key=key, partition_key=window, tags={"feed": feed.name})
            for window, key in sorted(keys.items())
        ]
        cursor = json.dumps(seen | {window: now[window] for window in asked}, sort_keys=True)
        return dg.SensorResult(run_requests=requests, cursor=cursor)

    return drops


def again(instance: dg.DagsterInstance, feed: Feed, now: dict[str, str]) -> dict[str, str]:
    """A new run key for every window whose last run failed some time ago, while its drops are still the same."""
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    keys: dict[str, str] = {}
    judged = set()
    # Newest first: only the last run of a window counts.
    for record in instance.get_run_records(filters, limit=20 * RUNS_AT_ONCE):
        run = record.dagster_run
        window, _, rest = run.tags.get("dagster/run_key", "").partition(":")
        if not window or window in judged:
            continue
        judged.add(window)
        digest, _, attempt = rest.partition(":")
        number = int(attempt or 1)
        patience = FIRST_PATIENCE * 2 ** (number - 1)
        failed = run.status == dg.DagsterRunStatus.FAILURE and number < ATTEMPTS
        if failed and digest == now.get(window) and age(record) > patience:
            keys[window] = f"{window}:{digest}:{number + 1}"
    return keys


def age(record: dg.RunRecord) -> float:
    """Seconds since the run ended."""
    return time.time() - (record.end_time or record.update_timestamp.timestamp())


def digests(objects: Iterable[LandedObject]) -> dict[str, str]:
    """One short digest per window, of its objects' names and generations in any order."""
    names: dict[str, list[str]] = {}
    for one in objects:
        names.setdefault(one.window, []).append(f"{one.name}\n{one.generation}\n")
    return {
        window: hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16]
        for window, lines in names.items()
    }
