"""The tags by which Dagster's list of runs names a run's feed and windows."""

from __future__ import annotations

from collections.abc import Mapping

from transforms.feed.feed import Feed
from transforms.feed.windows import windows_between

WINDOW = "dagster/partition"
RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


def name_of(first: str, last: str) -> str:
    """A range as run keys and `weir run --windows` have it, ``2025-11-20T03..2025-11-20T07``; or the window alone."""
    return first if first == last else f"{first}..{last}"


def tags_of(feed: Feed, first: str, last: str) -> dict[str, str]:
    """The tags that Dagster shows in a row of its list of runs: the feed, and its window, or the first and the last."""
    windows = {"window": first} if first == last else {"from": first, "to": last}
    return {"feed": feed.name, **windows}


def windows_of_run(feed: Feed, tags: Mapping[str, str]) -> list[str]:
    """The windows of a run of this feed: one, or all of a range.

    None where the tags name none, or windows of another size: the feed's ``window`` was changed since.
    """
    first, last = (tags.get(name, tags.get(WINDOW, "")) for name in RANGE)
    try:
        return windows_between(first, last, feed.window) if first and last else []
    except ValueError:
        return []


def windows_in_words(tags: Mapping[str, str]) -> str:
    """The windows of a run, whatever its feed: one, or the first and the last; nothing where the tags name none."""
    first, last = (tags.get(name, tags.get(WINDOW, "")) for name in RANGE)
    return first if first == last else f"{first} .. {last}"
