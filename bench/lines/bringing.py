"""Landing to silver with Weir: some lines time it, others need it before they take a time."""

from __future__ import annotations

from collections.abc import Sequence

from assets.bronze import from_objects
from assets.silver import derive
from assets.storage.lake import Lake
from bench.made import drops
from transforms.feed.feed import Feed


def bring(lake: Lake, feed: Feed, windows: Sequence[str] = (drops.WINDOW,)) -> None:
    """Landing to silver, as Weir's assets do it."""
    from_objects.land(lake, feed, windows)
    derive.derive(lake, feed, windows)
