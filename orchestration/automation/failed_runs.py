"""Windows whose run failed, asked for again: a few times, and with more patience each time.

A store that was away for a while costs nobody a backfill. A run of several windows is asked for again in two halves, so
that one window that cannot be done keeps the others waiting for a while, and not for ever.
Put here what the sensors share about runs that failed. Not here: how a sensor finds what is new (``object_sensor``,
``topic_sensor``), and how a range becomes a request (``range_requests``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator

import dagster as dg

from orchestration.automation.jobs import job_name
from orchestration.automation.range_requests import RUNS_AT_ONCE, request_for
from orchestration.runs.ranges import ranges_of
from orchestration.watching.run_windows import name_of, windows_of_run
from transforms.feed.feed import Feed

LOOKED_AT = 20 * RUNS_AT_ONCE
"""How many of the last runs are looked at for failures."""

ATTEMPTS = 5
"""How often a window alone is asked for at most while its drops are the same."""

FIRST_PATIENCE = 300.0
"""How many seconds after its first failure a window is asked for again; twice as many after each further one."""


def again(
    instance: dg.DagsterInstance,
    feed: Feed,
    still_due: Callable[[Collection[str]], Collection[str]],
) -> list[dg.RunRequest]:
    """A new request for windows whose last run failed some time ago, and that are still due.

    Args:
        instance: Dagster's, with the history of runs.
        feed: The feed.
        still_due: Given windows whose run failed, those that are due as they were: nothing more was asked for since,
            and no other run has finished them. It is called where a run failed, and not otherwise.
    """
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    requests: list[dg.RunRequest] = []
    seen: set[str] = set()
    # Newest first: only the last run of a window counts.
    for record in instance.get_run_records(filters, limit=LOOKED_AT):
        run = record.dagster_run
        # Runs of a sensor alone: their keys are ``windows:state`` or ``windows:state:attempt``.
        state, _, attempt = run.tags.get("dagster/run_key", "").partition(":")[2].partition(":")
        if not state:
            continue
        windows = [window for window in windows_of_run(feed, run.tags) if window not in seen]
        seen.update(windows)
        number = int(attempt or 1)
        if run.status != dg.DagsterRunStatus.FAILURE or age(record) <= patience(number):
            continue
        due = sorted(still_due(windows)) if windows else []
        if len(due) > 1 or number < ATTEMPTS:
            requests += [
                request_for(feed, *ends, f"{name_of(*ends)}:{state}:{number + 1}")
                for half in halves(due)
                for ends in ranges_of(half, feed.window, {*windows}.difference(half))
            ]
    return requests[:RUNS_AT_ONCE]


def halves(windows: list[str]) -> Iterator[list[str]]:
    """The windows in two halves; those of one window, or of none, as they are."""
    middle = len(windows) // 2
    yield from filter(None, (windows[:middle], windows[middle:]))


def patience(attempt: int) -> float:
    """How many seconds after this attempt failed there may be another."""
    return FIRST_PATIENCE * 2.0 ** (min(attempt, ATTEMPTS) - 1)


def age(record: dg.RunRecord) -> float:
    """Seconds since the run ended."""
    return time.time() - (record.end_time or record.update_timestamp.timestamp())
