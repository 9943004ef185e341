"""What messages of Kafka Connect say of tables beyond their events: types without a key, keys without a row.

In files a key's document may stand alone, in an object of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transforms.event import StreamSchema
from transforms.families.connect.envelopes import DocumentReader, Envelope, EnvelopeReader
from transforms.families.connect.images import Rows, key_names
from transforms.families.kafka_records import kafka_message
from transforms.feed.feed import Feed
from transforms.json_values import MalformedJson
from transforms.onboarding.proposal import Proposal, Sampled
from transforms.onboarding.tables import TableSeen, proposal_of_tables, tables_seen


def proposal_of(feed: Feed, sample: Sequence[Sampled], reader: EnvelopeReader) -> Proposal:
    """The tables that envelopes name, with the types of their schemas and the keys of documents that stand alone."""
    seen = tables_seen(sample)
    by_name: dict[str | None, list[TableSeen]] = {}
    for table in seen.values():
        by_name.setdefault(table.name, []).append(table)
    for record in {id(record): record for record, _ in sample}.values():
        envelope = reader.read(record, kafka_message(record, feed))
        named = seen.get(envelope.source[1:4])
        if named is not None:
            _describe(named, envelope)
        elif envelope.is_lone_key:
            name, columns = _key_of((record.payload or b"").decode("utf-8", "replace"))
            for one in by_name.get(name, []):
                if columns and not one.keys:
                    one.describe(StreamSchema(columns, ()))
    return proposal_of_tables(seen.values())


def _describe(table: TableSeen, envelope: Envelope) -> None:
    """Take in what a message says of its table, whether or not it says all that gold would need."""
    if envelope.row_fields is not None:
        rows = Rows(envelope.row_fields, declared={}, decimals_may_be_plain=False)
        if rows.names is not None:
            table.describe(rows.stream_schema(None))
    columns = key_names(envelope.key)
    if columns and set(columns) <= table.values.keys():
        table.describe(StreamSchema(columns, ()))


def _key_of(text: str) -> tuple[str | None, tuple[str, ...]]:
    try:
        document = DocumentReader().read(text)
    except MalformedJson:
        return None, ()
    schema: Any = document.get("schema") if type(document) is dict else None
    if type(schema) is not dict or type(schema.get("fields")) is not list:
        return None, ()
    # Connect calls it <connector>.<database>.<table>.Key.
    parts = str(schema.get("name", "")).split(".")
    named = [one.get("field") for one in schema["fields"] if type(one) is dict]
    return (parts[-2] if len(parts) > 1 else None), tuple(str(one) for one in named if one)
