"""Records of quarantine in words: a line, one in full with what to do about it, and samples for failed checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from assets.control import ledger
from assets.control.ledger import ReadObject
from assets.quarantine.records import QuarantinedRecord, Records, payloads_of, sampled_records
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from expectations.silver import remedy
from transforms.display import (
    NO_MARKDOWN,
    Markdown,
    bullets,
    code_block,
    own_head,
    own_words,
    paragraphs,
    table,
    visible,
)
from transforms.feed.decisions import SourceLocation
from transforms.feed.feed import Feed
from transforms.silver.faults import MISFIT, misfits_told

SHORT = 100
"""Maximum number of characters of a payload in a line."""

ID = 12
"""Number of digits of an id that are shown: enough to name a record."""


HIDDEN = b"(not shown: the feed masks columns)"
"""What stands in the place of payloads in lists of a feed that masks columns, for a record is what it was landed as."""


def hidden(records: Sequence[QuarantinedRecord]) -> Mapping[SourceLocation, bytes | None]:
    """What lists show as the payloads of records of a feed that masks columns."""
    return {one.source_location: HIDDEN for one in records}


def short(payload: bytes | None) -> str:
    """The beginning of a payload in one line."""
    if payload is None:
        return "(no payload)"
    # More bytes than are shown cannot be needed: a character has at most four.
    text = as_text(payload[: 4 * SHORT]).replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= SHORT and len(payload) <= 4 * SHORT else f"{text[:SHORT]}…"


def as_text(payload: bytes) -> str:
    """The payload as text; bytes that are no UTF-8, and characters that a terminal acts upon, as escapes."""
    return visible(payload.decode("utf-8", "backslashreplace"))


def readable(payload: bytes | None) -> str:
    """The whole payload: JSON over several lines, every value as it is written there; anything else as its text."""
    if payload is None:
        return "(no payload)"
    with suppress(msgspec.DecodeError, RecursionError):
        payload = msgspec.json.format(payload)
    return as_text(payload)


def record_line(record: QuarantinedRecord) -> str:
    """One record in a line: its id, where it is, and what was found."""
    more = f" and {counted(record.events - 1, 'event')} more" if record.events > 1 else ""
    of = f"{record.table}: " if record.table else ""
    fault = f"{of}{record.detail}{more}" if record.reason else "repaired before its window was run"
    return f"{record.id[:ID]}  {record.window}  {record.where}  {fault}"


def state_in_words(record: QuarantinedRecord) -> str:
    """In which state a record is, since when, by whom and why."""
    text: str = record.state
    if record.state == "repaired" and record.how and record.replacement is None:
        text += f" ({record.how})"
    if record.left_at is not None:
        text += f" at {record.left_at:%Y-%m-%d %H:%M} UTC"
    if record.decided is not None:
        at = f"{record.decided.at:%Y-%m-%d %H:%M} UTC"
        by = f" by {record.decided.by}" if record.decided.by else ""
        why = f": {record.decided.reason}" if record.decided.reason else ""
        text += f"; decided {at}{by}{why}"
    if record.state == "open" and record.replacement is not None:
        text += "; a repaired payload is recorded, and its window has not taken it yet: run it, or repair it again"
    return text


@dataclass(frozen=True, slots=True)
class Grouped:
    """The records of one reason, in the order in which they came."""

    reason: str
    records: Records


def grouped(records: Records) -> list[Grouped]:
    """The records by reason, the most frequent first."""
    counts = records.reasons
    order = sorted(counts, key=lambda reason: (-counts[reason], reason))
    return [Grouped(reason, records.where(reason=reason)) for reason in order]


def as_markdown(
    groups: Sequence[Grouped], payloads: Mapping[SourceLocation, bytes | None], most: int
) -> Markdown:
    """Records as tables for Dagster's pages, one for each reason; ``most``: the maximum number of records of each."""
    return paragraphs(part for one in groups for part in _parts_of(one, payloads, most))


