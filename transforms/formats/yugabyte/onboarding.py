"""What a feed of GetChanges responses should declare: the tables that row messages name, with their types.

A DDL comes once per tablet, so that later windows would be without it: tables are declared, whether a DDL describes
them here or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from transforms.event import StreamSchema
from transforms.families.yugabyte.messages import UnreadableResponse, message_of_record, whole
from transforms.feed.feed import Feed
from transforms.formats.yugabyte import get_changes, schemas
from transforms.formats.yugabyte.get_changes import RowMessage
from transforms.formats.yugabyte.schemas import type_of
from transforms.onboarding.proposal import Mark, Proposal, Sampled
from transforms.onboarding.tables import proposal_of_tables, tables_seen
from transforms.record import BronzeRecord

_OWN = ("cdc_sdk_proto_records", "row_message", "cdc_sdk_checkpoint")


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Responses of the CDC SDK have its name in their fields."""
    try:
        response = message_of_record(record, get_changes.RESPONSE)
    except UnreadableResponse:
        return None
    named = [name for name in _OWN if response.get(name) is not None]
    return Mark(", ".join(named)) if named else None


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that row messages name."""
    seen = tables_seen(sample)
    records = {id(record): record for record, _ in sample}
    for message in _messages(records.values()):
        table = seen.get((None, message.schema_name, message.name or ""))
        schema = _described(message)
        if table is not None and schema is not None:
            table.describe(schema)
    for table in seen.values():
        table.undescribed += 1
    return proposal_of_tables(seen.values())


def _messages(records: Iterable[BronzeRecord]) -> Iterator[RowMessage]:
    for record in records:
        try:
            response = message_of_record(record, get_changes.RESPONSE)
            yield from get_changes.read_response(response, {}).messages
        except UnreadableResponse:
            continue


def _described(message: RowMessage) -> StreamSchema | None:
    """What one message says: a DDL all, a row the types of its own columns, and its key where that stands apart."""
    if message.schema is not None:
        return schemas.described_by_list(message.schema)
    key = tuple(one.name for one in message.key) or None
    named = [one for one in (*message.key, *message.new, *message.old) if one.name]
    columns = {one.name: type_of(oid, None) for one in named if (oid := whole(one.oid))}
    return StreamSchema(key, tuple(columns.items())) if columns or key else None
