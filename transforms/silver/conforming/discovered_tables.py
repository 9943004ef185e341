"""Tables that the stream itself describes: what gold makes of them where the feed file says nothing.

Put here which of the described tables gold makes, and what stops others. Not here: what the descriptions of one table
come to (``described_tables``), how a format finds a description (``formats``), and where it is kept
(``transforms/silver/accounting.py``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.errors import KeyDrift, SettingMisdeclared, TableNameCollision, WeirError
from transforms.feed.feed import Feed, Table
from transforms.silver import collisions
from transforms.silver.conforming.described_tables import Description, table


class SeenTable(NamedTuple):
    """A gold table that some window has changes of: gold's name, the source's name, and silver's ``declared``."""

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


def tables(
    feed: Feed, found_in_stream: Mapping[str, Iterable[Description]], met: Collection[SeenTable]
) -> Tables:
    """Every table that the stream describes, and what stops gold tables.

    ``found_in_stream``: the descriptions by the name under ``declared``.

    Two source tables under one gold name stop that gold table, and so do two keys of one source table: which of them
    counts would depend on what came first. Only the feed file can say it.
    """
    described: dict[str, Table] = {}
    stopped = shared(feed, met)
    for name, descriptions in sorted(found_in_stream.items()):
        try:
            described[name] = table(feed, name, descriptions)
        except KeyDrift as fault:
            for gold in sorted({one.gold for one in met if one.declared == name}):
                stopped.setdefault(gold, Stopped(fault, (name,)))
    return Tables(described, stopped)


MOST_TABLES: Final = "WEIR_MOST_TABLES"
"""The setting that says how many tables of a feed gold makes of its stream's description alone."""


def within(
    feed: Feed, found: Tables, met: Collection[SeenTable], most: int, in_gold: Collection[str]
) -> Tables:
    """The tables, without new ones beyond ``most``: each costs two Delta tables, and a name costs the source nothing.

    Tables that gold has already go on; of the new ones, the first by name are made. So whatever is in gold is right,
    and no table is stopped by names that came later.

    Args:
        feed: The feed.
        found: The tables that the stream describes.
        met: The gold tables that windows have changes of.
        most: How many described tables the feed may have in gold (``MOST_TABLES``).
        in_gold: The described tables that gold has, by gold's names.
    """
    if len(found.described) <= most:
        return found
    gold = defaultdict(set)
    for one in met:
        gold[one.declared].add(one.gold)
    new = [name for name in sorted(found.described) if gold[name].isdisjoint(in_gold)]
    surplus = new[max(0, most - (len(found.described) - len(new))) :]
    fault = SettingMisdeclared(
        *(MOST_TABLES, str(most)),
        f"the stream of feed {feed.name} describes {len(found.described):,} tables that the feed file does not"
        f" declare, and {len(surplus):,} of them have no gold table. Declare those that count, or raise the setting:"
        " they are made with the next window that runs",
    )
    stopped = {one: Stopped(fault, (name,)) for name in surplus for one in gold[name]}
    return Tables(
        {name: one for name, one in found.described.items() if name not in set(surplus)},
        {**found.stopped, **stopped},
    )


def stopped_in_words(stopped: Mapping[str, Stopped]) -> list[str]:
    """Sentences on what is stopped, one for each reason: the gold tables' names, and the reason."""
    by_fault: dict[str, list[str]] = defaultdict(list)
    for name, one in sorted(stopped.items()):
        by_fault[str(one.fault)].append(name)
    return [
        f"{', '.join(names[:_SHOWN])}{f' and {len(names) - _SHOWN:,} more' if len(names) > _SHOWN else ''}: {fault}"
        for fault, names in by_fault.items()
    ]


_SHOWN = 5


def shared(feed: Feed, met: Iterable[SeenTable]) -> dict[str, Stopped]:
    """The gold tables that two source tables would be in."""
    declared: dict[str, set[str]] = defaultdict(set)
    pairs = set()
    for one in met:
        declared[one.gold].add(one.declared)
        pairs.add((one.gold, one.source_table))
    return {
        gold: Stopped(TableNameCollision(feed.name, gold, sources), tuple(sorted(declared[gold])))
        for gold, sources in sorted(collisions.collisions(pairs).items())
    }
