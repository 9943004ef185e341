"""From an Arcion row to an event: what its operation, its exists flags and its images say.

An exists flag says of each column which images mention it: 0 none, 1 the new one, 2 the old one, 3 both. Not here: how
a file writes rows (``formats``), and where an event stands (``cursors``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transforms.event import Event
from transforms.families.arcion import cursors
from transforms.families.arcion.cursors import IN_SNAPSHOT, Cursor, Stand
from transforms.families.whole_numbers import microseconds
from transforms.fault import Fault, quoted, shown
from transforms.warning import EventWarning

Texts = Mapping[str, str | None]

Row = tuple[Texts, Texts, Texts]
"""The new values, the old values and the flags of a row, by column."""

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
_EFFECTS: Final = {"delete": "remove", "update": "merge"}
_NEW: Final = frozenset("13")
_OLD: Final = frozenset("23")
_BOTH: Final = {"3"}
FLAGS: Final = frozenset("0123")


def operation_of(op: str | None, *, in_snapshot: bool, is_bare: bool) -> str | None:
    """What the source did; None where opType is unknown. A row without a cursor was read by a snapshot."""
    streamed = None if op is None else _OPERATIONS.get(op.strip(" ").upper())
    if not in_snapshot:
        return streamed
    return "read" if is_bare or op is None or streamed in ("insert", "replace") else None


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


def flag_fault(new: Texts, old: Texts, flags: Texts) -> Fault | None:
    """The first flag that is missing, outside 0 to 3, or contradicts what the images hold."""
    # In a fixed order, so that the same row has the same fault however its columns stand.
    names = sorted({*flags, *new, *old})
    for name in names:
        if flags.get(name) not in FLAGS:
            return Fault(
                "flag_out_of_range",
                f"exists of {name} is {shown(flags.get(name))}; known: 0, 1, 2, 3",
            )
    for name in names:
        flag, new_value, old_value = flags[name], new.get(name), old.get(name)
        if (
            (flag in ("0", "2") and new_value is not None)
            or (flag in ("0", "1") and old_value is not None)
            or (flag in _NEW and name not in new)
            or (flag in _OLD and name not in old)
        ):
            return Fault(
                "flag_contradicts_images",
                f"exists of {name} is {flag}, but the new value is {quoted(new_value)}"
                f" and the old value is {quoted(old_value)}",
            )
    return None


def images(new: Texts, old: Texts, flags: Texts) -> tuple[Texts, Texts] | None:
    """The old and the new image, each of the columns that the flags say it mentions; None where a flag is at fault."""
    if new.keys() == flags.keys() == old.keys() and set(flags.values()) == _BOTH:
        # Most updates mention every column in both images.
        return old, new
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    if len(flags) < len(new) or len(flags) < len(old):
        return None
    try:
        for name, flag in flags.items():
            if flag == "3":
                after[name], before[name] = new[name], old[name]
                continue
            if flag == "1":
                after[name] = new[name]
                rest = old.get(name)
            elif flag == "2":
                before[name] = old[name]
                rest = new.get(name)
            elif flag == "0":
                rest = new.get(name)
                rest = old.get(name) if rest is None else rest
            else:
                return None
            if rest is not None:
                return None
    except KeyError:
        return None
    return (before, after) if new.keys() <= flags.keys() and old.keys() <= flags.keys() else None


def event(
    *,
    names: tuple[str | None, str | None, str | None],
    op: str | None,
    cursor_text: str | None,
    row: Row,
    is_bare: bool,
    fault: Fault | None,
) -> Event:
    """The event of one row.

    Args:
        names: catalog, schema and name of the table.
        op: the text of opType, None where there is none.
        cursor_text: the cursor's JSON text, None for a null cursor.
        row: the new values, the old values and the flags, by column.
        is_bare: whether it is a snapshot's row without an envelope: no operation, no cursor, no flags of its own.
        fault: why the row cannot be read at all.
    """
    in_snapshot = is_bare or cursor_text is None
    cursor: Cursor = {} if cursor_text is None else cursors.fields(cursor_text)
    operation = operation_of(op, in_snapshot=in_snapshot, is_bare=is_bare)
    place: Stand | None = IN_SNAPSHOT if in_snapshot else cursors.stand(cursor)
    if fault is not None and in_snapshot:
        # What could not be read at all has no place.
        place = None
    before: Texts = {}
    after: Texts = {}
    if fault is None:
        fault = operation_fault(op, operation, in_snapshot=in_snapshot)
    if fault is None:
        found = images(*row)
        if found is None:
            fault = flag_fault(*row)
        else:
            before, after = found
    if fault is None and place is not None and None in place.position:
        fault = Fault(
            "unknown_cursor",
            f"the cursor gives no position: {shown(cursor_text)}; known: MySQL's log, position, logSeqNum and"
            " Cassandra's timestamp, dscId, mutId, partNum",
        )
    is_mysql = cursors.is_mysql(cursor)
    is_upsert = operation == "insert" and not is_mysql
    disagrees = (bool(before) and operation in ("insert", "read")) or (
        bool(after) and operation == "delete"
    )
    return Event(
        operation=operation,
        # In Cassandra an insert is an upsert.
        effect="merge" if is_upsert else _EFFECTS.get(operation or "", "put"),
        catalog=names[0],
        schema=names[1],
        name=names[2],
        before=before,
        after=after,
        position=place and place.position,
        identity=place.identity if place else (),
        stable_prefix=len(place.identity) if place else 0,
        segment=place.position[2] if place and is_mysql else None,
        event_at=microseconds(cursor.get("timestamp")),
        extracted_at=microseconds(cursor.get("extractionTimestamp")),
        warnings=(FLAGS_DISAGREE.word,) if disagrees and fault is None else (),
        fault=fault,
    )
