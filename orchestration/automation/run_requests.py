"""The run requests of sensors and schedules: for ranges of windows, and again for windows whose run failed."""

from __future__ import annotations

import hashlib
import time
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping

import dagster as dg

from orchestration.automation.jobs import job_name
from orchestration.observability.run_tags import RANGE, name_of, tags_of, windows_of_run
from transforms.feed.feed import Feed, WindowSize
from transforms.feed.windows import STEPS, parse_window

GAP = 48
"""Maximum number of empty windows between ranges that are one run."""


def ranges_of(
    windows: Iterable[str], size: WindowSize, left_out: Collection[str] = ()
) -> list[tuple[str, str]]:
    """First and last window of each run that does these windows, in order.

    Between them are only windows in which nothing landed, and none of ``left_out``: those that are finished, say.
    """
    wanted = sorted({*windows})
    others = sorted({*left_out}.difference(wanted))
    found: list[tuple[str, str]] = []
    for window in wanted:
        last = found[-1][1] if found else ""
        is_free = bisect(others, last) == bisect(others, window)
        if (
            last
            and is_free
            and (parse_window(window, size) - parse_window(last, size) <= (GAP + 1) * STEPS[size])
        ):
            found[-1] = (found[-1][0], window)
        else:
            found.append((window, window))
    return found


RUNS_AT_ONCE = 24
"""How many runs one tick asks for at most: the rest follow, so that a first look does not flood the queue."""

WINDOWS_AT_ONCE = 31 * 24
"""How many windows one tick asks for at most: a month of hours, which a sensor's cursor can name, too."""


def request_for(feed: Feed, first: str, last: str, run_key: str) -> dg.RunRequest:
    """A request for one run of all windows from the first to the last.

    A single window is asked for by its partition, so that Dagster's pages of partitions show the run.
    """
    tags = tags_of(feed, first, last)
    if first == last:
        return dg.RunRequest(run_key=run_key, partition_key=first, tags=tags)
    return dg.RunRequest(run_key=run_key, tags={**tags, RANGE[0]: first, RANGE[1]: last})


def state_of(first: str, last: str, states: Mapping[str, str]) -> str:
    """One short text for the states of a range's windows; a single window's state as it is."""
    if first == last:
        return states[first]
    lines = [f"{window} {state}\n" for window, state in states.items() if first <= window <= last]
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16]


# Windows whose run failed are asked for again, a few times and with more patience each time; several windows in two
# halves, so that one window that cannot be done keeps the others waiting for a while, and not for ever.


RUNS_LOOKED_AT = 20 * RUNS_AT_ONCE
"""How many of the last runs are looked at for failures."""

ATTEMPTS = 5
"""How often a window alone is asked for at most while its drops are the same."""

FIRST_PATIENCE = 300.0
"""How many seconds after its first failure a window is asked for again; twice as many after each further one."""


def requests_after_failure(
    instance: dg.DagsterInstance,
    feed: Feed,
    still_due: Callable[[Collection[str]], Collection[str]],
) -> list[dg.RunRequest]:
    """A new request for windows whose last run failed some time ago, and that are still due.

    ``still_due``: given windows whose run failed, those that are due as they were: nothing more was asked for since,
    and no other run has finished them. It is called where a run failed, and not otherwise.
    """
    filters = dg.RunsFilter(job_name=job_name(feed), tags={"feed": feed.name})
    requests: list[dg.RunRequest] = []
    seen: set[str] = set()
    # Newest first: only the last run of a window counts.
    for record in instance.get_run_records(filters, limit=RUNS_LOOKED_AT):
        run = record.dagster_run
        # Runs of a sensor alone: their keys are ``windows:state`` or ``windows:state:attempt``.
        state, _, attempt = run.tags.get("dagster/run_key", "").partition(":")[2].partition(":")
        if not state:
            continue
        windows = [window for window in windows_of_run(feed, run.tags) if window not in seen]
        seen.update(windows)
        number = int(attempt or 1)
        ended = record.end_time or record.update_timestamp.timestamp()
        patience = FIRST_PATIENCE * 2.0 ** (min(number, ATTEMPTS) - 1)
        if run.status != dg.DagsterRunStatus.FAILURE or time.time() - ended <= patience:
            continue
        due = sorted(still_due(windows)) if windows else []
        if len(due) > 1 or number < ATTEMPTS:
            requests += [
                request_for(feed, *ends, f"{name_of(*ends)}:{state}:{number + 1}")
                for half in filter(None, (due[: len(due) // 2], due[len(due) // 2 :]))
                for ends in ranges_of(half, feed.window, {*windows}.difference(half))
            ]
    return requests[:RUNS_AT_ONCE]
