"""Tables that the stream itself describes: what gold makes of them where the feed file says nothing.

Not here: how a format finds the description (``formats``), and where it is kept (``accounting``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from transforms.column_names import spelled
from transforms.errors import KeyDrift, TableNameCollision, WeirError
from transforms.feed import Feed, Table
from transforms.schema_changes import widens
from transforms.silver import accounting

Description = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""What a stream says of a table: its key's columns, and each column with its Spark SQL type."""


class Met(NamedTuple):
    """Changes that some window has of a gold table: the source's name of it, and the one under ``declared``."""

    gold: str
    source_table: str
    declared: str


class Stopped(NamedTuple):
    """A gold table that cannot be made: why, and the tables (as under ``declared``) that would be in it."""

    fault: WeirError
    declared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """What gold can make of a feed: tables by the name under ``declared``, and those that it cannot, by gold's name.

    What is stopped stays in gold as it was, for nothing says which of its rows would be right; all others go on.
    """

    described: Mapping[str, Table]
    stopped: Mapping[str, Stopped]


def tables(feed: Feed, said: Mapping[str, Iterable[Description]], met: Collection[Met]) -> Tables:
    """Every table that the stream describes (``said``, by the name under ``declared``), and what stops gold tables.

    Two source tables under one gold name stop that gold table, and so do two keys of one source table: which of them
    counts would depend on what came first. Only the feed file can say it.
    """
    described: dict[str, Table] = {}
    stopped = shared(feed, met)
    for name, descriptions in sorted(said.items()):
        try:
            described[name] = table(feed, name, descriptions)
        except KeyDrift as fault:
            for gold in sorted({one.gold for one in met if one.declared == name}):
                stopped.setdefault(gold, Stopped(fault, (name,)))
    return Tables(described, stopped)


def shared(feed: Feed, met: Iterable[Met]) -> dict[str, Stopped]:
    """The gold tables that two source tables would be in."""
    declared: dict[str, set[str]] = defaultdict(set)
    pairs = set()
    for one in met:
        declared[one.gold].add(one.declared)
        pairs.add((one.gold, one.source_table))
    return {
        gold: Stopped(TableNameCollision(feed.name, gold, sources), tuple(sorted(declared[gold])))
        for gold, sources in sorted(accounting.collisions(pairs).items())
    }


def table(feed: Feed, name: str, told: Iterable[Description]) -> Table:
    """The table ``name`` by all that its stream has said of it, in whatever order.

    A column has the type that holds the values of all its types, at worst text. One that some description lacks stays:
    its rows may still have values. Columns stand as in the longest description, under names that gold can have.

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
    names = spelled(kinds)
    columns_of = {names.get(one, one): _widest(of_column) for one, of_column in kinds.items()}
    key = tuple(names.get(one, one) for one in keys[0])
    return Table(name, key, columns_of, tuple(columns_of), spelled=names)


def _widest(kinds: Collection[str]) -> str:
    """The type that holds the values of all, whichever was told first."""
    fit = [one for one in sorted(kinds) if all(widens(other, one) for other in kinds)]
    return fit[0] if fit else "string"
