"""Changes that wait in silver for a description of their table, once another record of the feed has given one.

A Debezium delete may carry no schema, of a table that all other records describe. Silver is a function of its own
window alone, so that such a change waits there, as its record tells it, and is conformed where gold reads it. Put here
how a waiting row is conformed again. Not here: what a description makes of a table
(``transforms/silver/conforming/described_tables.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from transforms.event import Event, StreamSchema, Transaction
from transforms.feed.feed import Feed, Table
from transforms.record import BronzeRecord
from transforms.silver.conforming.changes import Row
from transforms.silver.conforming.conformer import conformer

WaitingRow = Mapping[str, Any]
"""One row of silver by its columns' names; images are mappings, times are microseconds since 1970."""


def conformed(feed: Feed, table: Table) -> Callable[[WaitingRow], list[Row]]:
    """The function that conforms a waiting row of a table to what the feed's stream says of it.

    It gives one row, or two where the key changes. It gives none where a value does not fit its type, where the key is
    unknown, or where a value could only be decoded with the schema that the record lacks: such a row stays waiting.
    """
    conform = conformer(feed, describes_tables=True)
    # Silver has the source's names.
    of_source = {gold: source for source, gold in table.spelled.items()}
    key = tuple(of_source.get(name, name) for name in table.identity)
    described = StreamSchema(
        tuple(of_source.get(name, name) for name in table.key),
        tuple((of_source.get(name, name), kind) for name, kind in table.columns.items()),
    )

    def of_row(waiting: WaitingRow) -> list[Row]:
        # Of a removed row only the key's columns matter.
        mentioned = (
            key if waiting["effect"] == "remove" else {*waiting["before"], *waiting["after"]}
        )
        if not table.encoded.isdisjoint(mentioned):
            return []
        rows = conform(_record(waiting), [_event(waiting, described)])
        if any(row.fault is not None for row in rows):
            return []
        for row in rows:
            # Silver does not hold ``Event.identity``, from which the id was made; so the id itself is copied.
            row.event_id, row.ordinal = waiting["event_id"], waiting["ordinal"]
        return rows

    return of_row


def _record(waiting: WaitingRow) -> BronzeRecord:
    return BronzeRecord(
        window=waiting["window"],
        object=waiting["object"],
        generation=waiting["generation"],
        line=waiting["line"],
        byte_offset=waiting["byte_offset"],
        header=None,
        payload=None,
        defect=None,
        landed_at=0,
    )


def _event(waiting: WaitingRow, described: StreamSchema) -> Event:
    catalog, schema, name = _parts(waiting["source_table"])
    transaction = waiting["transaction"]
    return Event(
        operation=waiting["operation"],
        effect=waiting["effect"],
        catalog=catalog,
        schema=schema,
        name=name,
        before=dict(waiting["before"]),
        after=dict(waiting["after"]),
        attribute_ops=dict(waiting["attribute_ops"]),
        scope=None if waiting["scope"] is None else dict(waiting["scope"]),
        stream=waiting["stream"],
        transaction=None
        if transaction is None
        else Transaction(
            transaction["id"],
            transaction["expected"],
            transaction["has_begin"],
            transaction["at_commit"],
        ),
        derived=waiting["derived"],
        log_position=tuple(waiting["log_position"]),
        dedup_prefix=waiting["dedup_prefix"],
        event_at=waiting["event_at"],
        extracted_at=waiting["extracted_at"],
        stream_schema=described,
    )


def _parts(source_table: str) -> tuple[str | None, str | None, str]:
    *qualifiers, name = source_table.split(".")
    padded: list[str | None] = [None, None, *qualifiers]
    return padded[-2], padded[-1], name
