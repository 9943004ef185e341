"""One table as its stream describes it: its key, and each column with the type that holds all its values.

Put here what several descriptions of one table come to together. Not here: which of a feed's tables gold makes
(``discovered_tables``), and how a format finds a description (``formats``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from transforms.errors import KeyDrift
from transforms.feed.column_names import spelled
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import widens

Description = tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]]
"""What a stream says of a table: its key's columns, each column with its Spark SQL type, and those that it encodes.

See ``event.StreamSchema``.
"""


def table(feed: Feed, name: str, descriptions: Iterable[Description]) -> Table:
    """The table ``name`` by all that its stream has said of it, in whatever order.

    A column has the type that holds the values of all its types, at worst text. One that some description lacks stays:
    its rows may still have values. Columns stand as in the longest description, under names that gold can have.

    Raises:
        KeyDrift: the descriptions differ in the key.
    """
    longest_first = sorted(descriptions, key=lambda one: (-len(one[1]), one))
    keys = sorted({key for key, _, _ in longest_first})
    if len(keys) > 1:
        raise KeyDrift(
            *(feed.name, name, keys[0]),
            f"its stream also says the key [{', '.join(keys[1])}]",
            "Rows of one key are other rows than those of another: declare the table, with the key that counts, in the"
            " feed file.",
        )
    kinds: dict[str, set[str]] = {}
    for _, columns, _ in longest_first:
        for column, kind in columns:
            kinds.setdefault(column, set()).add(kind)
    names = spelled(kinds)
    columns_of = {names.get(one, one): _widest(of_column) for one, of_column in kinds.items()}
    key = tuple(names.get(one, one) for one in keys[0])
    encoded = frozenset(column for _, _, some in longest_first for column in some)
    return Table(name, key, columns_of, tuple(columns_of), spelled=names, encoded=encoded)


def _widest(kinds: Collection[str]) -> str:
    """The type that holds the values of all these types, in whichever order the stream said them."""
    fit = [one for one in sorted(kinds) if all(widens(other, one) for other in kinds)]
    return fit[0] if fit else "string"
