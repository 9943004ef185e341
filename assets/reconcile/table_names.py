"""Which table of the source a gold table's changes came from: what the accounts say of it, and what the source has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assets.reconcile.source import Snapshot
from assets.storage.lake import Lake, Layer
from transforms.display import code
from transforms.feed.feed import Feed
from transforms.feed.names import StreamName
from transforms.reconcile.ranges import Incomparable
from transforms.reconcile.table_names import Recorded, TableName, is_read_so, telling, told


@dataclass(frozen=True, slots=True)
class Named:
    """A table of the source, and what its changes call it.

    ``called``: what is kept of that, ``catalog.schema.table``; ``in_stream``: the names of which that is kept.
    """

    table: TableName
    called: str
    in_stream: StreamName


def recorded_names(lake: Lake, feed: Feed) -> dict[str, list[Recorded]]:
    """By gold table, what is kept of the names that its changes had."""
    rows = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(
        ["table", "source_table", "declared", "changes", "derived"]
    )
    found: dict[str, dict[Recorded, None]] = {}
    for row in rows:
        # Of erased events nobody knows what the source calls their table.
        if row["table"] and row["source_table"] and row["changes"] + row["derived"]:
            declared = row["declared"] if row["declared"] in feed.tables else None
            one = Recorded(row["table"], row["source_table"], declared, feed.table_names)
            found.setdefault(row["table"], {})[one] = None
    return {table: [*some] for table, some in found.items()}


def found_in_source(feed: Feed, recorded: Sequence[Recorded], snapshot: Snapshot) -> Named:
    """The table that all of this is about.

    Raises:
        Incomparable: there is none, or more than one.
    """
    if not recorded:
        raise Incomparable(
            "no change of it has come yet, so that nothing says what the source calls it: `weir run` brings what"
            " has landed"
        )
    named = {one: _table_of(feed, one, snapshot) for one in recorded}
    shown = {str(table or _shown(one.readings(snapshot.database))) for one, table in named.items()}
    if len(shown) > 1:
        raise Incomparable(
            f"its rows come from several tables of the source: {', '.join(sorted(shown))}"
        )
    *_, last = recorded
    table = next((one for one in named.values() if one is not None), None)
    if table is None:
        raise Incomparable(
            f"the source has no table {shown.pop()} that its user may see: is it gone, or does GRANT SELECT lack?"
        )
    in_stream = (*last.names_of_changes(), *last.readings(snapshot.database))[0]
    return Named(table, last.called, in_stream)


def _shown(readings: Sequence[StreamName]) -> str:
    """What a table should be called, as a person reads it."""
    _, schema, name = readings[0]
    return (name or "") if schema is None else str(TableName(schema, name or ""))


def _table_of(feed: Feed, recorded: Recorded, snapshot: Snapshot) -> TableName | None:
    """The table that the source has by what is kept; None where it has none."""
    readings = recorded.readings(snapshot.database)
    found = {one for some in snapshot.tables(readings).values() for one in some}
    table = told(readings, found)
    if found and table is None:
        raise Incomparable(_which_is_it(feed, recorded, sorted(found), snapshot.database))
    return table


def _which_is_it(
    feed: Feed, recorded: Recorded, tables: Sequence[TableName], database: str | None
) -> str:
    """What the source has, and what would say which of it is meant."""
    readings = recorded.readings(database)
    is_there = any(is_read_so(one, readings[0]) for one in tables)
    lacks = "" if is_there else f"no {_shown(readings)}, but "
    of_file = feed.tables.get(recorded.declared or "")
    is_of_path = of_file is not None and of_file.path is not None
    names = {one: telling(recorded, one, tables, database, is_of_path=is_of_path) for one in tables}
    helps = [
        f"if it is {one}, declare it as {code(name)} under `tables`"
        for one, name in names.items()
        if name is not None
    ]
    if untold := [str(one) for one, name in names.items() if name is None]:
        helps.append(
            f"no name in the feed file tells {' or '.join(untold)} apart, so let its changes name the schema, as in"
            " topics that are called `<prefix>.<schema>.<table>`"
        )
    return (
        f"its changes call it {recorded.called}; the source has {lacks}{' and '.join(map(str, tables))}, and nothing"
        f" says which table is meant: {'; '.join(helps)}"
    )
