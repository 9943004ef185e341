"""The sensor of a feed of files: it asks for runs of all windows that have new drops, old windows included.

It lists the landing, or of a large one mostly its newest days, and asks for the windows with objects that bronze does
not have, as far as its ledger says. It needs no Spark, and a run that it asks for once too often is harmless, since
bronze reads every object generation once. One run is asked for a range of such windows; it may have quiet windows
between them, and none that is read already. Its cursor names the windows that it has asked for and that are not read
yet, and no others, so that it does not grow with the landing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import dagster as dg

from assets.control import ledger, progress
from assets.landing.landings import LandedObject, open_landing
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.automation import missing_windows
from orchestration.automation.jobs import job_name, seconds_between_looks, sensor_status
from orchestration.automation.missing_windows import before_start
from orchestration.automation.run_requests import (
    RUNS_AT_ONCE,
    WINDOWS_AT_ONCE,
    ranges_of,
    request_for,
    requests_after_failure,
    state_of,
)
from orchestration.observability.run_tags import name_of
from transforms.feed.feed import Feed
from transforms.feed.windows import bounds, day_of, window_at
from transforms.formats import FORMATS


def build(feed: Feed, lake: Lake) -> dg.SensorDefinition:
    """Ask for every window with objects that are not read, once for each state of them."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=seconds_between_looks(feed),
        default_status=sensor_status(feed),
        description=f"Looks for new drops in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        moment, seen = datetime.now(UTC), Cursor.read(context.cursor)
        looked = look(feed, seen, moment)
        now, (first, last) = digests(looked.objects), bounds(feed, moment)
        known = ledger.noted_objects(lake, feed, None if looked.days is None else now)
        read = {(drop.name, drop.generation) for drop in known}
        unread = {one.window for one in looked.objects if (one.name, one.generation) not in read}
        waiting = seen.waiting(unread, looked)
        # A date in a path may be wrong or still to come: what is no partition would stop the whole tick.
        changed = [
            window
            for window in sorted(unread)
            if waiting.get(window) != now[window] and first <= window <= last
        ]
        requests, new = requests_for(feed, changed, now)
        links = [f"not read: {link}" for link in looked.links]
        notes = [*filter(None, [before_start(feed, unread), *links])]
        for line in notes:
            context.log.warning(line)

        def still_due(windows: Collection[str]) -> set[str]:
            due = unread | {*progress.unfinished(lake, feed, known)}
            return due.intersection(windows, now).difference(changed)

        requests += requests_after_failure(context.instance, feed, still_due)
        asked = waiting | {window: now[window] for window in new}
        cursor = seen.written(asked, looked, moment, is_rest=len(new) < len(changed))
        if not requests:
            context.update_cursor(cursor)
            quiet = []
            if looked.days is None:
                # Not in a tick that asks for runs: these would wait for it.
                landed = {*now, *(one.window for one in known)}
                quiet = missing_windows.mark_quiet(context, feed, landed)
            left = f"{len(waiting):,} asked for and not read yet" if waiting else "all read"
            nothing = f"no new drops in {feed.landing}: {seen_in_words(looked, now)}, {left}"
            return dg.SkipReason("; ".join([nothing, *quiet, *notes]))
        return dg.SensorResult(run_requests=requests, cursor=cursor)

    return drops


def requests_for(
    feed: Feed, changed: Sequence[str], now: Mapping[str, str]
) -> tuple[list[dg.RunRequest], list[str]]:
    """A request for each range of windows that have changed, and those of them that are in one.

    ``now`` has a digest of each window's drops: windows with drops that have not changed are in no range.
    """
    windows = changed[:WINDOWS_AT_ONCE]
    ranges = ranges_of(windows, feed.window, now)[:RUNS_AT_ONCE]
    requests = [
        request_for(feed, *ends, f"{name_of(*ends)}:{state_of(*ends, now)}") for ends in ranges
    ]
    return requests, [window for window in windows if ranges and window <= ranges[-1][1]]


