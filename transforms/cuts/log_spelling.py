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
    """One source's way of writing: how many numbers a point has, the text of them, and back; ``known``: an example."""

    numbers: int
    text: Callable[[LogPosition, str], str]
    read: Callable[[str], LogPosition | None]
    known: str


def _one(text: str) -> LogPosition | None:
    return (int(text),) if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) else None


def _lsn(text: str) -> LogPosition | None:
    found = re.fullmatch(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", text)
    return ((int(found[1], 16) << 32) | int(found[2], 16),) if found else _one(text)


def _file(text: str) -> LogPosition | None:
    found = re.fullmatch(r"(?:[^:\s]*\.)?([0-9]{1,9}):([0-9]{1,18})", text, re.ASCII)
    return (int(found[1]), int(found[2])) if found else None


def _binary(text: str) -> LogPosition | None:
    digits = text.removeprefix("0x").replace(":", "")
    if not re.fullmatch(r"[0-9A-Fa-f]{1,32}", digits):
        return None
    number = int(digits, 16)
    return number >> _LOW_BITS, number & ((1 << _LOW_BITS) - 1)


def _binary_text(point: LogPosition, _: str) -> str:
    digits = f"{(point[0] << _LOW_BITS) | point[1]:020x}"
    return f"{digits[:-12]}:{digits[-12:-4]}:{digits[-4:]}"


def _decimal_text(point: LogPosition, _: str) -> str:
    return str(point[0])


_DECIMAL: Final = _Spelling(1, _decimal_text, _one, "2164211")
_BY_FILE: Final = _Spelling(
    *(2, lambda point, files: f"{files}{point[0]:06d}:{point[1]}", _file),
    "mariadb-bin.000003:1234",
)
_BINARY: Final = _Spelling(2, _binary_text, _binary, "0000002a:00000d98:0003")
_SPELLINGS: Final = {
    "postgresql": _Spelling(
        *(1, lambda point, _: f"{point[0] >> 32:X}/{point[0] & 0xFFFFFFFF:X}", _lsn), "0/16B3748"
    ),
    "mysql": _BY_FILE,
    "mariadb": _BY_FILE,
    "sqlserver": _BINARY,
    "db2": _BINARY,
    "oracle": _DECIMAL,
    "informix": _DECIMAL,
}
"""Connectors whose source writes one log for all of its tables: only there do positions of two tables compare."""


def has_one_order(connector: str) -> bool:
    """Whether positions of this connector's tables compare with each other."""
    return connector in _SPELLINGS


def in_words(log: SourceLog, log_position: LogPosition) -> str:
    """The position's point as its source writes it; with the epoch before it where that is not the first."""
    spelling = _SPELLINGS[log.connector]
    point = log_position[_POINT_AT : _POINT_AT + spelling.numbers]
    text = spelling.text(point, log.files)
    return text if log_position[0] == 0 else f"{text} of epoch {log_position[0]}"


def point_of(log: SourceLog, text: str) -> LogPosition | None:
    """The point that a text names in the source's own way, or with plain numbers; None where it is none."""
    return _SPELLINGS[log.connector].read(text.strip())


def example_of(log: SourceLog) -> str:
    """A position as this source writes it."""
    return _SPELLINGS[log.connector].known


def point_in(log: SourceLog, log_position: LogPosition) -> LogPosition:
    """The numbers of a position that a person names."""
    return log_position[_POINT_AT : _POINT_AT + _SPELLINGS[log.connector].numbers]
