"""Which windows of a feed are due, or asked for: planning asks, never writes, and needs no Spark session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from assets.bronze import from_objects
from assets.control import ledger, progress
from assets.control.ledger import ReadObject
from assets.landing import kafka
from assets.landing.kafka_offsets import ReadUpTo
from assets.storage.lake import Lake
from orchestration.feeds.lengths_of_time import length_from
from transforms.errors import WindowOutOfRange
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, first_of, parse_window, window_at, windows_between


@dataclass(frozen=True, slots=True)
class AskedWindows:
    """What a person asks for: ``text`` as it was typed, and the first and last window, both included.

    None in place of an end leaves it open. ``every``: all windows between two ends; of an open range, and of the last
    hours or days, only those with drops are meant, and it is empty.
    """

    text: str
    first: str | None
    last: str | None
    every: tuple[str, ...] = ()

    def has(self, window: str) -> bool:
        """Whether the window is between the ends."""
        return (self.first or window) <= window <= (self.last or window)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The windows of one feed that a run has to do, and what it leaves alone.

    - ``early``: windows that have not begun yet, by the date in their objects' paths; they wait.
    - ``ancient``: windows before the first partition, which no run does.
    - ``left_out``: objects in the landing that are no drops of this feed.
    - ``out_of_time``: a sentence for each drop that is in one of them, but for those before a declared start.
    - ``landed``: how many drops are in the landing, new or not; of topics, how many records.
    - ``finished``: windows that bronze has and that are in gold, where planning has found them.
    - ``undecided``: sentences about records of topics that wait for the end of a transaction.
    - ``asked``: what a person has named, of which ``windows`` are those with something to do; None where nobody has
      named any. Where not both ends are named, ``finished`` are all windows with drops.
    """

    feed: Feed
    windows: list[str]
    early: list[str]
    left_out: list[str]
    ancient: list[str] = field(default_factory=list)
    landed: int = 0
    undecided: tuple[str, ...] = ()
    finished: frozenset[str] = frozenset()
    asked: AskedWindows | None = None
    out_of_time: tuple[str, ...] = ()

    @property
    def empty(self) -> list[str]:
        """The windows that a person has named and in which nothing has landed, so that no run does them."""
        return sorted({*(self.asked.every if self.asked else ())}.difference(self.windows))


def bounded(feed: Feed, windows: Iterable[str], left_out: Sequence[str] = ()) -> RunPlan:
    """A plan of those windows that are partitions of the feed: from its start on, up to the one that is open now."""
    windows, now = sorted(windows), datetime.now(UTC)
    first = first_of(feed)
    begun = [window for window in windows if parse_window(window, feed.window) <= now]
    known = set(begun)
    early = [window for window in windows if window not in known]
    ancient = [window for window in begun if parse_window(window, feed.window) < first]
    left = set(ancient)
    inside = [window for window in begun if window not in left]
    return RunPlan(feed, inside, early, list(left_out), ancient)


# The windows that a person asks for with ``--windows``: one, a day, a range, an open one, or the last of them.


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LAST: Final = re.compile(r"last\s*(.*)", re.DOTALL)
_OF_DAYS: Final = (
    "2026-11-18..2026-11-20 (both ends included), 2026-11-18.. or ..2026-11-20 (open), or"
)
_FORMS: Final = {
    "hour": f"2026-11-20T03 (an hour), 2026-11-20 (all its hours), {_OF_DAYS} last 12h or last 3d (until now)",
    "day": f"2026-11-20, {_OF_DAYS} last 3d (until now)",
}


def asked_windows(feed: Feed, text: str, now: datetime) -> AskedWindows:
    """What the text asks of a feed; ``now``, in UTC, is where the last hours or days end."""
    typed = text.strip()
    if found := _LAST.fullmatch(typed):
        return _last(feed, text, found[1], now)
    begin, is_range, end = (part.strip() for part in typed.partition(".."))
    if is_range and not begin and not end:
        raise _refused(feed, text, "a range needs one end at least")
    end = end if is_range else begin
    first = _end(feed, text, begin, now) if begin or not is_range else None
    last = _end(feed, text, end, now, is_last=True) if end else None
    if first and last and last < first:
        raise WindowOutOfRange(feed.name, text, "the range ends before it begins")
    every = windows_between(first, last, feed.window) if first and last else ()
    return AskedWindows(typed, first, last, tuple(every))


def _end(feed: Feed, text: str, written: str, now: datetime, *, is_last: bool = False) -> str:
    """One end of a range as a window: of a day the first hour or the last, of today the last that has begun."""
    try:
        if feed.window == "day" or not _DAY.fullmatch(written):
            parse_window(written, feed.window)
            return written
        day = parse_window(written, "day")
    except ValueError:
        if "..." in text:
            raise _refused(
                feed, text, "the two ends of a range have two dots between them"
            ) from None
        what = "date" if _DAY.fullmatch(written) else f"window of one {feed.window}"
        raise _refused(feed, text, f"{written!r} is no {what}") from None
    if not is_last:
        return window_at(day, "hour")
    end = day + STEPS["day"] - STEPS["hour"]
    return window_at(min(end, now) if day <= now else end, "hour")


