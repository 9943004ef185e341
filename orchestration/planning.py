"""Which windows a run has to do, and in which Dagster runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from assets import bronze, kafka_landing, ledger, partitions
from assets.lake import Lake
from orchestration.console import say
from transforms.errors import WindowOutOfRange
from transforms.feed import Feed
from transforms.windows import contiguous_ranges, parse_window, windows_between

GAP = 48
"""Ranges with no more empty windows than this between them are one Dagster run: an empty window is cheap, a run not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The windows of one feed that a run has to do.

    ``ancient`` are windows before the first, which no run does.
    ``early`` are windows that have not begun, by the date in their objects' paths: they wait. ``landed`` counts
    the drops in the landing, new or not.
    """

    feed: Feed
    windows: list[str]
    early: list[str]
    left_out: list[str]
    ancient: list[str] = field(default_factory=list)
    landed: int = 0

    def ranges(self) -> list[tuple[str, str]]:
        """First and last window of each Dagster run."""
        found: list[tuple[str, str]] = []
        for first, last in contiguous_ranges(self.windows, self.feed.window):
            if found and len(windows_between(found[-1][1], first, self.feed.window)) <= GAP + 2:
                found[-1] = (found[-1][0], last)
            else:
                found.append((first, last))
        return found


def asked(feed: Feed, text: str) -> Plan:
    """The windows that a person names: ``FROM..TO``, inclusive, or one."""
    first, is_range, last = text.partition("..")
    try:
        windows = windows_between(first, last if is_range else first, feed.window)
    except ValueError as fault:
        raise WindowOutOfRange(feed.name, text, str(fault)) from fault
    if not windows:
        raise WindowOutOfRange(feed.name, text, "the range ends before it begins")
    return bounded(feed, windows, [], complain=True)


def due(lake: Lake, feed: Feed) -> Plan:
    """The windows with new objects, and those that an earlier run did not finish.

    What is new in topics comes to bronze first: only the records say which windows they are in.
    """
    if feed.reads_topics:
        kafka_landing.land(lake, feed, say)
        known = ledger.read_objects(lake, feed)
        windows = ledger.unfinished(lake, feed, known)
        plan = bounded(feed, windows, [], complain=False)
        return replace(plan, landed=sum(one.records for one in known))
    known = ledger.read_objects(lake, feed)
    ledger.refuse_other_size(feed, (one.window for one in known))
    found = bronze.arrivals(feed, lambda _: known)
    new = {one.window for one in found.new}
    plan = bounded(
        feed, sorted(new | {*ledger.unfinished(lake, feed, known)}), found.left_out, complain=False
    )
    return replace(plan, landed=found.landed)


def bounded(feed: Feed, windows: Sequence[str], left_out: Sequence[str], *, complain: bool) -> Plan:
    """Keep the windows that are partitions of the feed: from 2020 on, the open one included."""
    now = datetime.now(UTC)
    begun = [window for window in windows if parse_window(window, feed.window) <= now]
    early = [window for window in windows if window not in set(begun)]
    ancient = [window for window in begun if parse_window(window, feed.window) < partitions.FIRST]
    if early and complain:
        raise WindowOutOfRange(feed.name, early[0], "it has not begun yet")
    if ancient and complain:
        raise WindowOutOfRange(
            feed.name, ancient[0], f"windows begin at {partitions.FIRST:%Y-%m-%d}"
        )
    inside = [window for window in begun if window not in set(ancient)]
    return Plan(feed, inside, early, list(left_out), ancient)
