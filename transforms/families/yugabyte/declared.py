"""The feed's declared tables, by the names that messages have for them.

Put here what a declaration says to both forms: which columns want the text of their bytes. Not here: keys and types of
columns, which ``silver`` judges for every format alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from transforms.feed.feed import Feed, Table


class Declared(NamedTuple):
    """A declared table, and its columns that are declared as something else than binary, under all their names."""

    table: Table
    text_columns: frozenset[str]


NOT_DECLARED: frozenset[str] = frozenset()
"""The text columns of a table that is not declared: bytes stay bytes there."""


def declared_tables(feed: Feed) -> Mapping[str, Declared]:
    """The declared tables by their names, those of earlier times included."""
    found = {name: _declared(table) for name, table in feed.tables.items()}
    return found | {old: found[name] for name, table in feed.tables.items() for old in table.was}


def of_message(
    known: Mapping[str, Declared], schema: str | None, name: str | None
) -> Declared | None:
    """The declared table that a message is of: the most exact name counts."""
    if name is None:
        return None
    return (schema is not None and known.get(f"{schema}.{name}")) or known.get(name)


def _declared(table: Table) -> Declared:
    today = {
        name for name, kind in table.source_columns.items() if kind.strip().lower() != "binary"
    }
    earlier = {old for old, new in table.renamed.items() if new in today}
    return Declared(table, frozenset(today | earlier))
