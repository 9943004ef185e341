"""How a feed is sliced in time: one partition per landing window, the open one too.

Put here what Dagster knows of windows. Not here: what a window is (``transforms/feed/windows.py``).
"""

from __future__ import annotations

from datetime import datetime

import dagster as dg

from transforms.feed.feed import Feed
from transforms.feed.windows import FIRST, parse_window, window_at

__all__ = ["CRON", "FIRST", "FORMATS", "bounds", "first_of", "keys_of", "windows_of"]

FORMATS = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d"}
CRON = {"hour": "0 * * * *", "day": "0 0 * * *"}


def windows_of(feed: Feed) -> dg.PartitionsDefinition:
    """The feed's windows; ``end_offset`` shows the one that is still open, so that it can be run too."""
    if feed.running.windows:
        return dg.StaticPartitionsDefinition(feed.running.windows)
    return dg.TimeWindowPartitionsDefinition(
        start=first_of(feed),
        cron_schedule=CRON[feed.window],
        fmt=FORMATS[feed.window],
        timezone="UTC",
        end_offset=1,
    )


def first_of(feed: Feed) -> datetime:
    """When the feed's first window begins: what its file says, or in 2020."""
    start = feed.running.start
    return FIRST if start is None else parse_window(start, feed.window)


def bounds(feed: Feed, now: datetime) -> tuple[str, str]:
    """The first window and the one that is open: windows sort by time, and those between them are partitions.

    Asked window by window, Dagster's own definition takes seconds for some thousands.
    """
    return window_at(first_of(feed), feed.window), window_at(now, feed.window)


def keys_of(context: dg.AssetExecutionContext) -> list[str]:
    """The windows of this run: one, or all of a range."""
    return list(context.partition_keys)
