"""``weir dismiss``: quarantined records that nobody can fix, listed or dismissed, so that they hold nothing up.

Put here what the command lists and what it does. Not here: which records may still be fixed
(``assets/bookkeeping/dismissals``), and how the decision is kept (``assets/bookkeeping/decisions``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from pyspark.sql import functions as F

from assets.bookkeeping import decisions, dismissals
from assets.lake import Lake
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.decisions.choice import Listed
from orchestration.cli.options import Choice, Place
from orchestration.spark.java import check_java
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Dismissal
from transforms.feed.feed import Feed
from transforms.record import COORDINATES

SHOWN = 50
"""How many records are listed at most; the table ``quarantine.<feed>`` has all of them."""


@dataclass(frozen=True, slots=True)
class QuarantinedRecord:
    """A record with ``events`` events in quarantine, and the table, reason and detail of the first of them."""

    id: str
    window: str
    object: str
    generation: str
    line: int
    byte_offset: int
    events: int
    table: str | None
    reason: str
    detail: str


def dismiss(place: Place, name: str, choice: Choice) -> None:
    """Dismiss the chosen records of a feed's quarantine, or list the records where none is chosen."""
    check_java()
    (feed,) = session.choose(place.feeds, [name])
    if choice.is_made and not (choice.reason or "").strip():
        raise DecisionRefused(
            feed.name, "say why with --reason: whoever reads decisions later wants to know it"
        )
    lake = session.opened(place.warehouse, [feed])
    for line in dismissed(lake, feed, choice):
        print(line)


def dismissed(lake: Lake, feed: Feed, choice: Choice) -> list[str]:
    """Record the decision in an open warehouse; the lines to be printed.

    Raises:
        DecisionRefused: an id that was typed is the beginning of none, or of more than one.
    """
    records = quarantined(lake, decisions.with_recorded(lake, feed))
    if not choice.is_made:
        more = [f"and {len(records) - SHOWN:,} more"] if len(records) > SHOWN else []
        advice = f"; `weir dismiss {feed.name} ID --reason TEXT` or `--all` dismisses them"
        total = f"{feed.name}: {counted(len(records), 'record')} in quarantine"
        total += advice if records else ""
        return [*[in_words(record) for record in records[:SHOWN]], *more, total]
    listed = Listed(feed, "dismiss", "record in quarantine")
    given_up = listed.picked(choice, [(record.id, record) for record in records])
    if given_up:
        now = datetime.now(UTC)
        decisions.dismiss(lake, feed, by_object(given_up), now, choice.reason or "")
    total = f"{feed.name}: {counted(len(given_up), 'record')} dismissed; nothing waits for them now"
    lines = [f"{feed.name}: dismissed: {in_words(record)}" for record in given_up[:SHOWN]]
    return [*lines, total]


def quarantined(lake: Lake, feed: Feed) -> list[QuarantinedRecord]:
    """The records in quarantine that may yet be fixed, in the order in which they came."""
    rows = dismissals.waiting(lake, feed)
    if rows is None:
        return []
    fault = F.struct("table", "reason", "detail")
    records = (
        rows.groupBy("window", *COORDINATES)
        .agg(F.count("*").alias("events"), F.min(fault).alias("fault"))
        .withColumn("id", F.sha2(F.to_json(F.struct(*COORDINATES)), 256))
        .orderBy("window", *COORDINATES)
        .select("id", "window", *COORDINATES, "events", "fault.*")
    )
    return [QuarantinedRecord(**row.asDict()) for row in records.collect()]


def by_object(records: Iterable[QuarantinedRecord]) -> list[Dismissal]:
    """One decision for all records of one object, however many these are."""

    def object_of(record: QuarantinedRecord) -> tuple[str, str, str]:
        return record.window, record.object, record.generation

    return [
        Dismissal(*key, tuple(sorted({(record.line, record.byte_offset) for record in of_object})))
        for key, of_object in groupby(sorted(records, key=object_of), key=object_of)
    ]


def in_words(record: QuarantinedRecord) -> str:
    """One record in a line."""
    of = f" of {record.table}" if record.table else ""
    more = f" and {counted(record.events - 1, 'event')} more" if record.events > 1 else ""
    what = f"{record.reason}{of}: {record.detail}{more}"
    return f"{record.id[:12]}  {what}, {record.object} line {record.line}"
