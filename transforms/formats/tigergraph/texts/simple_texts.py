"""Simple values: from TigerGraph's JSON to texts that the declared types read.

A DATETIME is a text, or, in containers always, a number of seconds; a BOOL may be 0 or 1. Texts of a type that they do
not fit stay as they are, for silver to refuse. Put here how a single value is spelled. Not here: lists, sets, maps and
tuples (``attribute_texts``).

Vendor: TigerGraph documentation, "CDC Message Examples"; "Attribute Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from transforms.json_values import Number, as_text

WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
NUMERIC: Final = (*WHOLE, "float", "double", "decimal")
"""How the names of the types of numbers begin."""

TIMES: Final = ("timestamp", "timestamp_ntz", "date")

_WHOLE_FRACTION = re.compile(r"(-?[0-9]+)\.0+")
_SECONDS = re.compile(r"-?[0-9]{1,18}")
_EPOCH = datetime(1970, 1, 1)
_YEARS_1_TO_9999 = range(
    (datetime.min - _EPOCH) // timedelta(seconds=1),
    (datetime.max - _EPOCH) // timedelta(seconds=1) + 1,
)
_TRUTHS = {"1": "true", "0": "false"}


def whole_text(value: Any) -> str | None:
    """The text of a number that is to be a whole one: 2.0 is one, whoever writes it so."""
    if type(value) is int:
        return str(value)
    if type(value) is Number and (read := _WHOLE_FRACTION.fullmatch(value)):
        return read[1]
    return as_text(value)


@cache
def text_reader(type_name: str) -> Callable[[str | None], str | None]:
    """What makes a simple value's text one that the declared types read."""
    if type_name == "boolean":
        return lambda text: None if text is None else _TRUTHS.get(text, text)
    if type_name in TIMES:
        return _day if type_name == "date" else _moment
    return lambda text: text


def _moment(text: str | None) -> str | None:
    """A number of seconds since 1970 as the moment that it is; beyond the years 1 to 9999 it is none."""
    if text is None or not _SECONDS.fullmatch(text) or int(text) not in _YEARS_1_TO_9999:
        return text
    return (_EPOCH + timedelta(seconds=int(text))).isoformat(" ")


def _day(text: str | None) -> str | None:
    """The same for a column of days: a moment within a day stays whole, as a text of one does."""
    moment = _moment(text)
    return moment if moment is text or moment is None else moment.removesuffix(" 00:00:00")