@dataclass(frozen=True, slots=True)
class Look:
    """The drops that a tick has seen: all, or those of ``days``; ``links``: sentences on links that lead out of it."""

    objects: list[LandedObject]
    days: frozenset[str] | None
    links: list[str]

    def covers(self, window: str) -> bool:
        """Whether all drops of this window were looked at."""
        return self.days is None or day_of(window) in self.days


def seen_in_words(looked: Look, windows: Collection[str]) -> str:
    """How many objects and windows a tick has looked at, and of which days if not of all."""
    words = f"{counted(len(looked.objects), 'object')} of {counted(len(windows), 'window')}"
    if looked.days is None:
        return words
    return f"{words} from {min(looked.days)} to {max(looked.days)} (older ones are looked at once an hour)"


def digests(objects: Iterable[LandedObject]) -> dict[str, str]:
    """One short digest per window, of its objects' names and generations in any order."""
    names: dict[str, list[str]] = {}
    for drop in objects:
        names.setdefault(drop.window, []).append(f"{drop.name}\n{drop.generation}\n")
    return {
        window: hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16]
        for window, lines in names.items()
    }


# A landing keeps its drops for ever, so that listing all of it costs more with every day. Of a large one a tick lists
# the newest days alone, and all of it once an hour. Where no folder's name is a date, every tick lists all.


MANY = 10_000
"""Fewer objects are listed whole by every tick: that takes less than a second, and 10 requests of a bucket."""

NEWEST_DAYS = 3
"""Today, in UTC, and the days before it that a tick always looks at."""

WHOLE_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a sensor remembers from tick to tick.

    - ``asked``: for windows that it has asked a run for and that are not read yet, the digest of their drops then.
    - ``whole_at``: when it last listed all of the landing, and ``landed``: how many drops it saw.
    """

    asked: Mapping[str, str] = field(default_factory=dict)
    whole_at: datetime | None = None
    landed: int = 0

    @classmethod
    def read(cls, text: str | None) -> Cursor:
        """The cursor as Dagster keeps it."""
        if not text:
            return cls()
        kept = json.loads(text)
        at = kept["whole_at"] and datetime.fromisoformat(kept["whole_at"])
        return cls(kept["asked"], at, kept["landed"])

    def waiting(self, unread: Collection[str], look: Look) -> dict[str, str]:
        """Of the windows asked for those that are unread still; of one that was not looked at nothing new is known."""
        return {
            window: digest
            for window, digest in self.asked.items()
            if window in unread or not look.covers(window)
        }

    def written(self, asked: Mapping[str, str], look: Look, now: datetime, *, is_rest: bool) -> str:
        """The cursor after this look, as text.

        ``is_rest``: there is more to ask for than one tick may, so that the next one looks at all of it again.
        """
        whole_at, landed = self.whole_at, self.landed
        if look.days is None:
            whole_at, landed = None if is_rest else now, len(look.objects)
        at = whole_at and whole_at.isoformat()
        kept = {"asked": dict(asked), "whole_at": at, "landed": landed}
        return json.dumps(kept, sort_keys=True)


def look(feed: Feed, cursor: Cursor, now: datetime) -> Look:
    """List the landing, or its newest days where it is large and was listed whole not long ago."""
    landing = open_landing(feed, FORMATS[feed.format].files)
    # A clock that was put back must not keep it from looking at all.
    ago = None if cursor.whole_at is None else abs(now - cursor.whole_at)
    if ago is None or ago >= WHOLE_EVERY or cursor.landed <= MANY:
        return Look([*landing.list()], None, landing.left_out.links)
    newest = (now - timedelta(days=ago) for ago in range(NEWEST_DAYS))
    days = frozenset(window_at(day, "day") for day in newest)
    found = [one for one in landing.list(days) if day_of(one.window) in days]
    return Look(found, days, landing.left_out.links)
