"""What Arcion's file formats share: exists flags, cursors, operations, and the way from them to an event.

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3".
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import msgspec

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.event import Event, EventWarning
from transforms.families.whole_numbers import microseconds, whole
from transforms.fault import Fault, quoted, shown
from transforms.json_values import MalformedJson, as_text, has_minus_zero, has_texts, read
from transforms.shape import Shape, Shaped

_TOTALS: Final = re.compile(
    rb"insertCount\W+([0-9]+)\W+updateCount\W+([0-9]+)\W+deleteCount\W+([0-9]+)"
    rb"(?:\W+replaceCount\W+([0-9]+))?"
)
_TABLE: Final = re.compile(rb'"tableName"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\})')


def operations_so_far(payload: bytes) -> tuple[str, int] | None:
    """The table, as the record names it, and the sum of its totals; None of a record without any.

    It is read as it stands in the record, in JSON and in CSV, whose records name no table.
    """
    found = [*_TOTALS.finditer(payload)]
    if not found:
        return None
    # A value of the row may look like it: the totals stand behind the row.
    total = sum(int(count or 0) for count in found[-1].groups())
    table = _TABLE.search(payload)
    return (table[1].decode("utf-8", "replace") if table else ""), total


# Exists flags: which of a row's two images mention a column. 0: none does, 1: the new one, 2: the old one, 3: both.


Texts = Mapping[str, str | None]

Row = tuple[Texts, Texts, Texts]
"""The new values, the old values and the flags of a row, by column."""

_NEW: Final = frozenset("13")
_OLD: Final = frozenset("23")
_BOTH: Final = {"3"}
FLAGS: Final = frozenset("0123")


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


def images_by_flags(new: Texts, old: Texts, flags: Texts) -> tuple[Texts, Texts] | None:
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


# Cursors: JSON texts that say where an event stands in its source's log, and when it was made and read. Their names
# carry stray blanks in the vendor's own samples (``extraction Timestamp``, ``partN um``) and once lack a letter
# (``dscI``): blanks are removed, and that name is completed.
# MySQL: log file number, position, logSeqNum; all three identify. MongoDB: resumeToken and seqNum; Informix: seqNum,
# which rises through its log; these identify. Cassandra: timestamp, dscId, mutId, partNum; only the timestamp
# identifies, since each replica has its own numbers for the same mutation.
# Vendor: Arcion documentation, "MongoDB" (target: the cursor of its replicant) and "Informix" (source prerequisites).


Cursor = Mapping[str, str | int | None]
"""A cursor's fields under their repaired names: whole numbers as they are, and all else as texts."""

_FILE_NUMBER = re.compile(r"([0-9]+)\s*$")


class LogEntry(NamedTuple):
    """Where an event stands, and what of that identifies it; a number that the cursor lacks is None."""

    log_position: tuple[int | None, ...]
    identity: tuple[str | None, ...]


IN_SNAPSHOT = LogEntry((EPOCH, SNAPSHOT), (str(EPOCH), str(SNAPSHOT)))
"""Rows of a snapshot stand before the stream, and in no order among each other."""


def cursor_fields(cursor: Any) -> Cursor:
    """The fields of a cursor, an object or the text of one.

    There are none where it is neither, or two names are one after repair: neither can be trusted then.
    """
    try:
        parts = read(cursor) if type(cursor) is str else cursor
    except MalformedJson:
        return {}
    if type(parts) is not dict:
        return {}
    found = {
        name: value if type(value) is int else as_text(value)
        for name, value in zip(_repaired_names(tuple(parts)), parts.values(), strict=True)
    }
    return found if len(found) == len(parts) else {}


@lru_cache(maxsize=1024)
def _repaired_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The cursor's names without stray blanks and with their last letter: all cursors of a source have the same."""
    plain = ["".join(name.split()) for name in names]
    return tuple("dscId" if name == "dscI" else name for name in plain)


def log_entry_of(cursor: Cursor) -> LogEntry:
    """The event's position in the stream, and its identity."""
    if "log" in cursor:
        file, position = _file_number(cursor["log"]), whole(cursor.get("position"))
        return _in_log(file, position, _number_or_zero(cursor, "logSeqNum"))
    if "resumeToken" in cursor:
        return _in_log(whole(cursor["resumeToken"]), _number_or_zero(cursor, "seqNum"), 0)
    if "seqNum" in cursor:
        return _in_log(whole(cursor["seqNum"]))
    of_mutation = [whole(cursor.get(name)) for name in ("timestamp", "dscId", "mutId")]
    log_position = (EPOCH, STREAM, *of_mutation, _number_or_zero(cursor, "partNum"))
    return LogEntry(log_position, _texts(log_position[:3]))


def _in_log(*numbers: int | None) -> LogEntry:
    log_position = (EPOCH, STREAM, *numbers)
    return LogEntry(log_position, _texts(log_position))


@lru_cache(maxsize=1024)
def _file_number(log: str | int | None) -> int | None:
    found = _FILE_NUMBER.search("" if log is None else str(log))
    return None if found is None else whole(found[1])


def _number_or_zero(cursor: Cursor, name: str) -> int | None:
    """A field that a cursor may leave out: 0 where it does, None where it is no number."""
    part = cursor.get(name)
    return 0 if part is None else whole(part)


def _texts(numbers: tuple[int | None, ...]) -> tuple[str | None, ...]:
    return tuple([None if one is None else str(one) for one in numbers])


# From a row to an event.


FLAGS_DISAGREE = EventWarning(
    "flags_disagree",
    "exists_flags_agree_with_operation",
    "An insert mentions no old values and a delete no new ones.",
    "The events were applied by their operation; look at how the extractor writes flags.",
)

NO_COMMITS: Final = "whether a transaction is whole: the files carry no commits, so that gold may show a part of one."

