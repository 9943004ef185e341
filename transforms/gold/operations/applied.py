"""Attribute operations: what a column's value becomes, by operation and declared type.

Everything here is canonical texts in, canonical text out: a change's images are such texts, and so is the row that is
being folded. The table of operations and types is in docs/change_model.md. Put here which type has which operations.
Not here: what is computed (``numbers``, ``containers``), the row around the column (``transforms/gold/fold.py``), and
which operations a feed may ask for (``transforms/feed/attribute_operations.py``).

Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job" (reducers).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from transforms.gold.operations.containers import of_lists, of_maps
from transforms.gold.operations.numbers import (
    Operation,
    extremes,
    of_decimals,
    of_floating,
    of_whole_numbers,
    wrapped,
)
from transforms.types import element, entries

_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
UNSIGNED: Final = "decimal(20,0)"
"""How an unsigned number of 64 bits is kept: no type of Spark's is one."""


def applied(type_name: str, operation: str, old: str | None, new: str | None) -> str | None:
    """The column's text after the operation; ``IgnoreIfExisted`` is the row's affair and not decided here."""
    compute = _operations(type_name).get(operation)
    if compute is None:
        return new
    if new is None:
        return old
    if old is None:
        return None if operation == "Minus" else new
    return compute(old, new)


@lru_cache(maxsize=1024)
def _operations(type_name: str) -> Mapping[str, Operation]:
    if type_name in _BITS:
        return of_whole_numbers(lambda number: wrapped(number, _BITS[type_name]))
    if type_name == UNSIGNED:
        return of_whole_numbers(lambda number: number % 2**64)
    if type_name.startswith("decimal"):
        return of_decimals(type_name)
    if type_name in ("float", "double"):
        return of_floating(type_name)
    if type_name == "boolean":
        return {
            "And": lambda old, new: old if new == "true" else new,
            "Or": lambda old, new: new if new == "true" else old,
        }
    if type_name == "string":
        # Spark compares texts byte by byte.
        return {"Add": lambda old, new: old + new, **extremes(lambda text: text.encode("utf-8"))}
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        # All years have four digits, and no fraction ends with a zero.
        return extremes(lambda text: text)
    if element(type_name) is not None:
        return of_lists(type_name)
    pair = entries(type_name)
    return {} if pair is None else of_maps(type_name, pair[1], _sum_within_map(pair[1]))


def _sum_within_map(value_type: str) -> Operation | None:
    """How two values under one key of a map are added; None where the newer one counts."""
    if element(value_type) is not None or entries(value_type):
        return None
    return _operations(value_type).get("Add")
