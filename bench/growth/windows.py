"""A lake of more and more finished windows: what one more costs, and what runs, schedules and ``weir status`` ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from assets.audit.status import status_of
from assets.storage.lake import Lake
from bench.growth.points import points
from bench.lines.appliers import restored
from bench.lines.small_window import TABLE, feed_of_table, to_gold
from bench.made import drops
from bench.made.changes import drawn
from bench.made.restoring import Workspace
from bench.measuring import Line, Prepared, say
from bench.sizes import Sizes
from orchestration.runs import planning
from transforms.feed.feed import Feed

WINDOWS = (100, 1_000, 10_000)
OBJECTS, EVENTS = 10, 2
"""The objects of each window, and the events of each object."""

AT_ONCE = 500
"""How many windows one commit of each layer brings; a lake that grew for a year has more commits, and was tidied."""

FIRST = datetime(2024, 1, 1)


def lines_of_windows(work: Workspace, sizes: Sizes) -> Iterator[Line]:
    """Four lines for each number of windows: what is due, what a schedule asks, the status, and one more window."""
    for windows in points(WINDOWS, sizes):
        landing, lake = work.folder / f"windows_{windows}", work.lake(f"lake_of_{windows}")
        feed = feed_of_table(landing)
        changes = drawn(rows=1_000, count=windows * OBJECTS * EVENTS, seed=sizes.seed)
        named = [window_of(number) for number in range(windows)]
        for window in named:
            part = islice(changes, OBJECTS * EVENTS)
            drops.lay_apart(landing, TABLE.name, part, window, EVENTS)
        for first in range(0, windows, AT_ONCE):
            some = named[first : first + AT_ONCE]
            say(f"bringing windows up to {some[-1]} to gold")
            to_gold(lake, feed, some)
        yield from _looks(lake, feed, windows)
        last = drawn(rows=1_000, count=OBJECTS * EVENTS, seed=sizes.seed + 1)
        drops.lay_apart(landing, TABLE.name, last, window_of(windows), EVENTS)
        one_more = restored(
            work, f"lake_of_{windows}", partial(to_gold, feed=feed, windows=[window_of(windows)])
        )
        title = f"one more small window, {windows:,} windows"
        yield Line(title, windows, "windows", {"weir": one_more})


def window_of(number: int) -> str:
    """The name of an hour, counted from the first one."""
    return (FIRST + timedelta(hours=number)).strftime("%Y-%m-%dT%H")


def _looks(lake: Lake, feed: Feed, windows: int) -> Iterator[Line]:
    def find() -> None:
        assert not planning.due(lake, feed).windows

    def tick() -> None:
        assert not planning.due_as_noted(lake, feed).windows

    def status() -> None:
        found = status_of(lake, feed)
        assert found is not None and not found.unfinished

    looks: dict[str, Callable[[], None]] = {
        "find nothing new": find,
        "a schedule's look": tick,
        "status": status,
    }
    for name, look in looks.items():
        yield Line(f"{name}, {windows:,} windows", windows, "windows", {"weir": _prepared(look)})


def _prepared(look: Callable[[], None]) -> Callable[[], Prepared]:
    return lambda: look
