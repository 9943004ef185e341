"""Windows as ranges, one Dagster run each: a window is cheap, and a run is not.

Put here how the windows that are due become runs. Not here: which windows those are (``planning``).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable

from transforms.feed.feed import WindowSize
from transforms.feed.windows import STEPS, parse_window

GAP = 48
"""Ranges with at most so many empty windows between them are one run."""


def ranges_of(
    windows: Iterable[str], size: WindowSize, left_out: Collection[str] = ()
) -> list[tuple[str, str]]:
    """First and last window of each run that does these windows, in order.

    Args:
        windows: All of them are in a range, and between them only windows in which nothing landed.
        size: How long a window is.
        left_out: Windows that no range may have, unless they are asked for: those that are finished, say.
    """
    wanted = sorted({*windows})
    others = sorted({*left_out}.difference(wanted))
    found: list[tuple[str, str]] = []
    for window in wanted:
        last = found[-1][1] if found else ""
        if last and bisect(others, last) == bisect(others, window) and _is_near(last, window, size):
            found[-1] = (found[-1][0], window)
        else:
            found.append((window, window))
    return found


def _is_near(earlier: str, later: str, size: WindowSize) -> bool:
    steps = (parse_window(later, size) - parse_window(earlier, size)) // STEPS[size]
    return steps <= GAP + 1
