"""A sensor per feed: new drops ask for their window again, old windows too.

It lists the landing and compares each window's objects with those it saw last; it needs no Spark, and a run that it
asks for once too often is harmless, since bronze reads every object generation once.
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json
from collections.abc import Iterable

import dagster as dg

from assets.landing import LandedObject, open_landing
from assets.partitions import windows_of
from orchestration.jobs import job_name
from transforms.feed import Feed
from transforms.formats import FORMATS

RUNS_AT_ONCE = 24
"""How many windows one tick asks for: the rest follow on the next, so that a first look does not flood the queue."""


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
        if not asked:
            return dg.SkipReason(f"no new drops in {feed.landing}")
        requests = [
            dg.RunRequest(
                run_key=f"{window}:{now[window]}", partition_key=window, tags={"feed": feed.name}
            )
            for window in asked
        ]
        cursor = json.dumps(seen | {window: now[window] for window in asked}, sort_keys=True)
        return dg.SensorResult(run_requests=requests, cursor=cursor)

    return drops


def digests(objects: Iterable[LandedObject]) -> dict[str, str]:
    """One short digest per window, of its objects' names and generations in any order."""
    names: dict[str, list[str]] = {}
    for one in objects:
        names.setdefault(one.window, []).append(f"{one.name}\n{one.generation}\n")
    return {
        window: hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16]
        for window, lines in names.items()
    }
