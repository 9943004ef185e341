"""Records of quarantine that nobody can mend are given up, so that they hold nothing up.

Put here how the decision is made, and what is shown of it. Not here: how it is kept (``assets/bookkeeping/decisions``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from assets.bookkeeping import decisions
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.bookkeeping.quarantine.words import record_line
from assets.lake import Lake
from assets.wording import counted
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Dismissal
from transforms.feed.feed import Feed

SHOWN = 50
"""How many records are named at most."""


def dismiss(
    lake: Lake, feed: Feed, given_up: Sequence[QuarantinedRecord], signature: Signature
) -> list[str]:
    """Record that these records are given up; the lines to be shown.

    Raises:
        DecisionRefused: one of the records is in no quarantine, or needs no decision.
    """
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
