"""A sensor per feed of files: a window with new drops is run, an old window too.

It lists the landing and asks for the windows with objects that bronze does not have, as far as its ledger says. It
needs no Spark, and a run that it asks for once too often is harmless, since bronze reads every object generation once.
Its cursor names the windows that it has asked for and that are not read yet, and no others, so that it does not grow
with the landing.
Put here what a landing of files asks for. Not here: topics (``topic_sensor``), and runs that failed (``failed_runs``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime

import dagster as dg

from assets.bookkeeping import ledger
from assets.bookkeeping.ledger import ReadObject
from assets.lake import Lake
from assets.landing.landings import open_landing
from assets.landing.objects import LandedObject
from assets.partitions import bounds
from orchestration.automation.failed_runs import RUNS_AT_ONCE, again
from orchestration.automation.jobs import job_name, sensor_status
from orchestration.runs.first_window import before_start
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


def build(feed: Feed, lake: Lake) -> dg.SensorDefinition:
    """Ask for every window with objects that are not read, once for each state of them."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=60,
        default_status=sensor_status(feed),
        description=f"Looks for new drops in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        asked: dict[str, str] = json.loads(context.cursor) if context.cursor else {}
        objects = [*open_landing(feed, FORMATS[feed.format].files).list()]
        now, (first, last) = digests(objects), bounds(feed, datetime.now(UTC))
        unread = unread_windows(objects, ledger.noted_objects(lake, feed))
        waiting = {window: digest for window, digest in asked.items() if window in unread}
        new = [
            window
            for window in sorted(unread)
            # A date in a path may be wrong or still to come: what is no partition would stop the whole tick.
            if waiting.get(window) != now[window] and first <= window <= last
        ][:RUNS_AT_ONCE]
        if early := before_start(feed, unread):
            context.log.warning(early)
        keys = {window: f"{window}:{now[window]}" for window in new}
        keys |= again(context.instance, feed, now)
        cursor = json.dumps(waiting | {window: now[window] for window in new}, sort_keys=True)
        if not keys:
            context.update_cursor(cursor)
            return dg.SkipReason(
                "; ".join(filter(None, [f"no new drops in {feed.landing}", early]))
            )
        requests = [
            dg.RunRequest(run_key=key, partition_key=window, tags={"feed": feed.name})
            for window, key in sorted(keys.items())
        ]
        return dg.SensorResult(run_requests=requests, cursor=cursor)

    return drops


def unread_windows(objects: Iterable[LandedObject], known: Iterable[ReadObject]) -> set[str]:
    """The windows of objects that are not known in the generation that they have now."""
    read = {(drop.name, drop.generation) for drop in known}
    return {drop.window for drop in objects if (drop.name, drop.generation) not in read}


def digests(objects: Iterable[LandedObject]) -> dict[str, str]:
    """One short digest per window, of its objects' names and generations in any order."""
    names: dict[str, list[str]] = {}
    for drop in objects:
        names.setdefault(drop.window, []).append(f"{drop.name}\n{drop.generation}\n")
    return {
        window: hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16]
        for window, lines in names.items()
    }
