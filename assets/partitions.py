"""How a feed is sliced in time: one partition per landing window, the open one too.

Put here what Dagster knows of windows. Not here: what a window is (``transforms/feed/windows.py``).
"""

from __future__ import annotations

from datetime import datetime

import dagster as dg

from transforms.feed.feed import Feed
from transforms.feed.windows import FIRST, window_at

__all__ = ["CRON", "FIRST", "FORMATS", "bounds", "keys_of", "windows_of"]

FORMATS = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d"}
CRON = {"hour": "0 * * * *", "day": "0 0 * * *"}


def windows_of(feed: Feed) -> dg.TimeWindowPartitionsDefinition:
    """The feed's windows; ``end_offset`` shows the one that is still open, so that it can be run too."""
    return dg.TimeWindowPartitionsDefinition(
        start=FIRST,
        cron_schedule=CRON[feed.window],
        fmt=FORMATS[feed.window],
        timezone="UTC",
        end_offset=1,
    )


def bounds(feed: Feed, now: datetime) -> tuple[str, str]:
    """The first window and the one that is open: windows sort by time, and those between them are partitions.

    Asked window by window, Dagster's own definition takes seconds for some thousands.
    """
    return window_at(FIRST, feed.window), window_at(now, feed.window)


def keys_of(context: dg.AssetExecutionContext) -> list[str]:
    """The windows of this run: one, or all of a range."""
    return list(context.partition_keys)
