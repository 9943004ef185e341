"""Landing to silver with Weir: some lines time it, others need it before they take a time.

Put here what several lines do with Weir. Not here: the lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from assets.bronze import bronze_asset
from assets.lake import Lake
from assets.silver import silver_asset
from bench.made import drops
from transforms.feed.feed import Feed


def bring(lake: Lake, feed: Feed, windows: Sequence[str] = (drops.WINDOW,)) -> None:
    """Landing to silver, as Weir's assets do it."""
    bronze_asset.land(lake, feed, windows)
    silver_asset.derive(lake, feed, windows)
