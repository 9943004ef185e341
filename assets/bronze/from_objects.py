"""Landed objects to bronze: the records of every object generation that bronze does not have, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import DataFrame

from assets.control import ledger, progress
from assets.executors.choice import IN_PROCESS, SPARK
from assets.landing.landings import LandedObject, open_landing
from assets.landing.read_objects import read_in_process, read_objects
from assets.landing.spark_source import raise_clearly, written
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from transforms.feed.feed import Feed
from transforms.feed.paths import date_in_path
from transforms.feed.windows import bounds, day_of, first_of, window_at
from transforms.formats import FORMATS


@dataclass(frozen=True, slots=True)
class LandingDiff:
    """What lies in the landing, compared with what bronze holds.

    ``new``: unread objects in this run's windows. ``replaced``: the names of those of them that bronze holds in an
    earlier generation. ``left_out``: a sentence for each object that is no drop; ``links``: those of them on links out
    of the landing's folder. ``landed``: how many objects lie in this run's windows, read or not. ``waiting``: unread
    objects outside this run's windows, if the caller asked for them. ``seen``: all objects that were compared.
    ``out_of_time``: a sentence for each drop that no run reads now, by the date in its path or its own.
    ``executor``: which of them has read the new objects; None before they are read.
    """

    new: list[LandedObject]
    replaced: list[str]
    left_out: list[str]
    landed: int
    waiting: list[LandedObject]
    seen: list[LandedObject] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    out_of_time: list[str] = field(default_factory=list)
    executor: str | None = None


def arrivals(
    feed: Feed,
    read: Callable[[Sequence[str]], Iterable[ledger.ReadObject]],
    windows: Sequence[str] | None = None,
    *,
    look_elsewhere: bool = False,
) -> LandingDiff:
    """List the landing and compare it with bronze. It reads no object and writes nothing.

    ``read``: what bronze holds of the objects with these names, in whatever window: one that was overwritten may have
    been in another window before. ``windows``: this run's; None for all. ``look_elsewhere``: list the other windows,
    too, and fill ``waiting``.
    """
    landing = open_landing(feed, FORMATS[feed.format].files)
    wanted = None if windows is None else set(windows)
    everywhere = wanted is None or look_elsewhere
    first, newest = bounds(feed, datetime.now(UTC))
    days = _RunDays({day_of(window) for window in wanted or ()}, day_of(first), day_of(newest))
    listed = [*landing.list(None if everywhere else days)]
    landed = [one for one in listed if wanted is None or one.window in wanted]
    looked_at = listed if look_elsewhere else landed
    known = read([one.name for one in looked_at]) if looked_at else []
    generations = {(one.name, one.generation) for one in known}
    names = {name for name, _ in generations}
    unknown = [one for one in looked_at if (one.name, one.generation) not in generations]
    new = [one for one in unknown if wanted is None or one.window in wanted]
    return LandingDiff(
        new=new,
        replaced=sorted(one.name for one in new if one.name in names),
        left_out=list(landing.left_out),
        landed=len(landed),
        waiting=[one for one in unknown if wanted is not None and one.window not in wanted],
        seen=looked_at,
        out_of_time=[*_out_of_time(feed, listed, first, newest)],
        links=landing.left_out.links,
    )


@dataclass(frozen=True, slots=True)
class _RunDays:
    """The days of a run, and those that no run reads: these are looked at to name what is there."""

    days: Set[str]
    first: str
    newest: str

    def __contains__(self, day: object) -> bool:
        return day in self.days or (isinstance(day, str) and not self.first <= day <= self.newest)


def _out_of_time(
    feed: Feed, listed: Iterable[LandedObject], first: str, newest: str
) -> Iterator[str]:
    """A sentence for each drop whose window has not begun, or is before the first that anybody would expect.

    What is before a ``start`` that the feed file declares is left out on purpose.
    """
    other = "" if feed.window_path else "; if it is not when it landed, window_path says what is"
    for one in listed:
        if first <= one.window <= newest:
            continue
        date = date_in_path(one.name, feed.window_path)
        of = "the date in its path" if date else "the time at which it was modified"
        if one.window > newest:
            yield f"{one.name}: {of} is {one.window}, which has not begun, so it waits{other}"
        elif one.window < first and feed.running.start is None:
            yield f"{one.name}: {of} is {one.window}, before the first window, {first}{other}"


def land(lake: Lake, feed: Feed, windows: Sequence[str]) -> LandingDiff:
    """Append the records of these windows' new objects to bronze, in one commit."""
    # Two runs that both find an object new would both append it, and Delta accepts both commits.
    with writing(lake, Layer.BRONZE, feed.name):
        held = ledger.catch_up(lake, feed)
        ledger.refuse_other_size(feed, ledger.other_windows(held.rows, feed))
        transactional = FORMATS[feed.format].transactional
        found = arrivals(
            feed,
            lambda names: ledger.objects_in(held.rows, names=names),
            windows,
            look_elsewhere=transactional,
        )
        if transactional:
            # What lies before the first window is read by no run.
            first = window_at(first_of(feed), feed.window)
            unread = [
                (one.window, one.name, one.generation)
                for one in found.new + found.waiting
                if one.window >= first
            ]
            progress.note_landed(lake, feed, unread)
            # An object that was overwritten or removed before it was read will never be read.
            there = {(one.window, one.name, one.generation) for one in found.seen}
            progress.forget_unreadable(lake, feed, there)
        if found.new or held.version < 0:
            executor = append_new(
                *(lake, feed, held.version),
                lambda: read_in_process(feed, found.new, lake.choice, lake.limits),
                lambda into: read_objects(lake.spark, feed, found.new, lake.limits, into),
            )
            found = replace(found, executor=executor)
            ledger.catch_up(lake, feed)
        return found


def append_new(
    lake: Lake,
    feed: Feed,
    seen: int,
    read: Callable[[], pa.Table | None],
    read_by_spark: Callable[[str | None], DataFrame],
) -> str:
    """Add what is read to bronze, in one commit; returns which executor has read it.

    ``seen``: bronze's version that says what is new. ``read`` reads in this process, or gives None for Spark's work;
    ``read_by_spark`` is given the table below which tasks write, as in ``read_parts``.
    """
    bronze = lake.in_process_table(Layer.BRONZE, feed.name)
    rows = read() if bronze.may_be_written else None
    if rows is not None:
        bronze.append(rows, ["window"], seen=seen)
        return IN_PROCESS
    with raise_clearly():
        if bronze.takes_files:
            bronze.append_files(written(read_by_spark(bronze.path)), seen=seen)
        else:
            frame = read_by_spark(None)
            lake.table(Layer.BRONZE, feed.name).append(frame, partition_by=["window"], seen=seen)
    return SPARK
