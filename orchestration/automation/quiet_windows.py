"""Windows that have ended and in which nothing landed, reported to Dagster: they are done, and not missing.

Nobody runs such a window, so that "backfill: missing only" would ask for it for ever. An event without a run marks it;
a drop that comes later makes it due again, by the ledger and not by what Dagster shows. Some windows are
stored at a time (``runless_events``); a tick reports for a short time, the newest windows first, and the rest follow.
Put here what the ticks of sensors and schedules report. Not here: which windows they ask for (``object_sensor``,
``topic_sensor``, ``schedules``), and where partitions begin (``orchestration/runs/first_window``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from time import monotonic

import dagster as dg

from assets.asset_keys import feed_key
from assets.wording import counted
from orchestration.automation import runless_events
from orchestration.automation.jobs import job_name
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, first_of, window_at, windows_between

AT_ONCE = 50
"""So many windows are stored together: a tick looks at the clock after each such batch."""

SECONDS = 2.0
"""How long one tick reports at most: Dagster stops a sensor that takes a minute."""

LOOKED_AT = 2_000
"""So many windows back a quiet one is reported: 12 weeks of hours. Each costs one event per asset for ever."""


def quiet_windows(feed: Feed, landed: Collection[str], now: datetime) -> Iterator[str]:
    """The windows that have ended and in which nothing landed, the newest first.

    None where it is not known yet with which window the feed begins. Of a feed with a ``freshness`` only those before
    the newest window in which something landed: Dagster takes a mark for something fresh, and nothing has come.
    """
    if feed.running.start is None:
        return
    step = STEPS[feed.window]
    first = max(first_of(feed), now - LOOKED_AT * step)
    last = window_at(now - step, feed.window)
    if feed.running.freshness is not None:
        last = min(last, max(landed, default=""))
    windows = windows_between(window_at(first, feed.window), last, feed.window) if last else []
    yield from (window for window in reversed(windows) if window not in landed)


def mark_quiet(
    context: dg.SensorEvaluationContext | dg.ScheduleEvaluationContext,
    feed: Feed,
    landed: Collection[str],
) -> list[str]:
    """Report quiet windows that Dagster has nothing of, for a short time; returns a sentence, if there were any.

    ``landed`` are all windows of which anything is known, in the landing or in bronze.
    """
    ends = monotonic() + SECONDS
    keys = keys_of(context, feed)
    # Reported last, so that a window is whole once it is there.
    *_, witness = keys
    seen = context.instance.get_materialized_partitions(witness)
    reported = 0
    unseen = (one for one in quiet_windows(feed, landed, datetime.now(UTC)) if one not in seen)
    while monotonic() < ends and (windows := [*islice(unseen, AT_ONCE)]):
        for key in keys:
            runless_events.store(
                context.instance,
                [
                    dg.AssetMaterialization(key, "Nothing landed in this window.", partition=window)
                    for window in windows
                ],
            )
        reported += len(windows)
    return [f"{counted(reported, 'window')} without a drop marked as done"] if reported else []


def keys_of(
    context: dg.SensorEvaluationContext | dg.ScheduleEvaluationContext, feed: Feed
) -> Sequence[dg.AssetKey]:
    """The assets that a run of the feed makes window by window; the one that ends a window is the last."""
    repository, last = context.repository_def, feed_key("progress", feed)
    assert repository is not None
    layer = repository.get_job(job_name(feed)).asset_layer
    keys = [key for key in layer.selected_asset_keys if layer.get(key).partitions_def is not None]
    return [*sorted({*keys} - {last}), last]
