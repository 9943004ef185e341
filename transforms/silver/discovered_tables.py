"""Tables that the stream itself describes: what gold makes of them where the feed file says nothing.

Not here: how a format finds the description (``formats``), and where it is kept (``accounting``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from transforms.errors import KeyDrift
from transforms.feed import Feed, Table
from transforms.schema_changes import widens

Description = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""What a stream says of a table: its key's columns, and each column with its Spark SQL type."""


def table(feed: Feed, name: str, told: Iterable[Description]) -> Table:
    """The table ``name`` by all that its stream has said of it, in whatever order.

    A column has the type that holds the values of all its types, at worst text. One that some description lacks stays:
    its rows may still have values. Columns stand as in the longest description.

    Raises:
        KeyDrift: the descriptions differ in the key.
    """
    said = sorted(told, key=lambda one: (-len(one[1]), one))
    keys = sorted({key for key, _ in said})
    if len(keys) > 1:
        raise KeyDrift(
            *(feed.name, name, keys[0]),
            f"its stream also says the key [{', '.join(keys[1])}]",
            "Rows of one key are other rows than those of another: declare the table, with the key that counts, in the"
            " feed file.",
        )
    kinds: dict[str, set[str]] = {}
    for _, columns in said:
        for column, kind in columns:
            kinds.setdefault(column, set()).add(kind)
    columns_of = {column: _widest(of_column) for column, of_column in kinds.items()}
    return Table(name, keys[0], columns_of, tuple(columns_of))


def _widest(kinds: Collection[str]) -> str:
    """The type that holds the values of all, whichever was told first."""
    fit = [one for one in sorted(kinds) if all(widens(other, one) for other in kinds)]
    return fit[0] if fit else "string"
