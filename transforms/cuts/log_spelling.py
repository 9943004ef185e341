"""How a source writes a position of its log, and the numbers that stand for it in Weir's positions.

Vendor: PostgreSQL documentation, "pg_lsn Type" (two hexadecimal numbers of up to 8 digits); MySQL Reference Manual,
"SHOW BINARY LOG STATUS" (file and position); SQL Server documentation, "sys.fn_cdc_get_max_lsn" (binary(10)); Oracle
Database Concepts, "System Change Numbers".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.change import LogPosition

_POINT_AT: Final = 2
"""Before the point stand epoch and phase."""
_LOW_BITS: Final = 62
"""A log sequence number of SQL Server is two numbers, of which the second has so many bits."""


class SourceLog(NamedTuple):
    """The log that a feed's changes come from: the connector's name, and the name of its files before their number."""

    connector: str
    files: str = ""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One source's way of writing.

    ``numbers``: how many numbers a point has; ``text``: how they are written, behind the name of the log's files;
    ``read``: the numbers of what a person types, None where that is none; ``says``: what it is, with an example.
    """

    numbers: int
    text: Callable[[LogPosition, str], str]
    read: Callable[[str, str], LogPosition | None]
    says: str


def _decimal(text: str, _: str) -> LogPosition | None:
    return (int(text),) if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) else None


def _lsn(text: str, files: str) -> LogPosition | None:
    found = re.fullmatch(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", text)
    return ((int(found[1], 16) << 32) | int(found[2], 16),) if found else _decimal(text, files)


def _file(text: str, files: str) -> LogPosition | None:
    found = re.fullmatch(r"([^:\s]*\.)?([0-9]{1,9}):([0-9]{1,18})", text, re.ASCII)
    # Files of another name are of another log.
    if found is None or (files and found[1] not in (None, files)):
        return None
    return int(found[2]), int(found[3])


def _binary(text: str, _: str) -> LogPosition | None:
    """Each part has a width of its own, so that one that is written short is filled up."""
    parts = re.fullmatch(r"([0-9A-Fa-f]{1,20}):([0-9A-Fa-f]{1,8}):([0-9A-Fa-f]{1,4})", text)
    if parts:
        digits = f"{parts[1]}{parts[2]:0>8}{parts[3]:0>4}"
    elif found := re.fullmatch(r"0[xX]([0-9A-Fa-f]{20,32})", text):
        digits = found[1]
    else:
        return None
    number = int(digits, 16)
    return number >> _LOW_BITS, number & ((1 << _LOW_BITS) - 1)


def _binary_text(point: LogPosition, _: str) -> str:
    digits = f"{(point[0] << _LOW_BITS) | point[1]:020x}"
    return f"{digits[:-12]}:{digits[-12:-4]}:{digits[-4:]}"


def _decimal_text(point: LogPosition, _: str) -> str:
    return str(point[0])


_BY_FILE: Final = _Spelling(
    *(2, lambda point, files: f"{files}{point[0]:06d}:{point[1]}", _file),
    "a file of the binary log and a position in it, mariadb-bin.000003:1234 (a GTID is none)",
)
_BINARY: Final = _Spelling(
    *(2, _binary_text, _binary),
    "a log sequence number in three hexadecimal parts, 0000002a:00000d98:0003, or 0x and all of its digits",
)
_SPELLINGS: Final = {
    "postgresql": _Spelling(
        *(1, lambda point, _: f"{point[0] >> 32:X}/{point[0] & 0xFFFFFFFF:X}", _lsn),
        "a log sequence number, 0/16B3748, or the same as one decimal number",
    ),
    "mysql": _BY_FILE,
    "mariadb": _BY_FILE,
    "sqlserver": _BINARY,
    "db2": _BINARY,
    "oracle": _Spelling(1, _decimal_text, _decimal, "a system change number, 2164211"),
    "informix": _Spelling(1, _decimal_text, _decimal, "a log sequence number, 2164211"),
}
"""Connectors whose source writes one log for all of its tables: only there do positions of two tables compare."""

_EPOCH: Final = " of epoch "


def has_one_order(connector: str) -> bool:
    """Whether positions of this connector's tables compare with each other."""
    return connector in _SPELLINGS


def in_words(log: SourceLog, log_position: LogPosition) -> str:
    """The position's point as its source writes it; with the epoch before it where that is not the first."""
    spelling = _SPELLINGS[log.connector]
    point = log_position[_POINT_AT : _POINT_AT + spelling.numbers]
    text = spelling.text(point, log.files)
    return text if log_position[0] == 0 else f"{text}{_EPOCH}{log_position[0]}"


def epoch_of(text: str) -> int | None:
    """The epoch that a position names (``in_words``); None where it names none."""
    _, _, epoch = text.partition(_EPOCH)
    return int(epoch) if re.fullmatch(r"[0-9]{1,9}", epoch.strip(), re.ASCII) else None


def point_of(log: SourceLog, text: str) -> LogPosition | None:
    """The point that a text names in the source's own way, or with plain numbers; None where it is none."""
    point, is_of_epoch, _ = text.partition(_EPOCH)
    if is_of_epoch and epoch_of(text) is None:
        return None
    return _SPELLINGS[log.connector].read(point.strip(), log.files)


def expected_of(log: SourceLog) -> str:
    """What a position of this log is, in words."""
    of_files = f"; its files are called {log.files}…" if log.files else ""
    return f"{_SPELLINGS[log.connector].says}{of_files}"


def point_in(log: SourceLog, log_position: LogPosition) -> LogPosition:
    """The numbers of a position that a person names."""
    return log_position[_POINT_AT : _POINT_AT + _SPELLINGS[log.connector].numbers]
