"""Two events that claim one log position, for one key and with one operation, but say different things.

An event's identity is a digest of its log position and its content, so that an altered copy of an event is another
event. It shows by its log position. Not all that shares one is in conflict: a transaction that has only one position
may change a row several times. Each change then begins with what the one before it left; so two updates contradict each
other where both know all old values, and know the same ones, and two inserts where nothing stands between them. Rows of
snapshots have no log position of their own. Put here when two events contradict each other. Not here: deliveries of the
same event (``duplicates``), and counting keys with several events at one position, whatever they say
(``transforms/gold/delivery_counts``).
"""

from __future__ import annotations

from typing import Final

from transforms.silver.conforming.changes import CHANGE, Row

WORD: Final = "conflicting_payload"
"""What such an event is counted as among an account's warnings."""

_INSERT, _DELETE = "insert", "delete"
_SNAPSHOT = 0


class Conflicts:
    """Finds events that contradict the one before them; rows are asked about in the order of their sort keys."""

    def __init__(self) -> None:
        self._group: bytes | None = None
        self._before: Row | None = None

    def other_of(self, group: bytes, row: Row) -> Row | None:
        """The event that the row contradicts, if it is the last that was asked about; the row repeats no event."""
        before = self._before if group == self._group else None
        self._group, self._before = group, row
        if before is None or before.log_position != row.log_position or not _has_log_position(row):
            return None
        same = before.operation == row.operation and row.tally == before.tally == CHANGE
        return before if same and _says_other(before, row) else None


def _has_log_position(row: Row) -> bool:
    """Whether the row is of a key, and stands somewhere in the log."""
    log_position = row.log_position or ()
    return row.key is not None and len(log_position) > 2 and log_position[1] != _SNAPSHOT


def _says_other(one: Row, other: Row) -> bool:
    if one.operation == _INSERT:
        return one.after != other.after
    knows_all = min(len(one.before), len(other.before)) > len(one.key or ())
    if one.operation == _DELETE:
        return knows_all and one.before != other.before
    return knows_all and one.before == other.before and one.after != other.after


def in_words(one: Row, other: Row) -> str:
    """Where both stand."""
    key = ", ".join("null" if part is None else part for part in one.key or ())
    positions = [f"{row.object} line {row.line}" for row in (one, other)]
    return f"{one.table}, key {key}: {positions[0]} and {positions[1]} say different things of one {one.operation}"
