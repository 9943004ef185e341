"""A GetChanges response of the CDC SDK: its row messages, as they are written, and the number of each in it.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (RowMessage, CDCSDKProtoRecordPB).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from transforms.change import EPOCH, SNAPSHOT
from transforms.event import PART, SnapshotRow
from transforms.families.yugabyte import checkpoints, messages
from transforms.families.yugabyte.checkpoints import START, Checkpoint, CommittedOpId
from transforms.families.yugabyte.messages import (
    ADDED,
    NOT_DECLARED,
    DeclaredTable,
    Names,
    Operations,
    field_names,
    filled,
    message_fields,
    message_part,
    repeated_field,
    unsigned,
    whole,
)
from transforms.families.yugabyte.values import NamedValue, instant_of, transaction_id
from transforms.formats.yugabyte import schemas
from transforms.json_values import as_text

OPERATIONS: Final = Operations(
    *("op", 0, "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "DDL", "TRUNCATE", "READ"),
    "SAFEPOINT",
)
"""RowMessage.Op, the operations that are known. A server writes UNKNOWN (-1) where it does not know the operation."""

ROW_OPERATIONS: Final = frozenset(("INSERT", "UPDATE", "DELETE", "TRUNCATE"))
"""Operations that stand at their op id."""

AFTER_TRANSACTION: Final = 2_147_483_647
"""No write_id is larger: what stands here comes after all of its op."""

OpId = tuple[int, int, int]
"""Term, index and write_id."""


@dataclass(slots=True)
class RowMessage:
    """One row message, with its place in the response.

    ``row``: its fields, as they are written; the others are what most messages need of them. ``op_as_written``: the
    operation as it is written; ``op``: its name, None where it is not known. ``op_id``: None where it has none.
    ``key``: the values of its key, where they stand apart. ``schema``: what a DDL says of its table. ``declared``: the
    table, where the feed declares it. ``in_batch``, ``occurrence``, ``before``, ``after``: see ``place_messages``.
    """

    row: Mapping[str, Any]
    op_as_written: str | None
    op: str | None
    op_id: OpId | None
    transaction_id: str | None
    schema_name: str | None
    name: str | None
    new: Sequence[NamedValue]
    old: Sequence[NamedValue]
    key: Sequence[NamedValue]
    schema: schemas.TableSchema | None
    declared: DeclaredTable | None
    in_batch: int = 0
    occurrence: int | None = None
    before: OpId | None = None
    after: OpId | None = None


# The row messages as they are written.

_PROTO_RECORD: Final = ("row_message", "cdc_sdk_op_id")

RESPONSE: Final[Names] = field_names(
    *("error", "checkpoint", "cdc_sdk_proto_records", "cdc_sdk_checkpoint"),
    *(*_PROTO_RECORD, *ADDED),
)
"""GetChangesResponsePB, what a client may add to it, and the fields of one record that stands alone in a line."""

_PROTO_RECORD_FIELDS: Final[Names] = field_names(*_PROTO_RECORD)

_ROW_MESSAGE: Final[Names] = field_names(
    *("transaction_id", "commit_time", "table", "op", "new_tuple", "old_tuple", "primary_key"),
    *("schema", "schema_version", "new_table_name", "pgschema_name"),
)

_OP_ID: Final[Names] = field_names("term", "index", "write_id")

PARTS: Final = ("cdc_sdk_proto_records", "row_message", "cdc_sdk_checkpoint", "checkpoint")
"""Of these every response has one."""


def row_messages(
    response: Mapping[str, Any], known: Mapping[str, DeclaredTable]
) -> list[RowMessage]:
    """The row messages of a response, in their order and with their places; ``known`` are the declared tables.

    Raises:
        UnreadableResponse: A field has another shape than it should.
    """
    every = response.get("cdc_sdk_proto_records")
    records = repeated_field(every, "cdc_sdk_proto_records")
    if every is None and response.get("row_message") is not None:
        records = [response]
    found = [_message(record, known) for record in records]
    place_messages(found)
    return found


def _message(record: object, known: Mapping[str, DeclaredTable]) -> RowMessage:
    parts = {} if record is None else message_fields(record, _PROTO_RECORD_FIELDS, "a record")
    row = message_part(parts, "row_message", _ROW_MESSAGE)
    written = as_text(row.get("op"))
    op = OPERATIONS.named(written)
    schema_name, name = filled(row.get("pgschema_name")), filled(row.get("table"))
    table = messages.declared_table_of(known, schema_name, name)
    texts = NOT_DECLARED if table is None else table.text_columns
    key, schema = row.get("primary_key"), row.get("schema")
    return RowMessage(
        row,
        written,
        op,
        _op_id(parts.get("cdc_sdk_op_id"), op),
        transaction_id(row.get("transaction_id")),
        schema_name,
        name,
        schemas.read_tuple(row.get("new_tuple"), "new_tuple", texts),
        schemas.read_tuple(row.get("old_tuple"), "old_tuple", texts),
        # Newer servers send their own form of the key (DocKey), in bytes, of which nobody else can tell the values.
        schemas.read_tuple(key, "primary_key", texts) if type(key) is list else (),
        None if schema is None else schemas.read_schema(schema),
        table,
    )


def _op_id(op_id: object, op: str | None) -> OpId | None:
    """The op id as numbers; None where it is none. A commit has write_id 0 and comes after all of its transaction."""
    if op_id is None:
        return None
    parts = message_fields(op_id, _OP_ID, "cdc_sdk_op_id")
    term, index = whole(parts.get("term")), whole(parts.get("index"))
    if term is None or index is None:
        return None
    return term, index, AFTER_TRANSACTION if op == "COMMIT" else whole(parts.get("write_id")) or 0


def committed_op_id(messages: Sequence[RowMessage], checkpoint: Checkpoint) -> CommittedOpId:
    """The op id at which a consumer has everything that the response commits.

    A response commits something if it has a COMMIT, or a row outside any transaction. Then the op id is its checkpoint,
    unless that is missing or lies within a transaction; else the op id of the last COMMIT that has one. Where there is
    no such op id, it is ``NO_OP_ID``.
    """
    has_end, last = False, None
    for message in messages:
        if message.op == "COMMIT":
            has_end, last = True, message.op_id or last
        elif message.transaction_id is None and (
            message.op in ROW_OPERATIONS or message.op == "READ"
        ):
            has_end = True
    if has_end and checkpoint.op_id is not None and checkpoint.key is None:
        return checkpoint.op_id
    return last[:2] if last is not None else checkpoints.NO_OP_ID


# The places of row messages within their response. One op id may cover a whole batch of rows: the place in the batch
# orders them, and what they say tells them apart. BEGIN, DDL and SAFEPOINT may have no op id; they stand where their
# neighbours do. Each response is looked at once, from its end and from its start.


def place_messages(messages: Sequence[RowMessage]) -> None:
    """Give each message its place in its batch, and the op ids before and after it where it has none."""
    ids = [one.op_id for one in messages if one.op_id is not None and one.op in ROW_OPERATIONS]
    # Mostly each row has an op id of its own.
    if len(set(ids)) < len(ids):
        _place_in_batches(messages)
        _count_occurrences(messages)
    _assign_neighbours(messages)


def _place_in_batches(messages: Sequence[RowMessage]) -> None:
    """``in_batch``: minus the number of rows of its op id that come after it.

    So it is the same where a response begins in the middle of the batch, and the longest delivery of a batch has the
    smallest numbers, which are those that count.
    """
    later: dict[OpId, int] = {}
    for message in reversed(messages):
        if message.op_id is not None and message.op in ROW_OPERATIONS:
            followers = later.get(message.op_id, 0)
            message.in_batch = -followers
            later[message.op_id] = followers + 1


def _count_occurrences(messages: Sequence[RowMessage]) -> None:
    """``occurrence``: how many times the row had the same message before under its op id; None for the first time.

    Equal messages that follow each other with none of the row's others between them count once. It counts from the
    start: what a part of a batch says for the first time has the identity of the batch's first such message, which
    stands no later, so that the smallest position is that of the longest delivery.
    """
    by_content: dict[tuple[object, ...], tuple[object, dict[object, int]]] = {}
    for message in messages:
        if message.op_id is None or message.op not in ROW_OPERATIONS:
            continue
        row_key = (message.op_id, message.name, _row(message))
        what = _content(message)
        last, turns = by_content.get(row_key, (None, {}))
        if what != last:
            turns[what] = turns.get(what, -1) + 1
        by_content[row_key] = (what, turns)
        message.occurrence = turns[what] or None


def _row(message: RowMessage) -> object:
    """Which row a message is of: its key where that stands apart; else a tuple's first column, which is of the key."""
    if message.key:
        return tuple(message.key)
    key = message.row.get("primary_key")
    if type(key) is str and key:
        return key
    columns = message.new or message.old
    return columns[0] if columns else None


