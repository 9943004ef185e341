"""What messages of Kafka Connect say of tables beyond their events: types without a key, keys without a row.

In files a key's document may stand alone, in an object of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.event import StreamSchema
from transforms.families.connect.envelopes import Envelope, EnvelopeReader
from transforms.families.connect.images import Rows, key_names
from transforms.families.connect.values import HowRead
from transforms.onboarding.proposal import Proposal, Sampled, records_in
from transforms.onboarding.tables import TableSeen, proposal_of_tables, tables_seen


def proposal_of(sample: Sequence[Sampled], reader: EnvelopeReader) -> Proposal:
    """The tables that envelopes name, with the types of their schemas and the keys of documents that stand alone."""
    seen = tables_seen(sample)
    by_name: dict[str | None, list[TableSeen]] = {}
    for table in seen.values():
        by_name.setdefault(table.name, []).append(table)
    for record in records_in(sample):
        envelope = reader.read(record)
        named = seen.get(envelope.source[1:4])
        if named is not None:
            _describe(named, envelope)
        elif envelope.lone_key_of is not None:
            columns = key_names(envelope.key)
            for one in by_name.get(envelope.lone_key_of, []):
                if columns and not one.keys:
                    one.describe(StreamSchema(columns, ()))
    return proposal_of_tables(seen.values())


def _describe(table: TableSeen, envelope: Envelope) -> None:
    """Take in what a message says of its table, whether or not it says all that gold would need."""
    if envelope.row_fields is not None:
        rows = Rows(envelope.row_fields, HowRead())
        if rows.names is not None:
            table.describe(rows.stream_schema(None))
    columns = key_names(envelope.key)
    if columns and set(columns) <= table.values.keys():
        table.describe(StreamSchema(columns, ()))
