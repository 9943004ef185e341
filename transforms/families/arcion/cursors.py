"""Arcion's cursors: where an event stands in its source's log, and when it was made and read.

A cursor is a JSON text. Its names carry stray blanks in the vendor's own samples (``extraction Timestamp``,
``partN um``) and once lack a letter (``dscI``): blanks are removed, and that name is completed.

MySQL: log file number, position, logSeqNum; all three identify. MongoDB: resumeToken and seqNum; Informix: seqNum,
which rises through its log; these identify. Cassandra: timestamp, dscId, mutId, partNum; only the timestamp identifies,
since each replica has its own numbers for the same mutation.

Vendor: Arcion documentation, "MongoDB" (target: the cursor of its replicant) and "Informix" (source prerequisites).

Put here what is true of cursors alone. Not here: rows and their events (``rows``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from transforms.change import EPOCH, SNAPSHOT, STREAM
from transforms.families.whole_numbers import whole
from transforms.json_values import MalformedJson, as_text, read

Cursor = Mapping[str, str | int | None]
"""A cursor's fields under their mended names: whole numbers as they are, and all else as texts."""

_FILE_NUMBER = re.compile(r"([0-9]+)\s*$")


class LogEntry(NamedTuple):
    """Where an event stands, and what of that identifies it; a number that the cursor lacks is None."""

    log_position: tuple[int | None, ...]
    identity: tuple[str | None, ...]


IN_SNAPSHOT = LogEntry((EPOCH, SNAPSHOT), (str(EPOCH), str(SNAPSHOT)))
"""Rows of a snapshot stand before the stream, and in no order among each other."""


def cursor_fields(text: str) -> Cursor:
    """The cursor's fields; none where it is no JSON object, or where two names are one after mending.

    Neither of two such could be trusted.
    """
    try:
        parts = read(text)
    except MalformedJson:
        return {}
    if type(parts) is not dict:
        return {}
    found = {
        name: value if type(value) is int else as_text(value)
        for name, value in zip(_mended(tuple(parts)), parts.values(), strict=True)
    }
    return found if len(found) == len(parts) else {}


@lru_cache(maxsize=1024)
def _mended(names: tuple[str, ...]) -> tuple[str, ...]:
    """The cursor's names: all cursors of a source have the same."""
    return tuple(map(mended, names))


def mended(name: str) -> str:
    """The cursor's name without stray blanks and with its last letter."""
    plain = "".join(name.split())
    return "dscId" if plain == "dscI" else plain


def is_mysql(cursor: Cursor) -> bool:
    """True for a cursor of MySQL: it names a log file."""
    return "log" in cursor


def has_upserts(cursor: Cursor) -> bool:
    """True for a cursor of Cassandra, where an insert is an upsert: it names a mutation."""
    return "mutId" in cursor


def log_entry_of(cursor: Cursor) -> LogEntry:
    """The event's position in the stream, and its identity."""
    if is_mysql(cursor):
        numbers = (
            _file_number(cursor["log"]),
            whole(cursor.get("position")),
            _number_or_zero(cursor, "logSeqNum"),
        )
        return _in_log(*numbers)
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
    """The number that the name of a log file ends with; None where there is none."""
    found = _FILE_NUMBER.search("" if log is None else str(log))
    return None if found is None else whole(found[1])


def _number_or_zero(cursor: Cursor, name: str) -> int | None:
    """A field that a cursor may leave out: 0 where it does, None where it is no number."""
    parts = cursor.get(name)
    return 0 if parts is None else whole(parts)


def _texts(numbers: tuple[int | None, ...]) -> tuple[str | None, ...]:
    return tuple([None if one is None else str(one) for one in numbers])
