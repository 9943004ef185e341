"""Which operations an attribute can take, by its declared type: docs/change_model.md has the table.

Put here which type takes which operation. Not here: what a column's value becomes by them
(``transforms/gold/operations``).

Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job" (reducers).
"""

from __future__ import annotations

from functools import lru_cache

from transforms.types import entries

OVERWRITE, IF_NEW = "Overwrite", "IgnoreIfExisted"

_SUMS = ("Add", "Minus")
_EXTREMES = ("Max", "Min")
_BITS = ("And", "Or")

_BY_TYPE = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), (*_SUMS, *_EXTREMES, *_BITS)),
    # An unsigned number of 64 bits: no type of Spark's is one.
    "decimal(20,0)": (*_SUMS, *_EXTREMES, *_BITS),
    **dict.fromkeys(("float", "double"), (*_SUMS, *_EXTREMES)),
    "boolean": _BITS,
    "string": ("Add", *_EXTREMES),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), _EXTREMES),
}


@lru_cache(maxsize=1024)
def fitting(type_name: str) -> tuple[str, ...]:
    """The operations that a column of this type can take."""
    return (OVERWRITE, IF_NEW, *_of(type_name))


def _of(type_name: str) -> tuple[str, ...]:
    if type_name in _BY_TYPE:
        return _BY_TYPE[type_name]
    if type_name.startswith("decimal"):
        return (*_SUMS, *_EXTREMES)
    if type_name.startswith(("array<", "set<")):
        return _SUMS
    return ("Add", "ReplaceOrAdd", "Minus") if entries(type_name) else ()
