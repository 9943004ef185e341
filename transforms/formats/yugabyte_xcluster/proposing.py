"""What a feed of xCluster responses should declare: key and types stand in the records, the table's name does not.

Put here what these records say of their table. Not here: reading them (``records``), and tables in general
(``transforms/proposing``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from transforms.event import Event, StreamSchema
from transforms.families.yugabyte.declared import NOT_DECLARED
from transforms.families.yugabyte.messages import UnreadableResponse, message_of_record
from transforms.feed.feed import Feed
from transforms.formats.yugabyte_xcluster.records import RESPONSE, of_response
from transforms.proposing.entries import Entry, Mark, Proposal, Sampled
from transforms.proposing.proposed_tables import of_tables
from transforms.proposing.tables_seen import TableSeen, tables_seen
from transforms.record import BronzeRecord

_TYPES: Final[Mapping[str, str]] = {
    **{"int8_value": "tinyint", "int16_value": "smallint", "int32_value": "int"},
    **{"int64_value": "bigint", "uint32_value": "bigint", "float_value": "float"},
    **{"double_value": "double", "bool_value": "boolean", "string_value": "string"},
    **{"binary_value": "binary", "timestamp_value": "timestamp", "date_value": "date"},
    **{"uuid_value": "string", "timeuuid_value": "string", "inetaddress_value": "string"},
}


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Records with a hybrid time, an operation, and pairs of a key."""
    try:
        response = message_of_record(record, RESPONSE)
        records = response.get("records")
        one = records[0] if type(records) is list and records else response
    except UnreadableResponse:
        return None
    if type(one) is not dict or "time" not in one or "operation" not in one:
        return None
    parts = [
        name
        for name in ("key", "changes", "transaction_state")
        if type(one.get(name)) in (dict, list)
    ]
    return Mark(", ".join(["time", "operation", *parts])) if parts else None


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables, under the names that responses or paths have; where neither has one, under the feed's name."""

    def name_of(event: Event) -> str | None:
        return event.name if _is_named(event.name) else feed.name

    seen = {key: one for key, one in tables_seen(sample, name_of).items() if one.changes}
    for record, event in {id(record): (record, event) for record, event in sample}.values():
        table = seen.get((None, None, name_of(event) or ""))
        if table is not None:
            _describe(table, record)
    proposal = of_tables(seen.values())
    if all(_is_named(event.name) for _, event in sample):
        return proposal
    note = f"nothing names the table: it is called {feed.name} here. Give it its own name."
    entries = tuple(_with_path(one, feed.name) for one in proposal.entries)
    return Proposal(entries, proposal.found, (*proposal.notes, note))


def _is_named(name: str | None) -> bool:
    # A folder of a tablet or a stream names no table.
    return name is not None and "=" not in name


def _describe(table: TableSeen, record: BronzeRecord) -> None:
    try:
        records = of_response(message_of_record(record, RESPONSE), NOT_DECLARED)
    except UnreadableResponse:
        return
    for one in records:
        key = tuple(column.name for column in one.key if column.name is not None) or None
        named = [column for column in one.columns if column.name is not None]
        types = tuple((str(one.name), _TYPES.get(one.kind or "")) for one in named)
        table.describe(StreamSchema(key, types))


def _with_path(entry: Entry, name: str) -> Entry:
    """The entry of ``tables``, with a path for the table that nothing names."""
    if entry.name != "tables":
        return entry
    why = "the records do not name their table: every object belongs to this one"
    tables = [one for one in entry.value if isinstance(one, Entry)]
    inside = []
    for table in tables:
        parts = tuple(one for one in table.value if isinstance(one, Entry))
        own = (*parts, Entry("path", "**", why)) if table.name == name else parts
        inside.append(replace(table, value=own))
    return replace(entry, value=tuple(inside))
