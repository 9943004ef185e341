"""Records of quarantine that nobody can repair are given up, so that they hold nothing up.

Put here how the decision is made, and what is shown of it. Not here: how it is kept (``assets/bookkeeping/decisions``).
"""

from __future__ import annotations

from typing import Final

from assets.bookkeeping import decisions
from assets.bookkeeping.decisions import Signature
from assets.bookkeeping.quarantine.records import Records
from assets.bookkeeping.quarantine.words import record_line
from assets.lake import Lake
from assets.wording import counted
from transforms.errors import DecisionRefused
from transforms.feed.decisions import Dismissal
from transforms.feed.feed import Feed
from transforms.record import SOURCE_LOCATION

SHOWN = 50
"""How many records are named at most."""

_GIVEN_UP: Final = ("open", "dismissed")

_AT_ONCE = 10_000


def dismiss(lake: Lake, feed: Feed, given_up: Records, signature: Signature) -> list[str]:
    """Record that these records are given up; the lines to be shown.

    Raises:
        DecisionRefused: one of the records is in no quarantine, or needs no decision.
    """
    waiting, before = (given_up.where(state=one) for one in _GIVEN_UP)
    if rest := given_up.without(waiting).without(before)[:1]:
        (record,) = rest
        raise DecisionRefused(
            feed.name, f"{record_line(record)}: it is {record.state}, so that nothing waits for it"
        )
    if waiting:
        decisions.dismiss(lake, feed, by_object(waiting), signature)
    lines = [f"{feed.name}: dismissed: {record_line(one)}" for one in waiting[:SHOWN]]
    others = f" ({counted(len(before), 'other')} had been before)" if before else ""
    which = "it" if len(waiting) == 1 else "them"
    total = f"{feed.name}: {counted(len(waiting), 'record')} dismissed{others}; nothing waits for {which} now"
    return [*lines, total]


def by_object(records: Records) -> list[Dismissal]:
    """One decision for all records of one object, however many these are."""
    found: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for batch in records.rows.select(["window", *SOURCE_LOCATION]).to_batches(_AT_ONCE):
        for *of_object, line, byte_offset in zip(*batch.to_pydict().values(), strict=True):
            window, name, generation = of_object
            found.setdefault((window, name, generation), []).append((line, byte_offset))
    return [
        Dismissal(*key, tuple(sorted(set(source_locations))))
        for key, source_locations in found.items()
    ]
