"""Why a row message cannot be read, or be put in order.

Put here the faults of a single row message. Not here: a response that cannot be read at all (``get_changes``), and
values that the declared types cannot take (``silver``).
"""

from __future__ import annotations

from typing import Final

from transforms.fault import Fault, shown
from transforms.formats.yugabyte import tuples
from transforms.formats.yugabyte.log_positions import LogPosition
from transforms.formats.yugabyte.row_message import OPERATIONS, ROWS, RowMessage

_AT_OP_ID: Final = frozenset((*ROWS, "COMMIT"))


def row_fault(message: RowMessage, log_position: LogPosition | None) -> Fault | None:
    """Why a row message cannot be read, or put in order."""
    op = message.op
    if message.op_as_written is None:
        return Fault("missing_field", "the row message has no op")
    if op is None:
        known = f"known: {', '.join(OPERATIONS.values())}, and 0 to 8"
        return Fault(
            "unknown_operation", f"op {shown(message.op_as_written)} is not known; {known}"
        )
    if log_position is None and op in _AT_OP_ID:
        what = "no cdc_sdk_op_id with term and index: it has no log position in its tablet"
        return Fault("missing_field", f"{op} has {what}")
    tuples_of = (message.new, message.old, message.key)
    for values in tuples_of:
        for one in values:
            if not one.is_read:
                comes = f"column {shown(one.name)} comes as {shown(one.kind)}"
                return Fault("unread_value", f"{comes}, which is not read")
    for values in tuples_of:
        if tuples.names_twice(values):
            names = shown(", ".join(one.name for one in values))
            return Fault("column_twice", f"a tuple names a column twice: {names}")
    return None