def _last(feed: Feed, text: str, amount: str, now: datetime) -> AskedWindows:
    """The windows of the last hours or days: the one that is open now is the last of them."""
    length, step = length_from(amount), STEPS[feed.window]
    if not length:
        raise _refused(feed, text, f"{amount!r} is no length of time")
    if length % step:
        raise _refused(
            feed, text, f"{amount} is no number of days, and the feed's windows are days"
        )
    newest = window_at(now, feed.window)
    first = window_at(parse_window(newest, feed.window) - length + step, feed.window)
    return AskedWindows(text.strip(), first, newest)


def _refused(feed: Feed, text: str, fault: str) -> WindowOutOfRange:
    return WindowOutOfRange(feed.name, text, f"{fault}; write {_FORMS[feed.window]}")


# Which windows are due: those with something new in the landing, and those that an earlier run did not finish.


LOOK_SECONDS = 5.0
"""How long a look at a topic's new records takes at most: what it does not see is found when they are read."""


def asked(feed: Feed, text: str) -> AskedWindows:
    """The windows that a person names; all that is wrong with them is said before anything is looked at.

    Raises:
        WindowOutOfRange: the text names no windows, or some that no run can do.
    """
    found = asked_windows(feed, text, datetime.now(UTC))
    plan = bounded(feed, found.every)
    if plan.early:
        raise WindowOutOfRange(feed.name, plan.early[0], "it has not begun yet")
    if plan.ancient:
        first = window_at(first_of(feed), feed.window)
        raise WindowOutOfRange(feed.name, plan.ancient[0], f"windows begin at {first}")
    return found


def of_asked(lake: Lake, feed: Feed, windows: AskedWindows) -> RunPlan:
    """A plan of those windows that a person names and that have drops: the others need no run."""
    if windows.every:
        with_drops = _with_drops(lake, feed, {*windows.every})
        return RunPlan(feed, sorted(with_drops), [], [], asked=windows)
    found = due(lake, feed)
    with_drops = found.finished.union(found.windows)
    chosen = sorted(window for window in with_drops if windows.has(window))
    return replace(found, windows=chosen, finished=with_drops, asked=windows)


def _with_drops(lake: Lake, feed: Feed, asked: Set[str]) -> Set[str]:
    """Those of these windows of which the landing or bronze has anything."""
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
    return asked & found


def due(lake: Lake, feed: Feed, held: ledger.BronzeContents | None = None) -> RunPlan:
    """The windows with something new, and those that an earlier run did not finish.

    ``held``: what bronze holds, where the caller has just asked for it (``ledger.catch_up``).
    """
    if held is not None:
        offsets = ledger.offsets_in(held.rows) if feed.reads_topics else {}
        return _due(lake, feed, ledger.objects_in(held.rows), offsets)
    offsets = ledger.read_offsets(lake, feed) if feed.reads_topics else {}
    return _due(lake, feed, ledger.read_objects(lake, feed), offsets)


def due_as_noted(lake: Lake, feed: Feed) -> RunPlan:
    """``due`` in less time, from the ledger alone: what bronze has and its ledger does not is taken for new."""
    offsets = ledger.offsets_in(ledger.noted_contents(lake, feed)) if feed.reads_topics else {}
    return _due(lake, feed, ledger.noted_objects(lake, feed), offsets)


def _due(
    lake: Lake, feed: Feed, known: Sequence[ReadObject], offsets: Mapping[tuple[str, str], ReadUpTo]
) -> RunPlan:
    ledger.refuse_other_size(feed, (drop.window for drop in known))
    unfinished = progress.unfinished(lake, feed, known)
    if feed.reads_topics:
        plan = _due_of_topics(feed, unfinished, offsets, sum(drop.records for drop in known))
    else:
        arrived = from_objects.arrivals(feed, lambda _: known)
        new = {drop.window for drop in arrived.new}
        plan = bounded(feed, new | {*unfinished}, arrived.left_out)
        plan = replace(plan, landed=arrived.landed, out_of_time=(*arrived.out_of_time,))
    return replace(plan, finished=frozenset(one.window for one in known).difference(plan.windows))


def _due_of_topics(
    feed: Feed, unfinished: Sequence[str], read: Mapping[tuple[str, str], ReadUpTo], records: int
) -> RunPlan:
    """``_due`` for a feed of topics: the windows that a short look at the new records finds.

    A run of any window reads all new records; ``rest`` gives the windows that the look did not find.
    """
    partitions_now = kafka.look_at_topics(feed)
    backlog = kafka.backlog_of(feed, partitions_now, read)
    windows = {*unfinished}
    if backlog.ranges:
        seen = {
            kafka.named_partition(*partition): upto.next_offset for partition, upto in read.items()
        }
        windows |= kafka.windows_in(feed, partitions_now, seen, LOOK_SECONDS)[0]
    plan = bounded(feed, windows)
    if backlog.ranges and not plan.windows:
        # Offsets without a record, or records of the future: some run has to read them before Kafka deletes them.
        plan = replace(plan, windows=[window_at(datetime.now(UTC), feed.window)])
    return replace(
        plan,
        landed=records + sum(unread.size for unread in backlog.ranges),
        undecided=kafka.undecided_topics(partitions_now),
    )


def rest(lake: Lake, plan: RunPlan) -> RunPlan:
    """What is left after a plan of topics was run: the windows that only its reading has brought to light."""
    feed = plan.feed
    if not feed.reads_topics:
        return RunPlan(feed, [], [], [])
    left = progress.unfinished(lake, feed, ledger.read_objects(lake, feed))
    windows = {*left}.difference(plan.windows)
    # Where a person has named windows, no other is run.
    return bounded(feed, (one for one in windows if plan.asked is None or plan.asked.has(one)))
