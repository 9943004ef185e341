"""How a feed is sliced in time: one partition per landing window, the open one too."""

from __future__ import annotations

import dagster as dg

from transforms.feed import Feed
from transforms.windows import FIRST

__all__ = ["CRON", "FIRST", "FORMATS", "keys_of", "windows_of"]

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


def keys_of(context: dg.AssetExecutionContext) -> list[str]:
    """The windows of this run: one, or all of a range."""
    return list(context.partition_keys)
