"""How every reader says what it read, so that two can be compared: this file is copied beside their scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any


def cell(value: Any) -> Any:
    """A value as JSON can hold it, the same whichever reader it came from; moments are in UTC."""
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).replace(tzinfo=None).isoformat()
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if isinstance(value, list | tuple):
        return [cell(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def rows(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All rows, in an order that every reader has."""
    each = [{name: cell(value) for name, value in row.items()} for row in found]
    return sorted(each, key=lambda row: json.dumps(row, sort_keys=True))


def answer(read: Callable[[str], Iterable[Mapping[str, Any]]]) -> None:
    """Read the tables whose paths stand on standard input, one a line, and print what was read as JSON."""
    found: dict[str, Any] = {}
    for path in sys.stdin.read().splitlines():
        try:
            found[path] = rows(read(path))
        except Exception as fault:
            found[path] = f"{type(fault).__name__}: {fault}"
    print(json.dumps(found))
