"""Maps and tuples as two lists, ``keylist`` and ``valuelist``: the form that newer versions of TigerGraph write.

Put here how the two forms of a map are told apart. Not here: how keys and values are spelled (``attribute_texts``).

Vendor: TigerGraph documentation, "CDC Message Examples" (4.1.1 and later).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def entries_of(value: Any) -> Collection[tuple[Any, Any]] | None:
    """The entries of a map in either form; None for what is none."""
    if type(value) is not dict:
        return None
    if is_two_lists(value):
        return list(zip(value["keylist"], value["valuelist"], strict=True))
    return value.items()


def is_two_lists(value: Any) -> bool:
    """True for an object that is nothing but two lists of one length."""
    if type(value) is not dict or len(value) != 2:
        return False
    keys, values = value.get("keylist"), value.get("valuelist")
    return type(keys) is list and type(values) is list and len(keys) == len(values)
