"""The order of a set's elements, by their type.

Put here by what elements are compared. Not here: how a set is judged and written (``nested``).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from transforms.value_types.type_names import element, fields, is_nested


def order_of(type_name: str) -> Callable[[Any], Any]:
    """By what the elements of a set are sorted, once their canonical text is read as JSON."""
    if (inner := element(type_name)) is not None:
        held = _or_null(order_of(inner))
        return lambda value: [held(one) for one in value]
    if (named := fields(type_name)) is not None:
        orders = [(name, _or_null(order_of(kind))) for name, kind in named.items()]
        return lambda value: [order(value[name]) for name, order in orders]
    if is_nested(type_name):
        raise ValueError(f"{type_name!r} has no order: it cannot be in a set")
    name = type_name.lower()
    if name in ("float", "double"):
        return lambda value: (value == "NaN", 0.0 if value == "NaN" else float(value))
    if name.startswith("decimal"):
        return lambda value: Decimal(str(value))
    if name == "binary":
        return b64decode
    # Of two moments within a second, one may have more digits.
    return (lambda value: value.rstrip("Z")) if name == "timestamp" else lambda value: value


def _or_null(order: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Within an element, null comes before every value."""
    return lambda value: (value is not None, None if value is None else order(value))
