"""How a feed is sliced in time: one partition per landing window, the open one too.

Put here what Dagster knows of windows. Not here: what a window is (``transforms/feed/windows.py``).
"""

from __future__ import annotations

import dagster as dg

from transforms.feed.feed import Feed
from transforms.feed.windows import FORMATS, first_of

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


def keys_of(context: dg.AssetExecutionContext) -> list[str]:
    """The windows of this run: one, or all of a range."""
    return list(context.partition_keys)
