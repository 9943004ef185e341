"""Tables that the stream itself describes: what gold makes of them where the feed file says nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from transforms.column_types.registry import column_type, widest
from transforms.display import yaml_scalar
from transforms.errors import (
    KeyDrift,
    SchemaChangeRefused,
    SettingMisdeclared,
    TableNameCollision,
    WeirError,
)
from transforms.feed.feed import Feed, Table
from transforms.feed.names import spelled_columns


def collisions(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gold tables that two different source tables would share, from (table, source table) pairs.

    ``region`` and ``io_blitzz.region`` may be one table, named without and with its schema; ``a.region`` and
    ``b.region`` are two.
    """
    by_table: dict[str, set[str]] = {}
    for table, source in sources:
        by_table.setdefault(table, set()).add(source)

    def differ(one: str, other: str) -> bool:
        return not f".{one}".endswith(f".{other}") and not f".{other}".endswith(f".{one}")

    return {
        table: sorted(names)
        for table, names in by_table.items()
        if any(differ(one, other) for one in names for other in names)
    }


class Description(NamedTuple):
    """What a stream says of a table; see ``event.StreamSchema``."""

    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    encoded: tuple[str, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()


def discovered_table(feed: Feed, name: str, descriptions: Iterable[Description]) -> Table:
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
    names = spelled_columns(kinds)
    columns_of = {
        names.get(column, column): widest(of_column) for column, of_column in kinds.items()
    }
    key = tuple(names.get(column, column) for column in keys[0])
    return Table(
        *(name, key, columns_of, tuple(columns_of)),
        deletes=feed.deletes if key else "remove",
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
        column: column_type(kinds[column]).judge(*some)
        for column, some in sorted(found.items())
        if len(some) == 1 and column in kinds
    }
    return {column: text for column, text in texts.items() if text is not None}


def refuse_rename(feed: Feed, table: Table, descriptions: Collection[Description]) -> None:
    """Stop a table of which a column may have got another name: old rows have their values under the earlier one.

    Raises:
        SchemaChangeRefused: the stream names one of two columns of a type wherever it does not name the other.
    """
    pairs = _renames(descriptions) if feed.policies.rename_column == "fail" else {}
    if not pairs:
        return
    names = {new: table.spelled.get(new, new) for new in pairs.values()}
    gone = {table.spelled.get(old, old) for old in pairs}
    key = ", ".join(yaml_scalar(one, in_brackets=True) for one in table.key)
    columns = _in_braces({one: kind for one, kind in table.columns.items() if one not in gone})
    of_source = {source: gold for source, gold in table.spelled.items() if source not in pairs}
    renamed = _in_braces({**of_source, **{old: names[new] for old, new in pairs.items()}})
    found = [f"the stream names either {old} or {new}" for old, new in pairs.items()]
    raise SchemaChangeRefused(
        *(feed.name, table.name, "rename_column"),
        f"{', '.join(found)}, never both, and they have one type",
        "If the column was renamed, gold would lack the values of rows from before: paste below `tables`"
        f" `{yaml_scalar(table.name, in_brackets=True)}: {{key: [{key}], columns: {columns}, renamed: {renamed}}}`,"
        " and they go along. If one went and another came, say `schema_changes: {rename_column: evolve}` for the feed.",
    )


def _in_braces(entries: Mapping[str, str]) -> str:
    listed = (
        f"{yaml_scalar(one, in_brackets=True)}: {yaml_scalar(other, in_brackets=True)}"
        for one, other in entries.items()
    )
    return f"{{{', '.join(listed)}}}"


def _renames(descriptions: Collection[Description]) -> dict[str, str]:
    """Columns that may have got another name, with that: each is described wherever the other is not.

    The description that comes first has the earlier name.
    """
    described = [dict(one.columns) for one in descriptions]
    types: dict[str, set[str]] = {}
    for columns in described:
        for name, kind in columns.items():
            types.setdefault(name, set()).add(kind)
    pairs: dict[str, str] = {}
    partial = [name for name in types if not all(name in columns for columns in described)]
    for old in partial:
        others = (
            name
            for name in partial
            if name not in (*pairs, *pairs.values(), old)
            and not types[name].isdisjoint(types[old])
            and all((old in columns) != (name in columns) for columns in described)
        )
        new = None if old in pairs.values() else next(others, None)
        if new is not None:
            pairs[old] = new
    return pairs


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

    discovered: Mapping[str, Table]
    stopped: Mapping[str, Stopped]


def discovered_tables(
    feed: Feed, found_in_stream: Mapping[str, Collection[Description]], met: Collection[SeenTable]
) -> Tables:
    """Every table that the stream describes, and what stops gold tables.

    ``found_in_stream``: the descriptions by the name under ``declared``, each where its first window stands.

    Two source tables under one gold name stop that gold table, and so do two keys of one source table: which of them
    counts would depend on what came first. Only the feed file can say it.
    """
    discovered: dict[str, Table] = {}
    stopped = shared_tables(feed, met)
    for name, descriptions in sorted(found_in_stream.items()):
        try:
            table = discovered_table(feed, name, descriptions)
            refuse_rename(feed, table, descriptions)
            discovered[name] = table
        except (KeyDrift, SchemaChangeRefused) as fault:
            for gold in sorted({one.gold for one in met if one.declared == name}):
                stopped.setdefault(gold, Stopped(fault, (name,)))
    return Tables(discovered, stopped)


MOST_TABLES: Final = "WEIR_MOST_TABLES"
"""The setting that says how many tables of a feed gold makes of its stream's description alone."""


def within_limit(
    feed: Feed, found: Tables, met: Collection[SeenTable], most: int, in_gold: Collection[str]
) -> Tables:
    """The tables, without new ones beyond ``most``: each costs two Delta tables, and a name costs the source nothing.

    Tables that gold has already go on; of the new ones, the first by name are made. So whatever is in gold is right,
    and no table is stopped by names that came later.

    ``met``: the gold tables that windows have changes of. ``most``: how many discovered tables the feed may have in
    gold (``MOST_TABLES``). ``in_gold``: those that gold has, by gold's names.
    """
    if len(found.discovered) <= most:
        return found
    gold = defaultdict(set)
    for one in met:
        gold[one.declared].add(one.gold)
    new = [name for name in sorted(found.discovered) if gold[name].isdisjoint(in_gold)]
    surplus = new[max(0, most - (len(found.discovered) - len(new))) :]
    fault = SettingMisdeclared(
        *(MOST_TABLES, str(most)),
        f"the stream of feed {feed.name} describes {len(found.discovered):,} tables that the feed file does not"
        f" declare, and {len(surplus):,} of them have no gold table. Declare those that count, or raise the setting:"
        " they are made with the next window that runs",
    )
    stopped = {one: Stopped(fault, (name,)) for name in surplus for one in gold[name]}
    return Tables(
        {name: one for name, one in found.discovered.items() if name not in set(surplus)},
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


def shared_tables(feed: Feed, met: Iterable[SeenTable]) -> dict[str, Stopped]:
    """The gold tables that two source tables would be in."""
    declared: dict[str, set[str]] = defaultdict(set)
    pairs = set()
    for one in met:
        declared[one.gold].add(one.declared)
        pairs.add((one.gold, one.source_table))
    return {
        gold: Stopped(TableNameCollision(feed.name, gold, sources), tuple(sorted(declared[gold])))
        for gold, sources in sorted(collisions(pairs).items())
    }
