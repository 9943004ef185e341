"""Which windows a run has to do, and in which Dagster runs.

Planning asks and never writes, and needs no Spark session: what is new is read by the bronze asset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from assets import partitions
from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.ledger import ReadObject
from assets.bronze import from_objects
from assets.lake import Lake
from assets.landing.kafka import peek, topics
from assets.landing.kafka.offset_ranges import Read
from transforms.errors import WindowOutOfRange
from transforms.feed.feed import Feed
from transforms.feed.windows import contiguous_ranges, parse_window, window_at, windows_between

GAP = 48
"""Ranges with no more empty windows than this between them are one Dagster run: an empty window is cheap, a run not."""

LOOK_SECONDS = 5.0
"""So long one look at a topic's new records takes at most: what it does not see is found when they are read."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The windows of one feed that a run has to do.

    ``ancient`` are windows before the first, which no run does.
    ``early`` are windows that have not begun, by the date in their objects' paths: they wait. ``landed`` counts
    the drops in the landing, new or not. ``undecided`` says of topics what waits for a transaction.
    """

    feed: Feed
    windows: list[str]
    early: list[str]
    left_out: list[str]
    ancient: list[str] = field(default_factory=list)
    landed: int = 0
    undecided: tuple[str, ...] = ()

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
    """The windows with something new, and those that an earlier run did not finish."""
    offsets = ledger.read_offsets(lake, feed) if feed.reads_topics else {}
    return _due(lake, feed, ledger.read_objects(lake, feed), offsets)


def due_as_noted(lake: Lake, feed: Feed) -> Plan:
    """The same for whoever has little time: what bronze has and its ledger does not is taken for new."""
    offsets = ledger.noted_offsets(lake, feed) if feed.reads_topics else {}
    return _due(lake, feed, ledger.noted_objects(lake, feed), offsets)


def _due(
    lake: Lake, feed: Feed, known: Sequence[ReadObject], offsets: Mapping[tuple[str, str], Read]
) -> Plan:
    ledger.refuse_other_size(feed, (one.window for one in known))
    unfinished = window_progress.unfinished(lake, feed, known)
    if feed.reads_topics:
        return _due_of_topics(feed, unfinished, offsets, sum(one.records for one in known))
    found = from_objects.arrivals(feed, lambda _: known)
    new = {one.window for one in found.new}
    plan = bounded(feed, sorted(new | {*unfinished}), found.left_out, complain=False)
    return replace(plan, landed=found.landed)


def _due_of_topics(
    feed: Feed, unfinished: Sequence[str], read: Mapping[tuple[str, str], Read], records: int
) -> Plan:
    """The same of topics, as far as a short look at their new records says in which windows these are.

    A run of any window reads all of them: for what the look does not say, see ``rest``.
    """
    partitions_now = topics.look(feed)
    backlog = topics.backlog(feed, partitions_now, read)
    windows = {*unfinished}
    if backlog.ranges:
        seen = {peek.named(*whose): one.next_offset for whose, one in read.items()}
        windows |= peek.windows_in(feed, partitions_now, seen, LOOK_SECONDS)[0]
    plan = bounded(feed, sorted(windows), [], complain=False)
    if backlog.ranges and not plan.windows:
        # Offsets without a record, or records of the future: some run has to read them before Kafka deletes them.
        plan = replace(plan, windows=[window_at(datetime.now(UTC), feed.window)])
    return replace(
        plan,
        landed=records + sum(one.size for one in backlog.ranges),
        undecided=topics.undecided(partitions_now),
    )


def rest(lake: Lake, plan: Plan) -> Plan:
    """After a plan of topics was run: the windows that its reading brought to light, and that it did not do."""
    feed = plan.feed
    if not feed.reads_topics:
        return Plan(feed, [], [], [])
    left = window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    done = plan.ranges()
    windows = [one for one in left if not any(first <= one <= last for first, last in done)]
    return bounded(feed, windows, [], complain=False)


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
