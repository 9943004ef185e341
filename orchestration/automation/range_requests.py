"""What a sensor or a schedule asks Dagster for: one run for a range of windows.

A run starts a Spark session, and that costs more than a window does. Put here how a range becomes a request. Not here:
which windows are asked for (``object_sensor``, ``topic_sensor``, ``schedules``, ``failed_runs``), and how windows
become ranges (``orchestration/runs/ranges``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import dagster as dg

from orchestration.watching.run_windows import RANGE, tags_of
from transforms.feed.feed import Feed

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
