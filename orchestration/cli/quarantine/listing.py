"""``weir quarantine list`` and ``show``: the records by reason, and one record with all that is known of it.

Put here what is printed of records. Not here: how a payload reads (``assets/bookkeeping/quarantine/words``).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from textwrap import indent
from typing import Any

from assets.bookkeeping.choice import Choice
from assets.bookkeeping.quarantine import words
from assets.bookkeeping.quarantine.in_full import advice_of, landed_again, shown_in_full
from assets.bookkeeping.quarantine.opened import Quarantine
from assets.bookkeeping.quarantine.records import QuarantinedRecord, Records
from assets.upkeep.record_contents import contents_of
from assets.upkeep.repairing import bronze_rows
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.quarantine.opened import opened
from orchestration.console import put_json, put_json_text, put_lines

SHOWN = 20
"""How many records of each reason are printed at most, unless all are asked for (``--json`` has all)."""


def list_records(place: Place, name: str, reason: str | None, state: str, *, as_json: bool) -> None:
    """Print the records of a feed's quarantine with a reason and a state, which may be ``all``."""
    quarantine = opened(place, name)
    found = quarantine.records.where(state=None if state == "all" else state, reason=reason)
    if as_json:
        for piece in as_json_list(found):
            put_json_text(piece)
        return
    put_lines(listed(quarantine, found, state))


def as_json_list(records: Records) -> Iterator[str]:
    """A JSON list of records, piece by piece: there may be very many."""
    last = len(records) - 1
    yield "["
    for number, one in enumerate(records):
        text = json.dumps(facts(one), indent=2, ensure_ascii=False)
        yield indent(text, "  ") + ("," if number < last else "")
    yield "]"


def listed(quarantine: Quarantine, found: Records, state: str) -> Iterator[str]:
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
            yield f"      {words.short(contents.get(one.source_location))}"
        if len(group.records) > SHOWN:
            yield f"  and {len(group.records) - SHOWN:,} more"
    if any(one.state == "open" for one in found):
        yield ""
        yield f"`weir quarantine show {feed.name} ID` shows one and says what to do about it"


def show_record(place: Place, name: str, id: str, *, as_json: bool) -> None:
    """Print all that is known of one record."""
    quarantine = opened(place, name)
    (record,) = quarantine.picked(Choice([id]))
    lake, feed = quarantine.lake, quarantine.feed
    row = bronze_rows(lake, feed, [record]).get(record.source_location)
    others = landed_again(lake, feed, record)
    if as_json:
        original = None if row is None else row["payload"]
        both = {"payload": _coded(original)}
        if record.replacement is not None:
            both["repaired_payload"] = _coded(record.replacement.payload)
        advice = advice_of(feed, record, others)
        more = facts(record) | both | ({"remedy": advice} if advice else {})
        put_json(more)
        return
    put_lines(shown_in_full(feed, record, row, others))


def facts(record: QuarantinedRecord) -> dict[str, Any]:
    """A record as plain JSON, without its payload."""
    object_name, generation, line, byte_offset = record.source_location
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
        "has_repaired_payload": record.replacement is not None,
    }


def _coded(payload: bytes | None) -> str | dict[str, str] | None:
    if payload is None:
        return None
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(payload).decode()}
