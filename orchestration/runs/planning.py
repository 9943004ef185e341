"""Which windows are due: those with something new in the landing, and those that an earlier run did not finish.

Planning asks and never writes, and needs no Spark session: what is new is read by the bronze asset. Put here what
decides that a window has to be run. Not here: what a plan is (``plan``), and running it (``execute``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.ledger import ReadObject
from assets.bronze import from_objects
from assets.lake import Lake
from assets.landing.kafka import peek, topics
from assets.landing.kafka.offset_ranges import ReadUpTo
from orchestration.runs.asked_windows import AskedWindows, asked_windows
from orchestration.runs.plan import Plan, bounded
from transforms.feed.feed import Feed
from transforms.feed.windows import window_at, windows_between

LOOK_SECONDS = 5.0
"""How long a look at a topic's new records takes at most: what it does not see is found when they are read."""


def asked(feed: Feed, text: str) -> AskedWindows:
    """The windows that a person names; all that is wrong with them is said before anything is looked at.

    Raises:
        WindowOutOfRange: the text names no windows, or some that no run can do.
    """
    found = asked_windows(feed, text, datetime.now(UTC))
    if found.is_whole:
        between(feed, found)
    return found


def of_asked(lake: Lake, feed: Feed, windows: AskedWindows) -> Plan:
    """A plan of those windows that a person names and that have drops: the others need no run."""
    if windows.is_whole:
        return _with_drops(lake, between(feed, windows))
    found = due(lake, feed)
    with_drops = found.finished.union(found.windows)
    chosen = sorted(window for window in with_drops if windows.has(window))
    return replace(found, windows=chosen, finished=with_drops, open_range=windows.text)


def between(feed: Feed, windows: AskedWindows) -> Plan:
    """A plan of all windows of a range with two ends, whether they have drops or not."""
    assert windows.first is not None
    assert windows.last is not None
    every = windows_between(windows.first, windows.last, feed.window)
    plan = bounded(feed, every, [], print_error=True)
    return replace(plan, asked=frozenset(plan.windows))


def _with_drops(lake: Lake, plan: Plan) -> Plan:
    """Of the windows that a person names those of which the landing or bronze has anything."""
    feed, asked = plan.feed, plan.asked or frozenset()
    known = ledger.read_objects(lake, feed)
    ledger.refuse_other_size(feed, (drop.window for drop in known))
    found = {drop.window for drop in known}
    if feed.reads_topics:
        new = _due_of_topics(feed, [], ledger.read_offsets(lake, feed), 0).windows
        found.update(new)
        if new and not asked & found:
            # Only a run reads new records, and tells which windows they belong to.
            found.add(max(asked))
    else:
        found |= {
            drop.window for drop in from_objects.arrivals(feed, lambda _: known, sorted(asked)).seen
        }
    return replace(plan, windows=sorted(asked & found))


def due(lake: Lake, feed: Feed) -> Plan:
    """The windows with something new, and those that an earlier run did not finish."""
    offsets = ledger.read_offsets(lake, feed) if feed.reads_topics else {}
    return _due(lake, feed, ledger.read_objects(lake, feed), offsets)


def due_as_noted(lake: Lake, feed: Feed) -> Plan:
    """``due`` in less time, from the ledger alone: what bronze has and its ledger does not is taken for new."""
    offsets = ledger.noted_offsets(lake, feed) if feed.reads_topics else {}
    return _due(lake, feed, ledger.noted_objects(lake, feed), offsets)


def _due(
    lake: Lake, feed: Feed, known: Sequence[ReadObject], offsets: Mapping[tuple[str, str], ReadUpTo]
) -> Plan:
    ledger.refuse_other_size(feed, (drop.window for drop in known))
    unfinished = window_progress.unfinished(lake, feed, known)
    if feed.reads_topics:
        plan = _due_of_topics(feed, unfinished, offsets, sum(drop.records for drop in known))
    else:
        arrived = from_objects.arrivals(feed, lambda _: known)
        new = {drop.window for drop in arrived.new}
        plan = bounded(feed, sorted(new | {*unfinished}), arrived.left_out, print_error=False)
        plan = replace(plan, landed=arrived.landed)
    return replace(plan, finished=frozenset(one.window for one in known).difference(plan.windows))


def _due_of_topics(
    feed: Feed, unfinished: Sequence[str], read: Mapping[tuple[str, str], ReadUpTo], records: int
) -> Plan:
    """``_due`` for a feed of topics: the windows that a short look at the new records finds.

    A run of any window reads all new records; ``rest`` gives the windows that the look did not find.
    """
    partitions_now = topics.look(feed)
    backlog = topics.backlog(feed, partitions_now, read)
    windows = {*unfinished}
    if backlog.ranges:
        seen = {peek.named(*partition): upto.next_offset for partition, upto in read.items()}
        windows |= peek.windows_in(feed, partitions_now, seen, LOOK_SECONDS)[0]
    plan = bounded(feed, sorted(windows), [], print_error=False)
    if backlog.ranges and not plan.windows:
        # Offsets without a record, or records of the future: some run has to read them before Kafka deletes them.
        plan = replace(plan, windows=[window_at(datetime.now(UTC), feed.window)])
    return replace(
        plan,
        landed=records + sum(unread.size for unread in backlog.ranges),
        undecided=topics.undecided(partitions_now),
    )


def rest(lake: Lake, plan: Plan) -> Plan:
    """What is left after a plan of topics was run: the windows that only its reading has brought to light."""
    feed = plan.feed
    if not feed.reads_topics:
        return Plan(feed, [], [], [])
    left = window_progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    windows = {*left}.difference(plan.windows)
    if plan.asked is not None:
        windows &= plan.asked
    return bounded(feed, sorted(windows), [], print_error=False)