def _parts_of(
    group: Grouped, payloads: Mapping[SourceLocation, bytes | None], most: int
) -> Iterator[Markdown]:
    reason = own_words(f"**{group.reason}**") if group.reason else own_words("no reason is known")
    yield own_words(f"{reason}: {counted(len(group.records), 'record')}")
    rows = []
    for one in group.records[:most]:
        what = f"{one.table}: {one.detail}" if one.table else one.detail
        payload = short(payloads.get(one.source_location))
        rows.append((one.id[:ID], one.state, one.window, one.where, what, payload))
    yield table(_HEAD, rows)
    if len(group.records) > most:
        yield own_words(f"and {len(group.records) - most:,} more")


_HEAD: Final = own_head("id", "state", "window", "where", "what was found", "record")


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
    yield f"state       {state_in_words(record)}"
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
        yield f"header      {short(row['header'].encode())}"
    if row["key"] is not None:
        yield f"key         {short(row['key'])}"
    given = record.replacement
    yield ""
    yield "record, as it landed:" if given is None else "original, as it landed (bronze keeps it):"
    yield from readable(row["payload"]).split("\n")
    if given is not None:
        by = f" by {given.by}" if given.by else ""
        yield ""
        yield f"read in its place, decided {given.at:%Y-%m-%d %H:%M} UTC{by}:"
        yield from readable(given.payload).split("\n")


def advice_of(feed: Feed, record: QuarantinedRecord, others: Sequence[ReadObject] = ()) -> str:
    """What to do about a record; empty where nothing is left to do.

    A record stays open where its object landed again: all generations count together, and which of the new one's
    records it is, if any, only a person can say.
    """
    if record.state not in ("open", "too late"):
        return ""
    id = record.id[:ID]
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


REASONS: Final = 10
SHOWN: Final = 5
"""The maximum numbers of reasons that a check shows, the most frequent ones, and of records of each."""

LOOKED_AT: Final = 10_000
"""Maximum number of rows of quarantine that a check looks at: a run has no time for millions."""


def samples_of_windows(lake: Lake, feed: Feed, windows: Sequence[str]) -> Markdown:
    """The open records of these windows by reason; empty where there is none.

    The first lines, up to a blank one, say it in short; below are the records and the commands to type.
    ``feed``: with its recorded decisions.
    """
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    found = sampled_records(quarantine, feed, windows, LOOKED_AT)
    groups = grouped(found.records)[:REASONS]
    if not groups:
        return NO_MARKDOWN
    shown = [one for group in groups for one in group.records[:SHOWN]]
    in_short = [line for group in groups for line in (_in_short(group), *_by_column(group))]
    if not found.is_all:
        in_short.append(f"(these are the first {LOOKED_AT:,} events; there are more)")
    contents = hidden(shown) if feed.masks_columns else payloads_of(quarantine, shown)
    return paragraphs(
        [bullets(in_short), as_markdown(groups, contents, SHOWN), *_commands(feed, groups)]
    )


def _in_short(group: Grouped) -> str:
    first = group.records[0]
    of = f"{first.table}: " if first.table else ""
    number = counted(len(group.records), "record")
    return f"{group.reason}: {number}; first {first.id[:ID]}, {first.where}, {of}{first.detail}"


def _by_column(group: Grouped) -> Iterator[str]:
    """How often which column had a value that does not fit it, with an example, the most frequent ones first."""
    if group.reason != MISFIT or len(group.records) == 1:
        return
    counts, examples = Counter[str](), dict[str, str]()
    for record in group.records:
        of = f"{record.table}." if record.table else ""
        for one in misfits_told(record.detail):
            name = f"{of}{one.column}"
            counts[name] += 1
            examples.setdefault(name, f"no {one.kind}, such as {one.value}")
    for name, count in counts.most_common(REASONS):
        yield f"{name}: {counted(count, 'value')} {'is' if count == 1 else 'are'} {examples[name]}"


def _commands(feed: Feed, groups: Sequence[Grouped]) -> Iterator[Markdown]:
    """What can be typed, and what to do about the first record of each reason."""
    first = groups[0].records[0].id[:ID]
    yield code_block(f"weir quarantine list {feed.name}\nweir quarantine show {feed.name} {first}")
    # Reasons and remedies are Weir's own; an id is a digest.
    yield bullets(
        own_words(f"{group.reason}: {remedy(group.reason, feed.name, group.records[0].id[:ID])}")
        for group in groups
    )
