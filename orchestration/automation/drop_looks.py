"""How much of a landing a sensor looks at in one tick: all of it, or of a large one mostly its newest days.

A landing keeps its drops for ever, so that listing all of it each minute costs more with every day. Of a landing with
many objects a tick lists the newest days alone, and all of it once an hour: an object that comes late into an old
window is found then, by the sensor or by the schedule. Where no folder's name is a date, every tick lists all.
Put here what a tick looks at, and what it remembers of that. Not here: what it asks for (``object_sensor``), and how
some days are listed (``assets/landing/day_listing``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from assets.landing.landings import open_landing
from assets.landing.objects import LandedObject
from transforms.feed.feed import Feed
from transforms.feed.windows import day_of, window_at
from transforms.formats import FORMATS

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
        """The cursor as Dagster keeps it; those of earlier versions are the windows alone."""
        if not text:
            return cls()
        kept = json.loads(text)
        if "asked" not in kept:
            return cls(kept)
        whole_at = kept["whole_at"]
        at = None if whole_at is None else datetime.fromisoformat(whole_at)
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
        at = None if whole_at is None else whole_at.isoformat()
        kept = {"asked": dict(asked), "whole_at": at, "landed": landed}
        return json.dumps(kept, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Look:
    """The drops that a tick has seen: all, or those of ``days``; ``links``: sentences on links that lead out of it."""

    objects: list[LandedObject]
    days: frozenset[str] | None
    links: list[str]

    def covers(self, window: str) -> bool:
        """Whether all drops of this window were looked at."""
        return self.days is None or day_of(window) in self.days


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
