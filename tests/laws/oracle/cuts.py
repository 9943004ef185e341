"""What tables hold at a position of the source: whole transactions, one after the other, up to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tests.support.bank_log import Transfer, Write

Rows = dict[str, dict[int, int]]


def rows_at(transfers: Sequence[Transfer], there: Collection[int], point: int) -> Rows:
    """The rows of each table by their ids, of the transactions that are ``there`` and whose changes stand so far."""
    found: Rows = {"checking": {}, "savings": {}}
    for one in sorted(transfers, key=lambda transfer: transfer.commit):
        if one.id not in there or one.point > point:
            continue
        for write in one.writes:
            if write.cents is None:
                found[write.table].pop(write.id, None)
            else:
                found[write.table][write.id] = write.cents
    return found


def late_writes(new: Collection[Write], log_position: Sequence[int]) -> int:
    """How many of these changes stand at or below a position."""
    point, lsn = log_position[2], log_position[4]
    return sum((one.point, one.lsn) <= (point, lsn) for one in new)
