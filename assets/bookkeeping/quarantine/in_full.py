"""One record of quarantine with all that is known of it, in lines, and what to do about it.

Put here what is shown of a single record. Not here: lists of records (``words``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assets.bookkeeping import ledger
from assets.bookkeeping.ledger import ReadObject
from assets.bookkeeping.quarantine import words
from assets.bookkeeping.quarantine.records import QuarantinedRecord
from assets.lake import Lake
from assets.wording import counted
from expectations.quarantine import remedy
from transforms.feed.feed import Feed


def landed_again(lake: Lake, feed: Feed, record: QuarantinedRecord) -> list[ReadObject]:
    """The other generations of a record's object that bronze has; of a topic there is nothing to ask."""
    if feed.reads_topics:
        return []
    name, generation, _, _ = record.source_location
    found = ledger.read_objects(lake, feed, names=[name])
    return [one for one in found if one.generation != generation]


def shown_in_full(
    feed: Feed,
    record: QuarantinedRecord,
    row: Mapping[str, Any] | None,
    others: Sequence[ReadObject] = (),
) -> Iterator[str]:
    """One record in lines; ``row`` is bronze's, ``others`` are ``landed_again``."""
    object_name, generation, line, byte_offset = record.source_location
    yield f"record      {record.id}"
    yield f"state       {words.state_in_words(record)}"
    yield f"window      {record.window}"
    if feed.reads_topics:
        yield f"where       {object_name} offset {byte_offset} (topic id {generation})"
    else:
        yield f"where       {object_name} line {line}, byte {byte_offset} (generation {generation})"
    yield f"table       {record.table or '(unknown)'}"
    more = f" (the first of {record.events:,} events)" if record.events > 1 else ""
    yield f"reason      {record.reason or '(none is known)'}{more}"
    if record.detail:
        yield f"found       {record.detail}"
    if advice := advice_of(feed, record, others):
        yield f"what to do  {advice}"
    if row is None:
        yield "the record is no longer in bronze"
        return
    if row["defect"]:
        yield f"defect      {row['defect']}"
    if row["header"]:
        yield f"header      {words.short(row['header'].encode())}"
    if row["key"] is not None:
        yield f"key         {words.short(row['key'])}"
    given = record.replacement
    yield ""
    yield "record, as it landed:" if given is None else "original, as it landed (bronze keeps it):"
    yield from words.readable(row["payload"]).split("\n")
    if given is not None:
        by = f" by {given.by}" if given.by else ""
        yield ""
        yield f"read in its place, decided {given.at:%Y-%m-%d %H:%M} UTC{by}:"
        yield from words.readable(given.payload).split("\n")


def advice_of(feed: Feed, record: QuarantinedRecord, others: Sequence[ReadObject] = ()) -> str:
    """What to do about a record; empty where nothing is left to do.

    A record stays open where its object landed again: all generations count together, and which of the new one's
    records it is, if any, only a person can say.
    """
    if record.state not in ("open", "too late"):
        return ""
    id = record.id[: words.ID]
    advice = remedy(record.reason, feed.name, id)
    if not others or record.state != "open":
        return advice
    again = "; ".join(
        f"generation {one.generation}, {counted(one.records, 'record')}" for one in others
    )
    return (
        f"Another version of this object was read, too ({again}). Where that has the record whole, it counts from"
        f" there, and this one may go: `weir quarantine dismiss {feed.name} {id} --reason TEXT`. Otherwise: {advice}"
    )
