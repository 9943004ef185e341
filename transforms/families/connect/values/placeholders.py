"""Debezium's stand-in for a value that the database did not log, because it is large and did not change.

Vendor: Debezium documentation, connector for PostgreSQL, ``unavailable.value.placeholder``. Put here in which forms the
stand-in comes. Not here: what becomes of a column whose value was not sent (``families/connect/images``).
"""

from __future__ import annotations

import re
from typing import Any, Final

from transforms.json_values import as_text

PLACEHOLDER: Final = "__debezium_unavailable_value"
_BYTES: Final = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
_UUID: Final = "b68a35a7-17ad-35b3-af2a-ae46edb4545a"

WHOLE_TEXTS: Final = frozenset({PLACEHOLDER, _BYTES})
"""The stand-in as a text, and as bytes in base64."""

_LISTED: Final = frozenset({PLACEHOLDER, _BYTES, _UUID})
SIGNS: Final = [str(ord(sign)) for sign in PLACEHOLDER]
"""The stand-in as numbers: those of its signs."""

_WRITTEN: Final = re.compile(
    rf'\[\s*"(?:{PLACEHOLDER}|{_BYTES}|{_UUID})"\s*\]|\{{\s*"{PLACEHOLDER}"\s*:\s*"{PLACEHOLDER}"\s*\}}'
)
"""JSON within a text, as columns of hstore have it."""


def is_unavailable(value: Any) -> bool:
    """Whether a JSON value is the stand-in, in the column's type.

    That is a text, bytes, a list of one of these or of a UUID, a list of the signs' numbers, or an object.
    """
    if type(value) is str:
        return value in WHOLE_TEXTS or (
            PLACEHOLDER in value and _WRITTEN.fullmatch(value) is not None
        )
    if type(value) is dict:
        return value == {PLACEHOLDER: PLACEHOLDER}
    if type(value) is not list:
        return False
    if len(value) == 1:
        return type(value[0]) is str and value[0] in _LISTED
    # Numbers of floating point have a fraction.
    return [(as_text(one) or "").removesuffix(".0") for one in value] == SIGNS
