"""The windows of one feed that a run has to do.

Put here what a plan is. Not here: which windows are due (``planning``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from transforms.errors import WindowOutOfRange
from transforms.feed.feed import Feed
from transforms.feed.windows import first_of, parse_window, window_at


@dataclass(frozen=True, slots=True)
class Plan:
    """The windows of one feed that a run has to do, and what it leaves alone.

    - ``early``: windows that have not begun yet, by the date in their objects' paths; they wait.
    - ``ancient``: windows before the first partition, which no run does.
    - ``left_out``: objects in the landing that are no drops of this feed.
    - ``landed``: how many drops are in the landing, new or not; of topics, how many records.
    - ``finished``: windows that bronze has and that are in gold, where planning has found them.
    - ``undecided``: sentences about records of topics that wait for the end of a transaction.
    - ``asked``: the windows that a person has named, of which ``windows`` are those with something to do; None where
      nobody has named any, or not both ends of them.
    - ``open_range``: what a person has named without both ends; ``finished`` are then all windows with drops.
    """

    feed: Feed
    windows: list[str]
    early: list[str]
    left_out: list[str]
    ancient: list[str] = field(default_factory=list)
    landed: int = 0
    undecided: tuple[str, ...] = ()
    finished: frozenset[str] = frozenset()
    open_range: str | None = None
    asked: frozenset[str] | None = None

    @property
    def empty(self) -> list[str]:
        """The windows that a person has named and in which nothing has landed, so that no run does them."""
        return sorted((self.asked or frozenset()).difference(self.windows))


def bounded(
    feed: Feed, windows: Sequence[str], left_out: Sequence[str], *, print_error: bool
) -> Plan:
    """A plan of those windows that are partitions of the feed: from its start on, and with the window that is open now.

    Raises:
        WindowOutOfRange: a window is no partition, and ``print_error`` asks for an error then.
    """
    now = datetime.now(UTC)
    first = first_of(feed)
    begun = [window for window in windows if parse_window(window, feed.window) <= now]
    known = set(begun)
    early = [window for window in windows if window not in known]
    ancient = [window for window in begun if parse_window(window, feed.window) < first]
    left = set(ancient)
    if early and print_error:
        raise WindowOutOfRange(feed.name, early[0], "it has not begun yet")
    if ancient and print_error:
        raise WindowOutOfRange(
            feed.name, ancient[0], f"windows begin at {window_at(first, feed.window)}"
        )
    inside = [window for window in begun if window not in left]
    return Plan(feed, inside, early, list(left_out), ancient)
