"""``weir quarantine dismiss``: records that nobody can mend are given up, so that they hold nothing up.

Put here how the decision is made and told. Not here: how it is kept (``assets/bookkeeping/decisions``).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from assets.bookkeeping import decisions
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.bookkeeping.quarantine.words import record_line
from assets.lake import Lake
from assets.wording import counted
from orchestration.cli.options import Choice, Place
from orchestration.cli.quarantine.opened import of_feed, opened
from orchestration.cli.quarantine.signing import signed
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Dismissal
from transforms.feed.feed import Feed

SHOWN = 50
"""How many records are named at most."""


def dismiss(place: Place, name: str, choice: Choice, by: str | None) -> None:
    """Give up the chosen records of a feed's quarantine."""
    quarantine = opened(place, name)
    signature = signed(quarantine.feed, choice.reason, by)
    for line in dismissed(quarantine.lake, quarantine.feed, choice, signature):
        print(line)


def dismissed(lake: Lake, feed: Feed, choice: Choice, signature: Signature) -> list[str]:
    """Record the decision in an open warehouse; the lines to be printed.

    Raises:
        DecisionRefused: nothing is chosen, an id names no record or several, or the record is in no quarantine.
    """
    given_up = of_feed(lake, feed).picked(choice)
    for record in given_up:
        if record.state not in ("open", "dismissed"):
            raise DecisionRefused(
                feed.name,
                f"{record_line(record)}: it is {record.state}, so that nothing waits for it",
            )
    waiting = [one for one in given_up if one.state == "open"]
    if waiting:
        decisions.dismiss(lake, feed, by_object(waiting), signature)
    lines = [f"{feed.name}: dismissed: {record_line(one)}" for one in waiting[:SHOWN]]
    already = len(given_up) - len(waiting)
    rest = f" ({counted(already, 'other')} had been before)" if already else ""
    total = f"{feed.name}: {counted(len(waiting), 'record')} dismissed{rest}; nothing waits for them now"
    return [*lines, total]


def by_object(records: Iterable[QuarantinedRecord]) -> list[Dismissal]:
    """One decision for all records of one object, however many these are."""

    def object_of(record: QuarantinedRecord) -> tuple[str, str, str]:
        return record.window, *record.place[:2]

    return [
        Dismissal(*key, tuple(sorted({record.place[2:] for record in of_object})))
        for key, of_object in groupby(sorted(records, key=object_of), key=object_of)
    ]
