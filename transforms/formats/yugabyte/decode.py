"""From a GetChanges response to its events: the checkpoint's note first, then one event for each row message.

Put here what each operation becomes. Not here: the values of its tuples (``tuples``), where it stands
(``log_positions``), what a DDL says (``schemas``), and why one cannot be taken (``row_faults``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from transforms.event import Event, StreamSchema, Transaction, Value
from transforms.families.yugabyte import checkpoints, declared, tablets
from transforms.families.yugabyte.checkpoints import Checkpoint
from transforms.families.yugabyte.hybrid_times import moment
from transforms.families.yugabyte.messages import UnreadableResponse, message_of_record
from transforms.families.yugabyte.scalars import filled
from transforms.families.yugabyte.tablets import Origin
from transforms.fault import Fault
from transforms.feed.feed import Feed
from transforms.feed.schema_policies import DROP_COLUMN
from transforms.formats.yugabyte import batches, get_changes, log_positions, schemas, survey, tuples
from transforms.formats.yugabyte.row_faults import row_fault
from transforms.formats.yugabyte.row_message import ROWS, RowMessage
from transforms.record import BronzeRecord
from transforms.source_format import Decode

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

_IN_TRANSACTION: Final = frozenset((*ROWS, "BEGIN", "COMMIT"))


class ResponseContext(NamedTuple):
    """What all messages of a response have in common: where it comes from, and what its window says of tables."""

    origin: Origin
    checkpoint: Checkpoint
    window: str
    described: survey.Described


def decoder(feed: Feed, surveyed: Mapping[str, survey.Facts]) -> Decode:
    """The function that reads a response: first the note with its checkpoint, then its row messages."""
    known = declared.declared_tables(feed)
    described = {window: survey.newest(facts) for window, facts in surveyed.items()}

    def decode(record: BronzeRecord) -> list[Event]:
        document: Mapping[str, Any] = {}
        try:
            document = message_of_record(record, get_changes.RESPONSE)
            response = get_changes.read_response(document, known)
        except UnreadableResponse as unreadable:
            return [
                _unreadable(tablets.of_response(document, record.object, feed), unreadable.fault)
            ]
        batches.count(response.messages)
        origin = tablets.of_response(document, record.object, feed)
        source = ResponseContext(
            origin, response.checkpoint, record.window, described.get(record.window, {})
        )
        note = checkpoints.note(response.checkpoint, get_changes.committed_op_id(response), origin)
        return [note, *[_event(message, source) for message in response.messages]]

    return decode


def _unreadable(origin: Origin, fault: Fault) -> Event:
    return Event(
        operation=None,
        effect="note",
        name=None,
        stream=origin.tablet,
        log_position=checkpoints.START,
        dedup_prefix=len(checkpoints.START),
        identity=(origin.tablet,),
        fault=fault,
    )


def _event(message: RowMessage, source: ResponseContext) -> Event:
    op, tablet = message.op, source.origin.tablet
    log_position = log_positions.log_position(message, source.checkpoint)
    fault = row_fault(message, log_position)
    dropped = _dropped(message, source.window)
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
        dedup_prefix=log_positions.dedup_prefix(message, log_position),
        identity=log_positions.identity(message, tablet, log_position, source.checkpoint),
        event_at=moment(message.row.get("commit_time")),
        stream_schema=_stream_schema(message, source),
        snapshot=log_positions.snapshot_row(tablet, log_position) if op == "READ" else None,
        warnings=(schemas.TIME_TO_LIVE.word,) if expire else (),
        fault=fault,
    )


def _operation(message: RowMessage) -> str | None:
    """What the source did, as Weir's other formats call it."""
    if message.op == "DDL" and filled(message.row.get("new_table_name")):
        return "rename_table"
    return None if message.op is None else message.op.lower()


def _dropped(message: RowMessage, window: str) -> dict[str, Value] | None:
    """The columns that a DDL empties, because the table no longer has them."""
    if message.op != "DDL" or message.schema is None or message.declared is None:
        return None
    return schemas.dropped(message.schema, message.declared.table, window)


def _after(message: RowMessage, dropped: dict[str, Value] | None) -> dict[str, Value]:
    """What a row message says of the new row; of a dropped column that it is null."""
    if dropped is not None:
        return dropped
    return tuples.image(message.new) if message.op in _OF_ROW else {}


def _before(message: RowMessage) -> dict[str, Value]:
    """The old row as far as the message has it, with the key's values where no tuple has them."""
    if message.op in _OF_NEW_ROW:
        return {}
    image = tuples.image(message.old)
    if message.key:
        named = {one.name for one in (*message.new, *message.old)}
        image |= tuples.image([one for one in message.key if one.name not in named])
    return image


def _stream_schema(message: RowMessage, source: ResponseContext) -> StreamSchema | None:
    """What the stream says of the table: a DDL says all, a message only its own columns."""
    described = source.described.get((message.schema_name, message.name))
    if described is None and message.key:
        return schemas.described_by_row(message.key, message.new, message.old)
    return described