def _content(message: RowMessage) -> tuple[object, ...]:
    row_key = (message.op, message.schema_name, message.transaction_id)
    return (*row_key, *map(tuple, (message.new, message.old, message.key)))


def _assign_neighbours(messages: Sequence[RowMessage]) -> None:
    """``before`` and ``after``: the nearest op ids in the response, for a message that has none."""
    near: OpId | None = None
    for message in messages:
        if message.op_id is None:
            message.before = near
        else:
            near = message.op_id
    near = None
    for message in reversed(messages):
        if message.op_id is None:
            message.after = near
        else:
            near = message.op_id


# Where a row message stands in its tablet, whose own order the op id (term, index, write_id) is.


LogPosition = tuple[int, ...]

_OF_ROW: Final = 5
"""How many numbers of a row's position are the same in every delivery: its op id, and what stands before it."""


def log_position_of(message: RowMessage, checkpoint: Checkpoint) -> LogPosition | None:
    """The position; None where it needs an op id and has none."""
    op, own = message.op, message.op_id
    if op in ROW_OPERATIONS:
        return None if own is None else (*START, *own, message.in_batch)
    if op == "READ":
        at = instant_of(read_time(message, checkpoint))
        if checkpoint.op_id is None:
            return EPOCH, SNAPSHOT, at[0] or 0, at[1] or 0
        # A snapshot is read at the end of the log as that then was, and all its checkpoints say where this is.
        return *START, *checkpoint.op_id, AFTER_TRANSACTION, at[0] or 0, at[1] or 0
    if op == "BEGIN":
        first = own or message.after
        return (*START, *(first[:2] if first is not None else checkpoint.op_id or ()))
    return _position_by_neighbours(message, checkpoint)


