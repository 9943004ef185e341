"""From a GetChanges response to its events: the checkpoint's note, then an event for each row message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from transforms.event import Event, StreamSchema, Transaction, Value
from transforms.families.yugabyte.checkpoints import (
    CommittedOpId,
    ReadResponse,
    checkpoint_of,
    decoder_of,
)
from transforms.families.yugabyte.messages import (
    UnreadableResponse,
    declared_tables,
    filled,
    message_of_record,
    whole,
)
from transforms.families.yugabyte.values import image_of, moment_of, values_fault
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.feed.schema_policies import DROP_COLUMN
from transforms.formats.yugabyte import get_changes, schemas
from transforms.formats.yugabyte.get_changes import (
    OPERATIONS,
    RESPONSE,
    ROW_OPERATIONS,
    LogPosition,
    RowMessage,
    row_messages,
)
from transforms.onboarding.proposal import Mark, Proposal, Sampled, records_in
from transforms.onboarding.tables import proposal_of_tables, tables_seen
from transforms.record import BronzeRecord
from transforms.source_format import Decode, Surveyed

_AT_OP_ID: Final = frozenset((*ROW_OPERATIONS, "COMMIT"))


def row_fault(message: RowMessage, log_position: LogPosition | None) -> Fault | None:
    """Why a row message cannot be read, or put in order."""
    op = message.op
    if op is None:
        return OPERATIONS.fault(message.op_as_written, "the row message")
    if log_position is None and op in _AT_OP_ID:
        what = "no cdc_sdk_op_id with term and index: it has no log position in its tablet"
        return Fault("missing_field", f"{op} has {what}")
    return values_fault(message.new, message.old, message.key)


# How the DDL messages of a window describe its tables: a row message does not carry its table's schema, and a DDL comes
# in a response of its own, once per tablet.


Described: TypeAlias = Mapping[tuple[str | None, str | None], StreamSchema | None]
"""By the schema's and the table's name: the table as its newest DDL describes it, None where that has no key."""

DDL_MARKS: Final = (b"column_info", b"columnInfo")
"""What the payload of a record with a DDL has in it, in either spelling."""


def surveyor(feed: Feed) -> Callable[[BronzeRecord], Iterable[tuple[object, ...]]]:
    """The function that gives, of each DDL in a record: schema, name, version, position, and the description."""
    known = declared_tables(feed)

    def survey(record: BronzeRecord) -> Iterable[tuple[object, ...]]:
        try:
            response = message_of_record(record, RESPONSE)
            found, checkpoint = row_messages(response, known), checkpoint_of(response)
        except UnreadableResponse:
            return
        for message in found:
            if message.op == "DDL":
                schema = (
                    None if message.schema is None else schemas.described_by_list(message.schema)
                )
                log_position = get_changes.log_position_of(message, checkpoint)
                described = None if schema is None else tuple(schema)
                version = whole(message.row.get("schema_version"))
                yield message.schema_name, message.name, version, log_position, described

    return survey


def newest_descriptions(facts: Iterable[tuple[object, ...]]) -> Described:
    """The tables of a window: each as its newest DDL describes it.

    The higher ``schema_version`` is newer. Several tablets send the same version; their positions do not compare, but
    their descriptions agree.
    """
    ordered = sorted(facts, key=_age)
    return {
        cast("tuple[str | None, str | None]", (schema, name)): described
        and StreamSchema(*described)
        for schema, name, _, _, described in cast("list[tuple[Any, ...]]", ordered)
    }


def _age(fact: tuple[Any, ...]) -> tuple[object, ...]:
    _, _, version, log_position, described = fact
    return (-1 if version is None else version, log_position or (), described or ())


# The events of a response: the checkpoint's note first, then one for each row message.

EFFECTS: Final[Mapping[str | None, str]] = {
    **{
        "INSERT": "replace",
        "READ": "replace",
        "UPDATE": "update",
        "DELETE": "remove",
        "TRUNCATE": "remove",
    },
    **{"BEGIN": "begin", "COMMIT": "commit", "DDL": "note", "SAFEPOINT": "note"},
}
"""An insert replaces the row, an update updates columns of it: no tuple shows whether the stream's record type sends
whole rows."""

_OF_NEW_ROW: Final = frozenset(("INSERT", "READ"))
_OF_ROW: Final = frozenset(("INSERT", "UPDATE", "DELETE", "READ"))
"""Messages of one row: what stands in the tuples of others is nothing."""

_IN_TRANSACTION: Final = frozenset((*ROW_OPERATIONS, "BEGIN", "COMMIT"))


def decoder(feed: Feed, surveyed: Surveyed) -> Decode:
    """The function that reads a response: first the note with its checkpoint, then its row messages."""
    known = declared_tables(feed)
    described = {window: newest_descriptions(facts) for window, facts in surveyed.items()}

    def read(response: ReadResponse) -> tuple[CommittedOpId, list[Event]]:
        found = row_messages(response.fields, known)
        of_window = described.get(response.record.window, {})
        committed = get_changes.committed_op_id(found, response.checkpoint)
        return committed, [_event(message, response, of_window) for message in found]

    return decoder_of(feed, RESPONSE, get_changes.PARTS, read)


def _event(message: RowMessage, source: ReadResponse, described: Described) -> Event:
    op, tablet = message.op, source.origin.tablet
    log_position = get_changes.log_position_of(message, source.checkpoint)
    fault = row_fault(message, log_position)
    dropped = _dropped(message, source.record.window)
    transaction = None
    if message.transaction_id is not None and op in _IN_TRANSACTION:
        transaction = Transaction(f"{tablet}/{message.transaction_id}")
    expire = message.schema is not None and message.schema.rows_expire
    return Event(
        operation=_operation(message) if dropped is None else DROP_COLUMN,
        effect=EFFECTS.get(op, "note") if dropped is None else "update",
        name=message.name,
        schema=message.schema_name,
        before=_before(message) if fault is None and op in _OF_ROW else {},
        after=_after(message, dropped) if fault is None else {},
        scope={} if op == "TRUNCATE" or dropped is not None else None,
        stream=tablet,
        transaction=transaction,
        log_position=log_position,
        dedup_prefix=get_changes.dedup_prefix_of(message, log_position),
        identity=get_changes.identity_of(message, tablet, log_position, source.checkpoint),
        event_at=moment_of(message.row.get("commit_time")),
        stream_schema=_stream_schema(message, described),
        snapshot=get_changes.snapshot_row_of(tablet, log_position) if op == "READ" else None,
        warnings=(schemas.TIME_TO_LIVE.word,) if expire else (),
        fault=fault,
    )


def _operation(message: RowMessage) -> str | None:
    if message.op == "DDL" and filled(message.row.get("new_table_name")):
        return "rename_table"
    return None if message.op is None else message.op.lower()


def _dropped(message: RowMessage, window: str) -> dict[str, Value] | None:
    """The columns that a DDL empties, because the table no longer has them."""
    if message.op != "DDL" or message.schema is None or message.declared is None:
        return None
    return schemas.dropped_columns(message.schema, message.declared.table, window)


def _after(message: RowMessage, dropped: dict[str, Value] | None) -> dict[str, Value]:
    """What a row message says of the new row; of a dropped column that it is null."""
    if dropped is not None:
        return dropped
    return image_of(message.new) if message.op in _OF_ROW else {}


def _before(message: RowMessage) -> dict[str, Value]:
    """The old row as far as the message has it, with the key's values where no tuple has them."""
    if message.op in _OF_NEW_ROW:
        return {}
    image = image_of(message.old)
    if message.key:
        named = {one.name for one in (*message.new, *message.old)}
        image |= image_of(one for one in message.key if one.name not in named)
    return image


