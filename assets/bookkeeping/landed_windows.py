"""Which windows of a run its steps work on: a range may have thousands in which nothing has landed."""

from __future__ import annotations

import dagster as dg

from assets import partitions
from assets.bookkeeping import ledger
from assets.lake import Lake
from transforms.feed.feed import Feed


def of_run(context: dg.AssetExecutionContext, lake: Lake, feed: Feed) -> list[str]:
    """The windows of the run that bronze has something of; where it has nothing of any, the last one.

    The others have no rows in any table, for all of these follow from bronze.
    """
    windows = partitions.keys_of(context)
    if len(windows) == 1:
        return windows
    held = {one.window for one in ledger.read_objects(lake, feed)}
    return [window for window in windows if window in held] or windows[-1:]
