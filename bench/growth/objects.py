"""A landing of more and more objects: what listing it costs, all of it and one day of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from assets.landing.landings import open_landing
from bench.growth.points import points
from bench.growth.windows import window_of
from bench.lines.small_window import TABLE, feed_of_table
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from transforms.feed.feed import Feed
from transforms.formats import FORMATS

OBJECTS = (10_000, 100_000, 1_000_000)
A_WINDOW = 100
"""The objects of one hour."""


def lines_of_objects(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """Two lines for each number of objects: the whole landing listed, and its last day."""
    for objects in points(OBJECTS, sizes):
        landing = work.folder / f"objects_{objects}"
        say(f"laying {objects:,} objects")
        last = lay(landing, objects)
        feed = feed_of_table(landing)
        for name, days in (("all", None), ("one day", [last[:10]])):
            title = f"list {name} of {objects:,} objects"
            yield Line(title, objects, "objects", {"weir": _lists(feed, days)})


def lay(landing: Path, objects: int) -> str:
    """Write so many empty drops, a hundred to an hour; returns the last hour."""
    window = window_of(0)
    for number in range(objects):
        if number % A_WINDOW == 0:
            window = window_of(number // A_WINDOW)
            folder = landing / window.replace("T", "/") / TABLE.name
            folder.mkdir(parents=True)
        (folder / f"part_{number % A_WINDOW:04}.json").touch()
    return window


def _lists(feed: Feed, days: list[str] | None) -> Callable[[], Prepared]:
    def listed() -> int:
        return sum(1 for _ in open_landing(feed, FORMATS[feed.format].files).list(days))

    return lambda: listed
