"""A quick look at a landing: whether it can be reached, how much lies there, and when the newest of it came.

It reads no drop, and of a very large landing it lists only the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from confluent_kafka import TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from assets.landing import kafka
from assets.landing.kafka import ClientErrors
from assets.landing.landings import open_landing
from assets.wording import counted
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.paths import date_in_path
from transforms.formats import FORMATS

MOST_LISTED = 10_000
"""Maximum number of objects that are listed: one listing of S3 returns a thousand."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a look at a landing found.

    ``drops``: how many objects, or records of topics. ``is_all``: false where the listing was ended before its end.
    ``newest``: when the newest of them landed. ``left_out``: how many objects are no drops of the feed. ``fault``: why
    the landing cannot be read; nothing else is known then. ``without_date``: of how many drops the path does not fit
    the feed's ``window_path``, so that they are in the window of their last change.
    """

    drops: int = 0
    is_all: bool = True
    newest: datetime | None = None
    left_out: int = 0
    fault: str | None = None
    is_topic: bool = False
    without_date: int = 0

    def in_words(self) -> str:
        """What was found, in a phrase."""
        if self.fault is not None:
            return f"cannot be read: {self.fault}"
        if not self.drops:
            left = f"; {counted(self.left_out, 'object')} left out" if self.left_out else ""
            return f"reachable, and empty{left}"
        noun = "record" if self.is_topic else "drop"
        more = "" if self.is_all else "more than "
        newest = f", newest {self.newest:%Y-%m-%d %H:%M} UTC" if self.newest else ""
        left = f", {counted(self.left_out, 'object')} left out" if self.left_out else ""
        off = (
            f", {self.without_date:,} without the date of window_path" if self.without_date else ""
        )
        return f"reachable, {more}{counted(self.drops, noun)}{newest}{left}{off}"


def probe_landing(feed: Feed) -> Probe:
    """Look at the landing of a feed; what is wrong with it is in the answer."""
    try:
        return _of_topics(feed) if feed.reads_topics else _of_objects(feed)
    except UnreadableLanding as fault:
        return Probe(fault=f"{fault.landing}: {fault.fault}. {fault.remedy}")


def _of_objects(feed: Feed) -> Probe:
    landing = open_landing(feed, FORMATS[feed.format].files)
    drops, newest, without_date = 0, None, 0
    for one in islice(landing.list(), MOST_LISTED):
        drops += 1
        newest = one.modified_at if newest is None else max(newest, one.modified_at)
        if feed.window_path is not None and date_in_path(one.name, feed.window_path) is None:
            without_date += 1
    is_all, left_out = drops < MOST_LISTED, landing.left_out.count
    return Probe(drops, is_all, newest, left_out, without_date=without_date)


def _of_topics(feed: Feed) -> Probe:
    partitions = kafka.look_at_topics(feed)
    records = sum(one.end - one.earliest for one in partitions)
    if not records:
        return Probe(is_topic=True)
    client_errors = ClientErrors()
    client = kafka.admin_client(feed, client_errors)
    newest = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]
    places = {TopicPartition(one.topic, one.number): newest for one in partitions}
    asked = client.list_offsets(places, request_timeout=kafka.PATIENCE)
    found = kafka.broker_answers(feed, client, asked, client_errors)
    times = [one.timestamp for one in found.values() if one.timestamp >= 0]
    moment = datetime.fromtimestamp(max(times) / 1000, UTC) if times else None
    return Probe(records, newest=moment, is_topic=True)
