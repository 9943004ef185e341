"""Nodes and values as gold has them: exact text, one spelling for one value, and what fits no type of Dgraph's.

Put here the one spelling of a value, by Dgraph's types. Not here: how floats and vectors are spelled (``floats``), and
what becomes of a value (``triples``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from transforms.fault import Fault, shown
from transforms.formats.dgraph.floats import float_text, vector_text
from transforms.formats.dgraph.statement import TYPES

_HEXADECIMAL: Final = re.compile(r"0[xX]([0-9a-fA-F]{1,16})")
"""How Dgraph writes an unsigned number outside of its stream."""

_UNSIGNED: Final = re.compile(r"[0-9]{1,20}")
_INT: Final = re.compile(r"-?[0-9]{1,19}")
_MOMENT: Final = re.compile(
    r"[0-9]{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-5][0-9])"
)
_BEYOND_64_BITS: Final = 1 << 64
_BEYOND_63_BITS: Final = 1 << 63


def signed(text: str) -> int | None:
    """A number of 64 bits with a sign, None for all else."""
    if _INT.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -_BEYOND_63_BITS <= number < _BEYOND_63_BITS else None


def unsigned(text: str) -> str | None:
    """An unsigned number of 64 bits in decimal, written so or as 0x1f; None for all else."""
    if _UNSIGNED.fullmatch(text) is None:
        return decimal_of_hex(text)
    number = int(text)
    return str(number) if number < _BEYOND_64_BITS else None


def decimal_of_hex(text: str | None) -> str | None:
    """A number that is written as 0x1f, in decimal; None for all else."""
    digits = None if text is None else _HEXADECIMAL.fullmatch(text)
    return None if digits is None else str(int(digits[1], 16))


def checked(
    *, uid: str | None, attr: str | None, value: str | None, value_type: str | None
) -> tuple[str | None, str | None, Fault | None]:
    """The node and the value of a triple, canonical, and why they cannot be: then they are as they were written."""
    if uid is None or attr is None or value is None or value_type is None:
        parts = {"uid": uid, "attr": attr, "value": value, "value_type": value_type}
        missing = [f"event.{name}" for name, given in parts.items() if given is None]
        return uid, value, Fault("missing_field", f"the event lacks {', '.join(missing)}")
    node = unsigned(uid)
    if node is None:
        detail = f"uid is {shown(uid)}, which is no number of 64 bits"
        return uid, value, Fault("value_does_not_fit", detail)
    if value_type not in _READ:
        known = ", ".join(sorted(TYPES))
        detail = f"value_type {shown(value_type)} is not known; known: {known}"
        return node, value, Fault("unknown_value_type", detail)
    read = _READ[value_type]
    if read is None:
        return node, value, None
    text = read(value)
    if text is None:
        detail = f"{shown(attr)} is {shown(value)}, which is no {value_type}"
        return node, value, Fault("value_does_not_fit", detail)
    return node, text, None


def _int(text: str) -> str | None:
    number = signed(text)
    return None if number is None else str(number)


def _bool(text: str) -> str | None:
    return text if text in ("true", "false") else None


def _moment(text: str) -> str | None:
    return text if _MOMENT.fullmatch(text) else None


_READ: Final[Mapping[str, Callable[[str], str | None] | None]] = {
    **dict.fromkeys(TYPES),
    "int": _int,
    "float": float_text,
    "bool": _bool,
    "datetime": _moment,
    "uid": unsigned,
    "float32vector": vector_text,
}
"""How a value of each type becomes canonical, None for what it does not hold; the others hold any text."""
