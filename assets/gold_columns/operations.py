"""Attribute operations: what a column's value becomes, by operation and declared type.

Everything here is texts in, text out: a change's images are texts, and so is the row that is being folded. The table of
operations and types is in docs/change_model.md. Not here: the row around the column (``fold``).

Vendor: TigerGraph documentation, "Change Data Capture" (attribute operators) and "Creating a loading job" (reducers).
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from assets.gold_columns import typed as types

OVERWRITE, IF_NEW = "Overwrite", "IgnoreIfExisted"

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}

UNSIGNED = "decimal(20,0)"
"""How an unsigned number of 64 bits is kept: no type of Spark's is one."""

_Operation = Callable[[Column, Column], Column]


def fitting(type_name: str) -> tuple[str, ...]:
    """The operations that a column of this type can take."""
    return (OVERWRITE, IF_NEW, *_operations(type_name))


def applied(type_name: str, operation: Column, old: Column, new: Column) -> Column:
    """The column's text after the operation; ``IgnoreIfExisted`` is the row's affair and not decided here."""
    before, operand = types.typed(old, type_name), types.typed(new, type_name)
    result = new
    for name, compute in _operations(type_name).items():
        text = types.text_of(compute(before, operand), type_name)
        starts = F.lit(None) if name == "Minus" else new
        value = F.when(new.isNull(), old).when(old.isNull(), starts).otherwise(text)
        result = F.when(operation == name, value).otherwise(result)
    return result


def _operations(type_name: str) -> dict[str, _Operation]:
    if type_name in _BITS:
        return {
            "Add": lambda old, new: _wrapped(_wide(old) + _wide(new), type_name),
            "Minus": lambda old, new: _wrapped(_wide(old) - _wide(new), type_name),
            **_extremes(),
            "And": lambda old, new: old.bitwiseAND(new),
            "Or": lambda old, new: old.bitwiseOR(new),
        }
    if type_name == UNSIGNED:
        return {
            "Add": lambda old, new: _unsigned(old + new),
            "Minus": lambda old, new: _unsigned(old - new),
            **_extremes(),
            "And": lambda old, new: _by_halves(old, new, lambda one, other: one.bitwiseAND(other)),
            "Or": lambda old, new: _by_halves(old, new, lambda one, other: one.bitwiseOR(other)),
        }
    if type_name.startswith("decimal"):
        # Spark widens decimals; the column's own width counts after every step, and what it cannot hold is null.
        return {
            "Add": lambda old, new: F.try_add(old, new).try_cast(type_name),
            "Minus": lambda old, new: F.try_subtract(old, new).try_cast(type_name),
            **_extremes(),
        }
    if type_name in ("float", "double"):
        # Spark widens floats beside other types; the column's own width counts after every step.
        return {
            "Add": lambda old, new: (old + new).try_cast(type_name),
            "Minus": lambda old, new: (old - new).try_cast(type_name),
            **_extremes(),
        }
    if type_name == "boolean":
        return {"And": lambda old, new: old & new, "Or": lambda old, new: old | new}
    if type_name == "string":
        return {"Add": lambda old, new: F.concat(old, new), **_extremes()}
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        return _extremes()
    if type_name.startswith("array<"):
        return {"Add": lambda old, new: F.concat(old, new), "Minus": _without}
    if type_name.startswith("set<"):
        return {
            "Add": lambda old, new: F.array_sort(F.array_union(old, new)),
            "Minus": _without,
        }
    if pair := types.entries(type_name):
        return {
            "Add": lambda old, new: _entries_added(old, new, pair[1]),
            "ReplaceOrAdd": _entries_put,
            "Minus": lambda old, new: F.map_filter(
                old, lambda key, _: ~F.map_contains_key(new, key)
            ),
        }
    return {}


def _extremes() -> dict[str, _Operation]:
    return {
        "Max": lambda old, new: F.greatest(old, new),
        "Min": lambda old, new: F.least(old, new),
    }


def _wide(number: Column) -> Column:
    return number.cast("decimal(20,0)")


def _wrapped(total: Column, type_name: str) -> Column:
    """The low bits of a sum, as a machine of the type's width keeps them."""
    span = 2 ** _BITS[type_name]
    half = F.lit(str(span // 2)).cast("decimal(20,0)")
    whole = F.lit(str(span)).cast("decimal(20,0)")
    over = F.when(total >= half, total - whole).when(total < -half, total + whole).otherwise(total)
    return over.cast(type_name)


def _unsigned(number: Column) -> Column:
    """The low 64 bits, as an unsigned number."""
    return F.pmod(number, F.lit(str(2**64)).cast("decimal(20,0)")).cast(UNSIGNED)


def _by_halves(old: Column, new: Column, combine: _Operation) -> Column:
    """Bit by bit: 32 bits of an unsigned number are a number that Spark has bits of."""
    span = F.lit(str(2**32)).cast("decimal(10,0)")
    lows = [F.pmod(number, span) for number in (old, new)]
    highs = [(number - low) / span for number, low in zip((old, new), lows, strict=True)]
    high, low = (
        combine(one.cast("bigint"), other.cast("bigint")).cast("decimal(10,0)")
        for one, other in (highs, lows)
    )
    return (high * span + low).cast(UNSIGNED)


def _without(old: Column, new: Column) -> Column:
    return F.filter(old, lambda element: ~F.coalesce(F.array_contains(new, element), F.lit(False)))


def _entries_put(old: Column, new: Column) -> Column:
    kept = F.map_filter(old, lambda key, _: ~F.map_contains_key(new, key))
    return F.map_concat(kept, new)


def _entries_added(old: Column, new: Column, value_type: str) -> Column:
    add = _operations(value_type).get("Add")
    # Numbers are summed and texts joined; everything else is replaced by the last.
    if add is None or types.element(value_type) or types.entries(value_type):
        return _entries_put(old, new)

    def both(one: Column, other: Column) -> Column:
        return F.coalesce(add(one, other), other, one)

    return F.map_zip_with(old, new, lambda _, one, other: both(one, other))
