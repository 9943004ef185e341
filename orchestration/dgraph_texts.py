"""Dgraph's predicates as a feed file declares them.

Not here: what gold makes of them (``transforms/formats/dgraph``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orchestration.feed_faults import nearest
from orchestration.feed_keys import DeclaredPredicate
from orchestration.table_texts import Misdeclared
from transforms.feed import Predicate

TYPES: Final = (
    *("default", "binary", "int", "float", "bool", "datetime", "geo", "uid", "string"),
    *("password", "bigfloat", "float32vector"),
)
"""Dgraph's names of types, as value_type has them (types/scalar_types.go)."""


def predicates_from(
    declared: Mapping[str, DeclaredPredicate], misdeclared: Misdeclared
) -> dict[str, Predicate]:
    """The predicates by name.

    Raises:
        FeedMisdeclared: a type is none of Dgraph's.
    """
    for name, one in declared.items():
        if one.type is not None and one.type not in TYPES:
            fault = f"{one.type!r} is no type of Dgraph{nearest(one.type, TYPES)}"
            raise misdeclared(f"predicates.{name}.type", fault, TYPES)
    return {name: Predicate(name, one.type, one.list) for name, one in declared.items()}
