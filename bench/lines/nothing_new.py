"""A run that finds nothing new, in a lake of one window and in one of many: what a run does before it knows.

There is no competitor here: the figures are compared with those of earlier versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from assets.control import progress
from assets.storage.lake import Lake
from bench.lines.bringing import bring
from bench.lines.small_window import TABLE, feed_of_table
from bench.made import drops
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from orchestration.runs import planning
from transforms.feed.feed import Feed

MANY = 100
"""How many windows the larger lake has; the smaller one has one."""

EVENTS_OF_MANY = 500
"""The events of each window."""


def lines_of_nothing_new(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """One line for each of the two lakes."""
    for windows in (1, MANY):
        named = [f"2025-11-{20 + number // 24:02}T{number % 24:02}" for number in range(windows)]
        landing, lake = work.folder / f"landing_{windows}", work.lake(f"lake_{windows}")
        changes = drawn(rows=1_000, count=windows * EVENTS_OF_MANY, seed=sizes.seed)
        for window in named:
            drops.lay(landing, TABLE.name, islice(changes, EVENTS_OF_MANY), window)
        feed = feed_of_table(landing)
        say(f"bringing {windows} windows to silver")
        bring(lake, feed, named)
        progress.finish(lake, feed, named)
        name = "find nothing new, little" if windows == 1 else f"find nothing new, {windows} times"
        yield Line(
            name, windows * EVENTS_OF_MANY, "events in bronze", {"weir": _finds_nothing(lake, feed)}
        )


def _finds_nothing(lake: Lake, feed: Feed) -> Callable[[], Prepared]:
    def find() -> None:
        assert not planning.due(lake, feed).windows

    return lambda: find
