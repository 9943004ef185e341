"""Records of quarantine in words, for the command line, Dagster's pages and checks alike.

Put here how a payload or a record is shown to people. Not here: what is known of it (``records``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assets.bookkeeping.quarantine.records import QuarantinedRecord, Records
from assets.wording import counted
from transforms.display.markdown import Markdown, own_head, own_words, paragraphs, table
from transforms.display.plain import visible
from transforms.feed.decisions import SourceLocation

SHORT = 100
"""So many characters of a payload fit into a line."""

ID = 12
"""So many digits of an id are shown: enough to name a record."""


HIDDEN = b"(not shown: the feed masks columns)"
"""What stands in the place of payloads in lists of a feed that masks columns, for a record is what it was landed as."""


def hidden(
    records: Sequence[QuarantinedRecord],
) -> Mapping[SourceLocation, bytes | None]:
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
    text = as_text(payload)
    try:
        json.loads(payload)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_indented(text))


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def _indented(text: str) -> list[str]:
    """Valid JSON, laid out: its tokens stay as they are, which a parser's numbers would not."""
    lines, line, depth = [], "", 0
    tokens = _TOKEN.findall(text)
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in "{[":
            line += token
            if following not in ("}", "]"):
                depth += 1
                lines.append(line)
                line = "  " * depth
        elif token in "}]":
            if tokens[at - 1] not in ("{", "["):
                depth -= 1
                lines.append(line)
                line = "  " * depth
            line += token
        elif token == ",":
            lines.append(line + token)
            line = "  " * depth
        else:
            line += ": " if token == ":" else token
    return [*lines, line]


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
    """Records as tables for Dagster's pages, one for each reason; at most so many records of each."""
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
