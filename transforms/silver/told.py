"""Tables that the stream itself describes: what gold makes of them where the feed file says nothing.

Not here: how a format finds the description (``formats``), and where it is kept (``accounting``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from transforms.errors import KeyDrift
from transforms.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.schema_changes import widens

SIMPLE: Final = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double"),
    *("date", "timestamp", "timestamp_ntz", "string", "binary"),
)
"""The types of which a told column's values are judged. A decimal is as wide as its stream says, and fits it."""


def told_types(feed: Feed) -> Sequence[str]:
    """The types that columns of tables may have which only the stream describes."""
    return SIMPLE if FORMATS[feed.format].tells_tables else ()


def table(
    feed: Feed, name: str, told: Iterable[tuple[Sequence[str], Sequence[tuple[str, str]]]]
) -> Table:
    """The table ``name`` by all that its stream has said of it: (key, (column, type) pairs), oldest first.

    A column has the type that holds the values of all its types, at worst text. One that a later description lacks
    stays: its rows may still have values.

    Raises:
        KeyDrift: the descriptions differ in the key.
    """
    columns: dict[str, str] = {}
    key: tuple[str, ...] | None = None
    for its_key, its_columns in told:
        if key is not None and tuple(its_key) != key:
            raise KeyDrift(
                *(feed.name, name, key),
                f"its stream now says the key [{', '.join(its_key)}]",
                "Its rows are other rows now: declare the table, with the key that counts, in the feed file.",
            )
        key = tuple(its_key)
        for column, kind in its_columns:
            columns[column] = _widest(columns.get(column, kind), kind)
    return Table(name, key or (), columns, tuple(columns))


def _widest(one: str, other: str) -> str:
    if widens(other, one):
        return one
    return other if widens(one, other) else "string"
