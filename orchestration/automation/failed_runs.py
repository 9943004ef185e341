"""Windows whose run failed, asked for again: a few times, and with more patience each time.

A store that was away for a while costs nobody a backfill. Put here what the sensors share about runs that failed. Not
here: how a sensor finds what is new (``object_sensor``, ``topic_sensor``).
"""

from __future__ import annotations

import time

import dagster as dg

from orchestration.automation.jobs import job_name
from transforms.feed.feed import Feed

RUNS_AT_ONCE = 24
"""How many windows one tick asks for: the rest follow on the next, so that a first look does not flood the queue."""

LOOKED_AT = 20 * RUNS_AT_ONCE
"""How many of the last runs are looked at for failures."""

ATTEMPTS = 5
"""How often a window is asked for at most while its drops are the same."""

FIRST_PATIENCE = 300.0
"""How many seconds after its first failure a window is asked for again; twice as many after each further one."""


def again(instance: dg.DagsterInstance, feed: Feed, now: dict[str, str]) -> dict[str, str]:
    """A new run key, by window, for every window whose last run failed some time ago, if its drops are still the same.

    ``now`` has the digest of each window's drops as they are now.
    """
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    keys: dict[str, str] = {}
    seen = set()
    # Newest first: only the last run of a window counts.
    for record in instance.get_run_records(filters, limit=LOOKED_AT):
        run = record.dagster_run
        window, _, rest = run.tags.get("dagster/run_key", "").partition(":")
        if not window or window in seen:
            continue
        seen.add(window)
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
