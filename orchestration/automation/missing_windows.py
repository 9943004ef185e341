"""Keeps windows before the first drop, and those in which nothing landed, from being shown as missing in Dagster.

A feed of yesterday that begins in 2020 has 60,000 partitions, nearly all of them empty for ever, so that "backfill
missing" would ask for all of them. Dagster can leave partitions out of a definition, too (``exclusions``), but each
would be written into every asset's snapshot, and a late drop into one of them could not be asked for.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import monotonic

import dagster as dg
from dagster._core.events import StepMaterializationData
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID

from assets.control import ledger
from assets.feed_assets import feed_key
from assets.landing.landings import open_landing
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.automation.jobs import job_name
from orchestration.runs import history
from transforms.feed.feed import Feed
from transforms.feed.windows import FIRST, STEPS, first_of, window_at, windows_between
from transforms.formats import FORMATS


def from_first_drop(lake: Lake, feed: Feed) -> Feed:
    """The feed with the window of its first drop as its start, where its file names none and one is known.

    Known is what bronze has, and what lies in a folder. A bucket or a topic is not listed for it: that may take
    minutes, and pages have to come up without it.
    """
    if feed.running.start is not None:
        return feed
    try:
        windows = {drop.window for drop in ledger.noted_objects(lake, feed)}
        # Of a bucket or a topic this is false, too.
        if Path(feed.landing).is_dir():
            windows |= {one.window for one in open_landing(feed, FORMATS[feed.format].files).list()}
    except Exception as fault:  # whatever it is, the pages come up, and the first run meets it
        warnings.warn(f"{feed.name}: its first window is not known: {fault}", stacklevel=2)
        return feed
    # Windows before that cannot be run at all.
    earliest = window_at(FIRST, feed.window)
    known = [window for window in windows if window >= earliest]
    if not known:
        return feed
    return replace(feed, running=replace(feed.running, start=min(known)))


def before_start(feed: Feed, windows: Iterable[str]) -> str | None:
    """A sentence about windows with drops before the first partition; None where there are none."""
    first = window_at(first_of(feed), feed.window)
    early = sorted(window for window in windows if window < first)
    if not early:
        return None
    named = ", ".join(early[:5]) + (", …" if len(early) > 5 else "")
    return (
        f"drops of windows before the first partition, {first}, are not asked for: {named}."
        " Where they belong to the feed, reload the code location (or correct the feed's start); `weir run` takes"
        " those that no start in the feed file leaves out."
    )


def store_without_run(
    instance: dg.DagsterInstance, made: Sequence[dg.AssetMaterialization]
) -> None:
    """Store materializations of one asset, without tags; Dagster's own call stores one, in some milliseconds.

    The last one is the asset's newest.
    """
    history.store_together(instance.event_log_storage, [_entry(one) for one in made])


def _entry(made: dg.AssetMaterialization) -> dg.EventLogEntry:
    event = dg.DagsterEvent(
        event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
        event_specific_data=StepMaterializationData(made),
        job_name=RUNLESS_JOB_NAME,
    )
    return dg.EventLogEntry(  # type: ignore[no-untyped-call]
        error_info=None,
        level=logging.INFO,
        user_message="",
        run_id=RUNLESS_RUN_ID,
        timestamp=datetime.now(UTC).timestamp(),
        job_name=RUNLESS_JOB_NAME,
        dagster_event=event,
    )


# Windows that have ended and in which nothing landed are reported to Dagster as done, by an event without a run. A drop
# that comes later makes such a window due again, by the ledger and not by what Dagster shows.


AT_ONCE = 50
"""How many windows are stored together: a tick looks at the clock after each such batch."""

TICK_SECONDS = 2.0
"""How long one tick reports at most: Dagster stops a sensor that takes a minute."""

LOOKED_AT = 2_000
"""How many windows back a quiet one is reported: 12 weeks of hours. Each costs one event per asset for ever."""


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
    ends = monotonic() + TICK_SECONDS
    keys = keys_of(context, feed)
    # Reported last, so that a window is whole once it is there.
    *_, witness = keys
    seen = context.instance.get_materialized_partitions(witness)
    reported = 0
    unseen = (one for one in quiet_windows(feed, landed, datetime.now(UTC)) if one not in seen)
    while monotonic() < ends and (windows := [*islice(unseen, AT_ONCE)]):
        for key in keys:
            store_without_run(
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
