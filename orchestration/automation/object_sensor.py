"""A sensor per feed of files: a window with new drops is run, an old window too.

It lists the landing, or of a large one mostly its newest days, and asks for the windows with objects that bronze does
not have, as far as its ledger says. It needs no Spark, and a run that it asks for once too often is harmless, since
bronze reads every object generation once.
One run is asked for a range of such windows; it may have quiet windows between them, and none that is read already.
Its cursor names the windows that it has asked for and that are not read yet, and no others, so that it does not grow
with the landing.
Put here what a landing of files asks for. Not here: how much of it a tick looks at (``drop_looks``), topics
(``topic_sensor``), and runs that failed (``failed_runs``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import hashlib
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime

import dagster as dg

from assets.bookkeeping import ledger, window_progress
from assets.bookkeeping.ledger import ReadObject
from assets.lake import Lake
from assets.landing.objects import LandedObject
from assets.wording import counted
from orchestration.automation import quiet_windows
from orchestration.automation.drop_looks import Cursor, Look, look
from orchestration.automation.failed_runs import again
from orchestration.automation.jobs import job_name, sensor_status
from orchestration.automation.range_requests import (
    RUNS_AT_ONCE,
    WINDOWS_AT_ONCE,
    request_for,
    state_of,
)
from orchestration.runs.first_window import before_start
from orchestration.runs.ranges import ranges_of
from orchestration.watching.run_windows import name_of
from transforms.feed.feed import Feed
from transforms.feed.windows import bounds


def build(feed: Feed, lake: Lake) -> dg.SensorDefinition:
    """Ask for every window with objects that are not read, once for each state of them."""

    @dg.sensor(
        name=f"{feed.name}_drops",
        job_name=job_name(feed),
        minimum_interval_seconds=feed.running.automation.look_every,
        default_status=sensor_status(feed),
        description=f"Looks for new drops in {feed.landing} and runs their windows.",
    )
    def drops(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        moment, seen = datetime.now(UTC), Cursor.read(context.cursor)
        looked = look(feed, seen, moment)
        links = [f"not read: {link}" for link in looked.links]
        for line in links:
            context.log.warning(line)
        now, (first, last) = digests(looked.objects), bounds(feed, moment)
        known = ledger.noted_objects(lake, feed, None if looked.days is None else now)
        unread = unread_windows(looked.objects, known)
        waiting = seen.waiting(unread, looked)
        # A date in a path may be wrong or still to come: what is no partition would stop the whole tick.
        changed = [
            window
            for window in sorted(unread)
            if waiting.get(window) != now[window] and first <= window <= last
        ]
        requests, new = requests_for(feed, changed, now)
        if early := before_start(feed, unread):
            context.log.warning(early)

        def still_due(windows: Collection[str]) -> set[str]:
            due = unread | {*window_progress.unfinished(lake, feed, known)}
            return due.intersection(windows, now).difference(changed)

        requests += again(context.instance, feed, still_due)
        asked = waiting | {window: now[window] for window in new}
        cursor = seen.written(asked, looked, moment, is_rest=len(new) < len(changed))
        quiet = []
        if looked.days is None:
            quiet = quiet_windows.mark_quiet(context, feed, {*now, *(one.window for one in known)})
        if not requests:
            context.update_cursor(cursor)
            nothing = (
                f"no new drops in {feed.landing}: {seen_in_words(looked, now)}, {waits(waiting)}"
            )
            return dg.SkipReason("; ".join(filter(None, [nothing, *quiet, early, *links])))
        return dg.SensorResult(run_requests=requests, cursor=cursor)

    return drops


def requests_for(
    feed: Feed, changed: Collection[str], now: Mapping[str, str]
) -> tuple[list[dg.RunRequest], list[str]]:
    """One request for each range of windows that have changed, and the windows that are in them.

    ``now`` has a digest of each window's drops as they are: windows with drops that have not changed are in no range.
    """
    windows = sorted(changed)[:WINDOWS_AT_ONCE]
    ranges = ranges_of(windows, feed.window, now)[:RUNS_AT_ONCE]
    requests = [
        request_for(feed, *ends, f"{name_of(*ends)}:{state_of(*ends, now)}") for ends in ranges
    ]
    return requests, [window for window in windows if ranges and window <= ranges[-1][1]]


def seen_in_words(looked: Look, windows: Collection[str]) -> str:
    """How many objects and windows a tick has looked at, and of which days if not of all."""
    words = f"{counted(len(looked.objects), 'object')} of {counted(len(windows), 'window')}"
    if looked.days is None:
        return words
    return f"{words} from {min(looked.days)} to {max(looked.days)} (older ones are looked at once an hour)"


def waits(waiting: Collection[str]) -> str:
    """How many windows a run was asked for that has not read them yet."""
    return f"{len(waiting):,} asked for and not read yet" if waiting else "all read"


def unread_windows(objects: Iterable[LandedObject], known: Iterable[ReadObject]) -> set[str]:
    """The windows of objects that are not known in the generation that they have now."""
    read = {(drop.name, drop.generation) for drop in known}
    return {drop.window for drop in objects if (drop.name, drop.generation) not in read}


def digests(objects: Iterable[LandedObject]) -> dict[str, str]:
    """One short digest per window, of its objects' names and generations in any order."""
    names: dict[str, list[str]] = {}
    for drop in objects:
        names.setdefault(drop.window, []).append(f"{drop.name}\n{drop.generation}\n")
    return {
        window: hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:16]
        for window, lines in names.items()
    }
