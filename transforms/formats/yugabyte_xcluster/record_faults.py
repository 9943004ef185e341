"""Why a record of xCluster cannot be read, or be put in order.

Put here the faults of a single record. Not here: a response that cannot be read at all (``decode``), and values that
the declared types cannot take (``silver``).
"""

from __future__ import annotations

from typing import Final

from transforms.fault import Fault, shown
from transforms.formats.yugabyte_xcluster.records import (
    OPERATIONS,
    Record,
)

ROWS: Final = frozenset(("WRITE", "DELETE"))


def record_fault(record: Record) -> Fault | None:
    """Why a record cannot be read, or put in order."""
    op, is_apply = record.op, record.op == "APPLY"
    if record.op_as_written is None:
        return Fault("missing_field", "the record has no operation")
    if op is None:
        known = f"known: {', '.join(OPERATIONS.values())}, and 1 to 7"
        return Fault(
            "unknown_operation", f"operation {shown(record.op_as_written)} is not known; {known}"
        )
    if (record.commit_at if is_apply else record.at)[0] is None:
        times = f"time {shown(record.time)}, commit_hybrid_time {shown(record.commit_time)}"
        return Fault("missing_field", f"{op} has no hybrid time: {times}")
    if is_apply and record.transaction_id is None:
        return Fault("missing_field", "APPLY names no transaction")
    return _column_fault(record) if op in ROWS else None


def _column_fault(record: Record) -> Fault | None:
    names = {one.name for one in record.columns}
    if None in names:
        return Fault("missing_field", "a pair of key or changes names no column")
    if len(names) < len(record.columns):
        listed = shown(", ".join([str(one.name) for one in record.columns]))
        return Fault("column_twice", f"key and changes name a column twice: {listed}")
    for one in record.columns:
        if not one.is_read:
            comes = f"column {shown(one.name)} comes as {shown(one.kind)}"
            return Fault("unread_value", f"{comes}, which is not read")
    return None