def _stream_schema(message: RowMessage, known: Described) -> StreamSchema | None:
    """What the stream says of the table: a DDL says all, a message only its own columns."""
    described = known.get((message.schema_name, message.name))
    if described is None and message.key:
        return schemas.described_by_row(message.key, message.new, message.old)
    return described


# What a feed should declare. A DDL comes once per tablet, so that later windows would be without it: tables are
# declared, whether a DDL describes them here or not.


FIELDS: Final = ("cdc_sdk_proto_records", "row_message", "cdc_sdk_checkpoint")


def recognise(feed: Feed, record: BronzeRecord) -> Mark | None:
    """Responses of the CDC SDK have its name in their fields."""
    try:
        response = message_of_record(record, RESPONSE)
    except UnreadableResponse:
        return None
    named = [name for name in FIELDS if response.get(name) is not None]
    return Mark(", ".join(named)) if named else None


def propose(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that row messages name."""
    seen = tables_seen(sample)
    for message in _messages(records_in(sample)):
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
            yield from row_messages(message_of_record(record, RESPONSE), {})
        except UnreadableResponse:
            continue


def _described(message: RowMessage) -> StreamSchema | None:
    """What one message says: a DDL all, a row the types of its own columns, and its key where that stands apart."""
    if message.schema is not None:
        return schemas.described_by_list(message.schema)
    key = tuple(one.name or "" for one in message.key) or None
    every = (*message.key, *message.new, *message.old)
    columns = {
        one.name: schemas.type_of(oid, None)
        for one in every
        if one.name and (oid := whole(one.oid))
    }
    return StreamSchema(key, tuple(columns.items())) if columns or key else None
