"""One table as its stream describes it: its key, and each column with the type that holds all its values.

Put here what several descriptions of one table come to together. Not here: which of a feed's tables gold makes
(``discovered_tables``), and how a format finds a description (``formats``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from transforms.errors import KeyDrift
from transforms.feed.column_names import spelled
from transforms.feed.feed import Feed, Table
from transforms.feed.schema_policies import widens
from transforms.types import judge_of


class Description(NamedTuple):
    """What a stream says of a table; see ``event.StreamSchema``."""

    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    encoded: tuple[str, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()


def table(feed: Feed, name: str, descriptions: Iterable[Description]) -> Table:
    """The table ``name`` by all that its stream has said of it, in whatever order.

    A column has the type that holds the values of all its types, at worst text. One that some description lacks stays:
    its rows may still have values. Columns stand as in the longest description, under names that gold can have.

    Raises:
        KeyDrift: the descriptions differ in the key.
    """
    longest_first = sorted(descriptions, key=lambda one: (-len(one.columns), one))
    keys = sorted({one.key for one in longest_first})
    if len(keys) > 1:
        raise KeyDrift(
            *(feed.name, name, keys[0]),
            f"its stream also says the key [{', '.join(keys[1])}]",
            "Rows of one key are other rows than those of another: declare the table, with the key that counts, in the"
            " feed file.",
        )
    kinds: dict[str, set[str]] = {}
    for one in longest_first:
        for column, kind in one.columns:
            kinds.setdefault(column, set()).add(kind)
    names = spelled(kinds)
    columns_of = {
        names.get(column, column): _widest(of_column) for column, of_column in kinds.items()
    }
    key = tuple(names.get(column, column) for column in keys[0])
    return Table(
        *(name, key, columns_of, tuple(columns_of)),
        spelled=names,
        encoded=frozenset(column for one in longest_first for column in one.encoded),
        before_added=before_added(
            (
                (names.get(column, column), text)
                for one in longest_first
                for column, text in one.defaults
            ),
            columns_of,
        ),
    )


def before_added(said: Iterable[tuple[str, str]], kinds: Mapping[str, str]) -> dict[str, str]:
    """What columns are in rows from before they were added; not where the stream has said two things of one.

    ``said``: the text of each column as its stream has it; ``kinds``: each column's type.
    """
    found: dict[str, set[str]] = {}
    for column, text in said:
        found.setdefault(column, set()).add(text)
    texts = {
        column: judge_of(kinds[column])(*some)
        for column, some in sorted(found.items())
        if len(some) == 1 and column in kinds
    }
    return {column: text for column, text in texts.items() if text is not None}


def _widest(kinds: Collection[str]) -> str:
    """The type that holds the values of all these types, in whichever order the stream said them."""
    fit = [one for one in sorted(kinds) if all(widens(other, one) for other in kinds)]
    return fit[0] if fit else "string"