def _position_by_neighbours(message: RowMessage, checkpoint: Checkpoint) -> LogPosition | None:
    """The position of a message that is no row and no BEGIN: at its op id, if it has one.

    Else right after the op id before it; else right before the op id after it (not for a COMMIT, which must not come
    early); else right after the checkpoint.
    """
    if message.op_id is not None:
        return (*START, *message.op_id)
    if message.before is not None:
        return (*START, *message.before, AFTER_TRANSACTION)
    if message.after is not None and message.op != "COMMIT":
        return (*START, *message.after[:2])
    if checkpoint.op_id is not None:
        return (*START, *checkpoint.op_id, AFTER_TRANSACTION)
    return None if message.op == "COMMIT" else START


def dedup_prefix_of(message: RowMessage, log_position: LogPosition | None) -> int:
    """How many numbers of the position are the same in every delivery."""
    if message.op in ROW_OPERATIONS:
        return _OF_ROW
    if message.op == "READ" or (message.op == "COMMIT" and message.op_id is not None):
        return len(log_position or ())
    return len(START)


def snapshot_row_of(tablet: str, log_position: LogPosition | None) -> SnapshotRow:
    """What a READ says of its snapshot: that of a tablet, in which no response says what came before it."""
    return SnapshotRow(log_position, False, False, tablet, 0, 0, PART)


def read_time(message: RowMessage, checkpoint: Checkpoint) -> int | None:
    """The time of the snapshot that a READ is from: by the checkpoint, else (in the last response) by the row."""
    return unsigned(checkpoint.snapshot_time) or unsigned(message.row.get("commit_time")) or None


def identity_of(
    message: RowMessage, tablet: str, log_position: LogPosition | None, checkpoint: Checkpoint
) -> tuple[str | None, ...]:
    """What, with table, operation and images, makes two deliveries of a row message one event."""
    op = message.op
    if op in ROW_OPERATIONS:
        own = (tablet, *map(str, message.op_id or ()))
        return own if message.occurrence is None else (*own, str(message.occurrence))
    if op == "READ":
        at = read_time(message, checkpoint)
        return tablet, "snapshot", None if at is None else str(at)
    if op in ("BEGIN", "COMMIT") and message.transaction_id is not None:
        return tablet, message.transaction_id
    numbers = map(str, log_position or ())
    if op == "DDL" and message.schema is not None:
        return tablet, message.schema.digest, *numbers
    return tablet, as_text(message.row.get("commit_time")), *numbers
