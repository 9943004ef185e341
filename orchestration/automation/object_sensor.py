"""A sensor per feed: new drops ask for their window again, old windows too.

It lists the landing and asks for the windows with objects that bronze does not have, as far as its ledger says; it
needs no Spark, and a run that it asks for once too often is harmless, since bronze reads every object generation once.
Its cursor names the windows that it has asked for and that are not read yet, and no others, so that it does not grow
with the landing. A window whose run failed is asked for again, a few times and with more patience each time: a store
that was away for a while costs nobody a backfill.
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime

import dagster as dg

from assets.bookkeeping import ledger
from assets.bookkeeping.ledger import ReadObject
from assets.lake import Lake
from assets.landing.landings import open_landing
from assets.landing.objects import LandedObject
from assets.partitions import bounds
from orchestration.automation.jobs import job_name
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

RUNS_AT_ONCE = 24
"""How many windows one tick asks for: the rest follow on the next, so that a first look does not flood the queue."""

LOOKED_AT = 20 * RUNS_AT_ONCE
"""So many of the last runs are looked at for failures."""

ATTEMPTS = 5
FIRST_PATIENCE = 300.0
"""How often one state of a window is asked for, and how many seconds after its first failure; then twice as many."""


def build(feed: Feed, lake: Lake) -> dg.SensorDefinition:
    """Ask for every window with objects that are not read, once for each state of them."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=60,
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
        keys = {window: f"{window}:{now[window]}" for window in new}
        keys |= again(context.instance, feed, now)
        cursor = json.dumps(waiting | {window: now[window] for window in new}, sort_keys=True)
        if not keys:
            context.update_cursor(cursor)
            return dg.SkipReason(f"no new drops in {feed.landing}")
        requests = [
            dg.RunRequest(run_key=key, partition_key=window, tags={"feed": feed.name})
            for window, key in sorted(keys.items())
        ]
        return dg.SensorResult(run_requests=requests, cursor=cursor)

    return drops


def unread_windows(objects: Iterable[LandedObject], known: Iterable[ReadObject]) -> set[str]:
    """The windows of objects that are not known in the generation that they have now."""
    read = {(one.name, one.generation) for one in known}
    return {one.window for one in objects if (one.name, one.generation) not in read}


def again(instance: dg.DagsterInstance, feed: Feed, now: dict[str, str]) -> dict[str, str]:
    """A new run key for every window whose last run failed some time ago, while its drops are still the same."""
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    keys: dict[str, str] = {}
    judged = set()
    # Newest first: only the last run of a window counts.
    for record in instance.get_run_records(filters, limit=LOOKED_AT):
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