OPERATIONS: Final = {
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
    streamed = None if op is None else OPERATIONS.get(op.strip(" ").upper())
    if not in_snapshot:
        return streamed
    return "read" if op is None or streamed in ("insert", "replace") else None


def operation_fault(op: str | None, operation: str | None, *, in_snapshot: bool) -> Fault | None:
    """An opType that is unknown, or that a row without a cursor cannot have."""
    if operation is not None:
        return None
    if in_snapshot and op is not None and OPERATIONS.get(op.strip(" ").upper()):
        return Fault(
            "missing_cursor",
            f"opType {shown(op)} needs a cursor to be put in order, and it is null",
        )
    return Fault("unknown_operation", f"opType {shown(op)} is not known; known: I, U, D, R")


def event_of_row(
    names: tuple[str | None, str | None, str | None],
    op: str | None,
    cursor_text: str | None,
    row: Row,
    fault: Fault | None,
) -> Event:
    """The event of one row; of one without an operation and a cursor, ``op`` and ``cursor_text`` are None.

    ``names``: catalog, schema and name of the table. ``row``: the new values, the old values and the flags, by column.
    ``fault``: why the row cannot be read at all.
    """
    in_snapshot = cursor_text is None
    cursor: Cursor = {} if cursor_text is None else cursor_fields(cursor_text)
    operation = operation_of(op, in_snapshot=in_snapshot)
    entry: LogEntry | None = IN_SNAPSHOT if in_snapshot else log_entry_of(cursor)
    if fault is not None and in_snapshot:
        # A row that could not be read at all has no log position.
        entry = None
    if fault is None:
        fault = operation_fault(op, operation, in_snapshot=in_snapshot)
    mentioned = images_by_flags(*row) if fault is None else _NONE_MENTIONED
    if mentioned is None:
        fault = flag_fault(*row)
    before, after = mentioned or _NONE_MENTIONED
    if fault is None and entry is not None and None in entry.log_position:
        fault = _unknown_cursor(cursor_text)
    is_mysql = "log" in cursor
    # Only Cassandra's cursors name a mutation.
    effects = _EFFECTS_OF_UPSERTS if "mutId" in cursor else _EFFECTS
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
    if (before and operation in ("insert", "read")) or (after and operation == "delete"):
        return (FLAGS_DISAGREE.word,)
    return ()


# From a row to its shape.


_MOST_SHAPES: Final = 4_096
_cursor = msgspec.json.Decoder(dict[str, int | str | None]).decode


class _Known(NamedTuple):
    """A shape, and how its values are found in a row.

    ``before``, ``after``: the columns that the flags say an image mentions; None where that is all that stand there,
    in their order. ``null_before``, ``null_after``: those that stand there and are not mentioned.
    """

    shape: Shape
    before: Sequence[str] | None
    after: Sequence[str] | None
    null_before: Sequence[str]
    null_after: Sequence[str]


class Shapes:
    """The shapes of the rows of a feed; for one process to keep."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Known | None] = {}

    def __call__(
        self,
        said: tuple[str | None, ...],
        cursor_text: str | None,
        row: Row,
    ) -> Shaped | None:
        """The row by its shape; None where that cannot be seen at once.

        ``said``: whatever else decides what the event is: its table and its operation.
        """
        new, old, flags = row
        entry, fields = IN_SNAPSHOT, _NO_FIELDS
        if cursor_text is not None:
            fields = _fields_at_once(cursor_text)
            entry = log_entry_of(fields)
            if not fields or None in entry.log_position:
                return None
        described = (*said, *fields, None, *old, None, *new, None, *flags, *flags.values())
        known = self._known.get(described)
        if known is None and described not in self._known:
            if len(self._known) >= _MOST_SHAPES:
                # A stream may have rows of any columns.
                self._known.clear()
            known = self._known[described] = _shape_of(new, old, flags)
        if known is None:
            return None
        before, after = known.before, known.after
        if before is not None or after is not None:
            # A value of a column that the flags do not mention is a fault.
            if any(old[name] is not None for name in known.null_before):
                return None
            if any(new[name] is not None for name in known.null_after):
                return None
        log_position, identity = entry
        return Shaped(
            known.shape,
            [*old.values()] if before is None else [old[name] for name in before],
            [*new.values()] if after is None else [new[name] for name in after],
            cast("tuple[int, ...]", log_position),
            identity,
            log_position[2] if "log" in fields else None,
            microseconds(fields.get("timestamp")),
            microseconds(fields.get("extractionTimestamp")),
        )


_NO_FIELDS: Final[Cursor] = {}


def _fields_at_once(cursor_text: str) -> Cursor:
    """The fields of a cursor that holds only whole numbers and texts, each under its own name; of others none."""
    try:
        fields = _cursor(cursor_text)
    except (msgspec.MsgspecError, UnicodeError):
        return _NO_FIELDS
    raw = cursor_text.encode()
    texts = 2 * len(fields) - sum(type(one) is not str for one in fields.values())
    if not has_texts(raw, texts) or has_minus_zero(raw):
        return _NO_FIELDS
    names = tuple(fields)
    return fields if _repaired_names(names) == names else cursor_fields(fields)


def _shape_of(new: Texts, old: Texts, flags: Texts) -> _Known | None:
    """The shape of rows with such columns and flags; None where flags are at fault."""
    # Null is what every flag allows.
    mentioned = images_by_flags(dict.fromkeys(new), dict.fromkeys(old), flags)
    if mentioned is None:
        return None
    before, after = map(tuple, mentioned)
    return _Known(
        Shape(before, after),
        None if before == (*old,) else before,
        None if after == (*new,) else after,
        [name for name in old if name not in before],
        [name for name in new if name not in after],
    )
