"""``weir quarantine list`` and ``show``: the records by reason, and one record with all that is known of it.

Put here what is printed of records. Not here: how a payload reads (``assets/bookkeeping/quarantine/words``).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assets.bookkeeping.quarantine import words
from assets.bookkeeping.quarantine.records import QuarantinedRecord, payloads
from assets.lake import Lake
from assets.upkeep.mending import bronze_rows
from assets.wording import counted
from expectations.quarantine import remedy
from orchestration.cli.options import Choice, Place
from orchestration.cli.quarantine.opened import Quarantine, opened
from transforms.feed.decisions import Coordinates
from transforms.feed.feed import Feed

SHOWN = 20
"""How many records of each reason are printed at most, unless all are asked for (``--json`` has all)."""


def list_records(place: Place, name: str, reason: str | None, state: str, *, as_json: bool) -> None:
    """Print the records of a feed's quarantine with a state and a reason."""
    quarantine = opened(place, name)
    found = [
        one
        for one in quarantine.records
        if state in ("all", one.state) and reason in (None, one.reason)
    ]
    if as_json:
        print(json.dumps([facts(one) for one in found], indent=2, ensure_ascii=False))
        return
    for line in listed(quarantine, found, state):
        print(line)


def listed(quarantine: Quarantine, found: Sequence[QuarantinedRecord], state: str) -> Iterator[str]:
    """The records in lines: how many there are by reason, and then the records."""
    feed = quarantine.feed
    what = "record" if state == "all" else f"{state} record"
    if not found:
        others = len(quarantine.records)
        rest = f"; `--state all` lists {counted(others, 'other')}" if others else ""
        yield f"{feed.name}: no {what} in quarantine{rest}"
        return
    groups = words.grouped(found)
    yield f"{feed.name}: {counted(len(found), what)} in quarantine"
    for group in groups:
        yield f"{len(group.records):>7,}  {group.reason or '(unknown)'}"
    shown = [one for group in groups for one in group.records[:SHOWN]]
    contents = contents_of(quarantine.lake, feed, shown)
    for group in groups:
        yield ""
        yield f"{group.reason}:"
        for one in group.records[:SHOWN]:
            yield f"  {words.record_line(one)}"
            if one.state != "open" or one.replacement:
                yield f"      {words.state_in_words(one)}"
            yield f"      {words.short(contents.get(one.place))}"
        if len(group.records) > SHOWN:
            yield f"  and {len(group.records) - SHOWN:,} more"
    if any(one.state == "open" for one in found):
        yield ""
        yield f"`weir quarantine show {feed.name} ID` shows one and says what to do about it"


def contents_of(
    lake: Lake, feed: Feed, shown: Sequence[QuarantinedRecord]
) -> Mapping[Coordinates, bytes | None]:
    """The payloads of records: what quarantine has of those that are there, and what was given for the others."""
    there = [one for one in shown if one.state != "mended"]
    given = {one.place: one.replacement.payload for one in shown if one.replacement is not None}
    rest = [one for one in shown if one.state == "mended" and one.replacement is None]
    of_bronze = bronze_rows(lake, feed, rest) if rest else {}
    return {
        **{place: row["payload"] for place, row in of_bronze.items()},
        **given,
        **payloads(lake, feed, there),
    }


def show_record(place: Place, name: str, id: str, *, as_json: bool) -> None:
    """Print all that is known of one record."""
    quarantine = opened(place, name)
    (record,) = quarantine.picked(Choice([id]))
    row = bronze_rows(quarantine.lake, quarantine.feed, [record]).get(record.place)
    if as_json:
        original = None if row is None else row["payload"]
        both = {"payload": _coded(original)}
        if record.replacement is not None:
            both["mended_payload"] = _coded(record.replacement.payload)
        advice = advice_of(quarantine.feed, record)
        more = facts(record) | both | ({"remedy": advice} if advice else {})
        print(json.dumps(more, indent=2, ensure_ascii=False))
        return
    for line in shown_in_full(quarantine.feed, record, row):
        print(line)


def shown_in_full(
    feed: Feed, record: QuarantinedRecord, row: Mapping[str, Any] | None
) -> Iterator[str]:
    """One record in lines; ``row`` is bronze's."""
    object_name, generation, line, byte_offset = record.place
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
    if advice := advice_of(feed, record):
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
    yield words.readable(row["payload"])
    if given is not None:
        by = f" by {given.by}" if given.by else ""
        yield ""
        yield f"read in its place, decided {given.at:%Y-%m-%d %H:%M} UTC{by}:"
        yield words.readable(given.payload)


def advice_of(feed: Feed, record: QuarantinedRecord) -> str:
    """What to do about a record; empty where nothing is left to do."""
    if record.state in ("open", "too late"):
        return remedy(record.reason, feed.name, record.id[: words.ID])
    return ""


def facts(record: QuarantinedRecord) -> dict[str, Any]:
    """A record as plain JSON, without its payload."""
    object_name, generation, line, byte_offset = record.place
    decided = record.decided
    return {
        "id": record.id,
        "state": record.state,
        "window": record.window,
        "object": object_name,
        "generation": generation,
        "line": line,
        "byte_offset": byte_offset,
        "table": record.table,
        "reason": record.reason,
        "detail": record.detail,
        "events": record.events,
        "decided_at": decided.at.isoformat() if decided else None,
        "decided_by": decided.by if decided else None,
        "decision": decided.reason if decided else None,
        "has_mended_payload": record.replacement is not None,
    }


def _coded(payload: bytes | None) -> str | dict[str, str] | None:
    if payload is None:
        return None
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(payload).decode()}
