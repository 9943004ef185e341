"""Where a row message stands in its tablet, and what identifies it there.

The op id (term, index, write_id) is a tablet's own order. Put here what a position and an identity are made of. Not
here: the places within a response that both rest on (``batches``).
"""

from __future__ import annotations

from typing import Final

from transforms.change import EPOCH, SNAPSHOT
from transforms.event import PART, SnapshotRow
from transforms.families.yugabyte.checkpoints import START, Checkpoint
from transforms.families.yugabyte.hybrid_times import instant
from transforms.families.yugabyte.scalars import unsigned
from transforms.formats.yugabyte.row_message import AFTER_TRANSACTION, ROWS, RowMessage
from transforms.json_values import as_text

LogPosition = tuple[int, ...]

_OF_ROW: Final = 5
"""How many numbers of a row's position are the same in every delivery: its op id, and what stands before it."""


def log_position(message: RowMessage, checkpoint: Checkpoint) -> LogPosition | None:
    """The position; None where it needs an op id and has none."""
    op, own = message.op, message.op_id
    if op in ROWS:
        return None if own is None else (*START, *own, message.in_batch)
    if op == "READ":
        at = instant(read_time(message, checkpoint))
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


def dedup_prefix(message: RowMessage, log_position: LogPosition | None) -> int:
    """How many numbers of the position are the same in every delivery."""
    if message.op in ROWS:
        return _OF_ROW
    if message.op == "READ" or (message.op == "COMMIT" and message.op_id is not None):
        return len(log_position or ())
    return len(START)


def snapshot_row(tablet: str, log_position: LogPosition | None) -> SnapshotRow:
    """What a READ says of its snapshot: that of a tablet, in which no response says what came before it."""
    return SnapshotRow(log_position, False, False, tablet, 0, 0, PART)


def read_time(message: RowMessage, checkpoint: Checkpoint) -> int | None:
    """The time of the snapshot that a READ is from: by the checkpoint, else (in the last response) by the row."""
    return unsigned(checkpoint.snapshot_time) or unsigned(message.row.get("commit_time")) or None


def identity(
    message: RowMessage, tablet: str, log_position: LogPosition | None, checkpoint: Checkpoint
) -> tuple[str | None, ...]:
    """What, with table, operation and images, makes two deliveries of a row message one event."""
    op = message.op
    if op in ROWS:
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
