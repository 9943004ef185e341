"""From an Arcion row to an event: what its operation, its exists flags and its images say.

An exists flag says of each column which images mention it: 0 none, 1 the new one, 2 the old one, 3 both. Put here what
is true of a row however its file writes it. Not here: how a file writes rows (``formats``), and where an event stands
(``cursors``).
"""

from __future__ import annotations

from typing import Final

from transforms.event import Event
from transforms.families.arcion import cursors
from transforms.families.arcion.cursors import IN_SNAPSHOT, Cursor, LogEntry
from transforms.families.arcion.exists_flags import Row, Texts, flag_fault, images
from transforms.families.whole_numbers import microseconds
from transforms.fault import Fault, shown
from transforms.warning import EventWarning

FLAGS_DISAGREE = EventWarning(
    "flags_disagree",
    "exists_flags_agree_with_operation",
    "An insert mentions no old values and a delete no new ones.",
    "The events were applied by their operation; look at how the extractor writes flags.",
)

NO_COMMITS: Final = "whether a transaction is whole: the files carry no commits, so that gold may show a part of one."

_OPERATIONS: Final = {
    "I": "insert",
    "U": "update",
    "D": "delete",
    # Not in the document's list, but operationcount counts replaces: a whole new row.
    "R": "replace",
    "INSERT": "insert",
    "UPDATE": "update",
    "DELETE": "delete",
    "REPLACE": "replace",
}
_EFFECTS: Final = {"delete": "remove", "update": "update"}
_EFFECTS_OF_UPSERTS: Final = {**_EFFECTS, "insert": "update"}
"""In Cassandra an insert is an upsert."""

_NONE_MENTIONED: Final[tuple[Texts, Texts]] = ({}, {})


def operation_of(op: str | None, *, in_snapshot: bool) -> str | None:
    """What the source did; None where opType is unknown. A row without a cursor was read by a snapshot."""
    streamed = None if op is None else _OPERATIONS.get(op.strip(" ").upper())
    if not in_snapshot:
        return streamed
    return "read" if op is None or streamed in ("insert", "replace") else None


def operation_fault(op: str | None, operation: str | None, *, in_snapshot: bool) -> Fault | None:
    """An opType that is unknown, or that a row without a cursor cannot have."""
    if operation is not None:
        return None
    if in_snapshot and op is not None and _OPERATIONS.get(op.strip(" ").upper()):
        return Fault(
            "missing_cursor",
            f"opType {shown(op)} needs a cursor to be put in order, and it is null",
        )
    return Fault("unknown_operation", f"opType {shown(op)} is not known; known: I, U, D, R")


def event_of_bare_row(name: str | None, row: Row, fault: Fault | None) -> Event:
    """The event of a snapshot's row without an envelope: it has no operation, no cursor and no flags of its own.

    ``name`` is the table's, ``row`` the new values, the old values and the flags, by column. ``fault`` says why the row
    cannot be read at all: it has no log position then.
    """
    entry = IN_SNAPSHOT if fault is None else None
    mentioned = images(*row) if fault is None else _NONE_MENTIONED
    if mentioned is None:
        fault = flag_fault(*row)
    before, after = mentioned or _NONE_MENTIONED
    return Event(
        operation="read",
        effect="replace",
        name=name,
        before=before,
        after=after,
        log_position=entry and entry.log_position,
        identity=entry.identity if entry else (),
        dedup_prefix=len(entry.identity) if entry else 0,
        warnings=(FLAGS_DISAGREE.word,) if before and fault is None else (),
        fault=fault,
    )


def event(
    names: tuple[str | None, str | None, str | None],
    op: str | None,
    cursor_text: str | None,
    row: Row,
    fault: Fault | None,
) -> Event:
    """The event of one row that has an operation and a cursor, or an envelope with a null cursor (a snapshot's row).

    Args:
        names: Catalog, schema and name of the table.
        op: The text of opType; None where there is none.
        cursor_text: The cursor's JSON text; None for a null cursor.
        row: The new values, the old values and the flags, by column.
        fault: Why the row cannot be read at all.
    """
    in_snapshot = cursor_text is None
    cursor: Cursor = {} if cursor_text is None else cursors.cursor_fields(cursor_text)
    operation = operation_of(op, in_snapshot=in_snapshot)
    entry: LogEntry | None = IN_SNAPSHOT if in_snapshot else cursors.log_entry_of(cursor)
    if fault is not None and in_snapshot:
        # A row that could not be read at all has no log position.
        entry = None
    if fault is None:
        fault = operation_fault(op, operation, in_snapshot=in_snapshot)
    mentioned = images(*row) if fault is None else _NONE_MENTIONED
    if mentioned is None:
        fault = flag_fault(*row)
    before, after = mentioned or _NONE_MENTIONED
    if fault is None and entry is not None and None in entry.log_position:
        fault = _unknown_cursor(cursor_text)
    is_mysql = cursors.is_mysql(cursor)
    effects = _EFFECTS_OF_UPSERTS if cursors.has_upserts(cursor) else _EFFECTS
    return Event(
        operation=operation,
        effect=effects.get(operation or "", "replace"),
        catalog=names[0],
        schema=names[1],
        name=names[2],
        before=before,
        after=after,
        log_position=entry and entry.log_position,
        identity=entry.identity if entry else (),
        dedup_prefix=len(entry.identity) if entry else 0,
        segment=entry.log_position[2] if entry and is_mysql else None,
        event_at=microseconds(cursor.get("timestamp")),
        extracted_at=microseconds(cursor.get("extractionTimestamp")),
        warnings=() if fault is not None else _warnings(operation, before, after),
        fault=fault,
    )


def _unknown_cursor(cursor_text: str | None) -> Fault:
    return Fault(
        "unknown_cursor",
        f"the cursor gives no position: {shown(cursor_text)}; known: MySQL's log, position, logSeqNum,"
        " Cassandra's timestamp, dscId, mutId, partNum, MongoDB's resumeToken, seqNum, and Informix's seqNum",
    )


def _warnings(operation: str | None, before: Texts, after: Texts) -> tuple[str, ...]:
    """Whether the images contradict the operation, by which the event is taken all the same."""
    if (before and operation in ("insert", "read")) or (after and operation == "delete"):
        return (FLAGS_DISAGREE.word,)
    return ()
