"""Where a feed's partitions begin in Dagster's pages: at its ``start``, or at its first drop that is known.

A feed of yesterday that begins in 2020 has 60,000 partitions, nearly all of them empty for ever, so that "backfill
missing" would ask for all of them. Dagster can leave partitions out of a definition, too (``exclusions``), but each
would be written into every asset's snapshot, and a late drop into one of them could not be asked for.
Put here what decides on the first window. Not here: partitions themselves (``assets/partitions``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from assets.bookkeeping import ledger
from assets.lake import Lake
from assets.landing.landings import open_landing
from transforms.feed.feed import Feed
from transforms.feed.windows import FIRST, first_of, window_at
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
    except (
        Exception
    ) as fault:  # whatever it is, the pages come up, and the first run meets it again
        warnings.warn(f"{feed.name}: its first window is not known: {fault}", stacklevel=2)
        return feed
    return starting(feed, windows)


def starting(feed: Feed, windows: Iterable[str]) -> Feed:
    """The feed that starts with the first of these windows that can be run at all."""
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
