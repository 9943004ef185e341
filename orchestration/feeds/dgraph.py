"""Dgraph's predicates and types as a feed file declares them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from assets.columns import dgraph_nodes
from orchestration.feeds.faults import InvalidKey, check_among
from orchestration.feeds.keys import DeclaredPredicate
from transforms.feed.feed import Predicate
from transforms.feed.names import UNFIT_IN_TABLE_NAMES
from transforms.near_names import did_you_mean

TYPES: Final = (
    *("default", "binary", "int", "float", "bool", "datetime", "geo", "uid", "string"),
    *("password", "bigfloat", "float32vector"),
)
"""Dgraph's names of types as ``value_type`` has them (types/scalar_types.go of github.com/dgraph-io/dgraph)."""


def predicates_from(declared: Mapping[str, DeclaredPredicate]) -> dict[str, Predicate]:
    """The predicates by name."""
    for name, predicate in declared.items():
        if predicate.type is not None and predicate.type not in TYPES:
            fault = f"{predicate.type!r} is no type of Dgraph{did_you_mean(predicate.type, TYPES)}"
            raise InvalidKey(f"predicates.{name}.type", fault, TYPES)
    return {
        name: Predicate(name, predicate.type, predicate.list)
        for name, predicate in declared.items()
    }


def types_from(
    declared: Mapping[str, Sequence[str]],
    predicates: Mapping[str, DeclaredPredicate],
) -> dict[str, tuple[str, ...]]:
    """The predicates of each type of nodes."""
    tables: dict[str, str] = {}
    for name, of_type in declared.items():
        if re.search(UNFIT_IN_TABLE_NAMES, name):
            fault = "no folder can have this name, and the table of nodes needs one"
            raise InvalidKey(f"types.{name}", fault)
        if twin := tables.get(name.lower()):
            fault = f"differs from {twin} only in case, and SQL tells no cases apart"
            raise InvalidKey(f"types.{name}", fault)
        tables[name.lower()] = name
        columns = {column: column for column in dgraph_nodes.KEY}
        for predicate in of_type:
            check_among(f"types.{name}", predicate, "the predicates", predicates, predicates)
            column = dgraph_nodes.column_of(name, predicate)
            if twin := columns.get(column.lower()):
                fault = f"{predicate} and {twin} would both be the column {column}"
                raise InvalidKey(f"types.{name}", fault)
            columns[column.lower()] = predicate
    return {name: tuple(of_type) for name, of_type in declared.items()}
