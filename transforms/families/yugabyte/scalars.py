"""Scalars of protobuf messages, however a client writes them as JSON: numbers as numbers or texts, empty for unset.

Put here what is true of a single scalar. Not here: the fields of a message (``messages``), and bytes (``octets``).
"""

from __future__ import annotations

import re
from typing import Any

from transforms import json_values


def filled(value: Any) -> str | None:
    """The scalar as text, or None where it is empty: what protobuf calls unset."""
    return (value if type(value) is str else json_values.as_text(value)) or None


def whole(value: Any) -> int | None:
    """A signed 64-bit number, however it is written; None for all else."""
    number = _integer(value)
    return number if number is not None and -(2**63) <= number < 2**63 else None


def unsigned(value: Any) -> int | None:
    """An unsigned 64-bit number, however it is written; None for all else."""
    number = _integer(value)
    return number if number is not None and 0 <= number < 2**64 else None


_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")


def _integer(value: Any) -> int | None:
    if type(value) is int:
        return value
    if type(value) is str and _INTEGER.fullmatch(value):
        return int(value)
    return None
