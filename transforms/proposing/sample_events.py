"""The events of a sample's records, as the format makes them of records before any table is declared.

Put here how a sample is decoded. Not here: what is found in the events.
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.event import Pending
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.proposing.entries import Proposal, Sampled
from transforms.proposing.proposed_tables import of_events
from transforms.record import BronzeRecord


def proposed(feed: Feed, records: Sequence[BronzeRecord]) -> Proposal:
    """What a feed of the format should declare, by these records."""
    propose = FORMATS[feed.format].propose or of_events
    return propose(feed, sample_events(feed, records))


def sample_events(feed: Feed, records: Sequence[BronzeRecord]) -> list[Sampled]:
    """The records with their events; those that wait for others are resolved by the whole sample."""
    source = FORMATS[feed.format]
    decode = source.decoder(feed, surveyed(feed, records))
    found: list[Sampled] = []
    groups: dict[tuple[object, ...], list[tuple[BronzeRecord, Pending]]] = {}
    for record in records:
        for one in decode(record):
            if isinstance(one, Pending):
                groups.setdefault((record.window, *one.group), []).append((record, one))
            else:
                found.append((record, one))
    if source.resolver is not None:
        resolve = source.resolver(feed)
        for waiting in groups.values():
            waiting.sort(key=lambda pair: pair[1].order)
            events = resolve([one.content for _, one in waiting])
            found += zip([record for record, _ in waiting], events, strict=True)
    return found


def surveyed(
    feed: Feed, records: Sequence[BronzeRecord]
) -> dict[str, frozenset[tuple[object, ...]]]:
    """By window, what the format's survey collects of these records."""
    source = FORMATS[feed.format]
    if source.surveyor is None:
        return {}
    survey = source.surveyor(feed)
    facts: dict[str, set[tuple[object, ...]]] = {}
    for record in records:
        if any(mark in (record.payload or b"") for mark in source.survey_marks):
            facts.setdefault(record.window, set()).update(survey(record))
    return {window: frozenset(some) for window, some in facts.items()}
