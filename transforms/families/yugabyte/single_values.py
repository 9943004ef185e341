"""The server's own single values (QLValuePB): numbers, texts, bytes, uuids, addresses, days and moments.

Put here how a value without parts becomes a column's. Not here: collections, and which member of a value is set
(``values``).

Vendor: yugabyte-db, src/yb/common/value.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from transforms.event import Value
from transforms.families.yugabyte import octets
from transforms.families.yugabyte.hybrid_times import day_text, timestamp
from transforms.families.yugabyte.scalars import (
    unsigned,
    whole,
)

PLAIN: Final = (
    *("int8_value", "int16_value", "int32_value", "int64_value", "uint32_value", "uint64_value"),
    *("float_value", "double_value", "bool_value", "time_value"),
)
"""Numbers and flags: the text is the value. A time is the number of nanoseconds since midnight."""


def _bytes(base64: str) -> Value:
    data = octets.decoded(base64)
    return base64 if data is None else data


def _uuid(base64: str) -> str:
    data = octets.decoded(base64)
    return base64 if data is None else octets.uuid(data)


def _address(base64: str) -> str:
    data = octets.decoded(base64)
    return (data is not None and octets.address(data)) or base64


_DAY_OF_1970: Final = 1 << 31


def _day(number: str) -> str:
    """Days are unsigned, and 2^31 is the first of January 1970; what is no such number stays as it is written."""
    days = unsigned(number)
    return number if days is None or days >= 1 << 32 else day_text(days - _DAY_OF_1970)


def _timestamp(number: str) -> str:
    micros = whole(number)
    return number if micros is None else timestamp(micros)


READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    **dict.fromkeys((*PLAIN, "string_value"), lambda written: written),
    "binary_value": _bytes,
    "uuid_value": _uuid,
    "timeuuid_value": _uuid,
    "inetaddress_value": _address,
    "timestamp_value": _timestamp,
    "date_value": _day,
}
